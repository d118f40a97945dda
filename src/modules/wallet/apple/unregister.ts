import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { changedOne } from '../../../db/commit.ts'
import { announcementsOf } from '../announce-change.ts'
import { commitAnnounced } from '../../webhooks/index.ts'
import type { RegisteredPass } from './apple-service.ts'

/** Notes that a phone does not hold the pass any more, or takes no updates of it. The last one is `removed`. */
export async function unregisterPhone(job: JobCtx, pass: RegisteredPass, device: string): Promise<void> {
  if (pass.push_token === null) return
  const now = job.now()
  const isLast = pass.registrations_count === 1
  const removed = isLast ? sql`, removed_at = ${now}, modified_at = ${now}` : sql``
  await commitAnnounced(
    job,
    [
      sql`delete from wallet_registrations where pass_id = ${pass.id} and device_id = ${device}`,
      changedOne(),
      sql`update wallet_passes set registrations_count = registrations_count - 1 ${removed}
        where id = ${pass.id} and ${isLast ? sql`registrations_count = 1` : sql`registrations_count > 1`}`,
      changedOne(),
    ],
    announcementsOf(pass, isLast ? 'removed' : null, now),
  )
}
