import { and, eq, gt, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { requireOneChange } from '../../../db/commit.ts'
import { walletPasses, walletRegistrations } from '../../../db/schema/wallet.ts'
import { remove, update } from '../../../db/write.ts'
import { announcementsOf } from '../announce-change.ts'
import { commitAnnounced } from '../../webhooks/index.ts'
import type { RegisteredPass } from './apple-service.ts'
import { isRegistration } from './register.ts'

/** Notes that a phone does not hold the pass any more, or takes no updates of it. The last one is `removed`. */
export async function unregisterPhone(job: JobCtx, pass: RegisteredPass, device: string): Promise<void> {
  if (pass.push_token === null) return
  const now = job.now()
  const isLast = pass.registrations_count === 1
  const removed = isLast ? { removed_at: now, modified_at: now } : {}
  const count = walletPasses.registrations_count
  await commitAnnounced(
    job,
    [
      remove(walletRegistrations, isRegistration(pass, device)),
      requireOneChange(),
      update(
        walletPasses,
        { ...removed, registrations_count: sql`${count} - 1` },
        and(eq(walletPasses.id, pass.id), isLast ? eq(count, 1) : gt(count, 1)),
      ),
      requireOneChange(),
    ],
    announcementsOf(pass, isLast ? 'removed' : null, now),
  )
}
