import { and, eq, gt, gte, isNotNull, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { requireOneChange } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { walletPasses, walletRegistrations } from '../../../db/schema/wallet.ts'
import { insert, remove, update } from '../../../db/write.ts'
import { LostRace } from '../../../domain/errors.ts'
import { maxRegistrations } from '../../../domain/wallet/wallet.ts'
import { commitAnnounced } from '../../webhooks/index.ts'
import { buildPassAnnouncements } from '../announce-change.ts'
import type { RegisteredPass } from './apple-service.ts'

interface RegisteredPhone {
  device: string
  push_token: string
}

/** Holds for the registration of a phone for a pass. */
const isRegistration = (pass: { id: string }, device: string) =>
  and(eq(walletRegistrations.pass_id, pass.id), eq(walletRegistrations.device_id, device))

/** Removes the phone that registered first when a pass has the maximum number of phones. */
function makeRoom(pass: RegisteredPass): Statement[] {
  if (pass.registrations_count < maxRegistrations) return []
  return [
    sql`delete from wallet_registrations where (pass_id, device_id) = (select pass_id, device_id
      from wallet_registrations where pass_id = ${pass.id} order by created_at, device_id limit 1)`,
    requireOneChange(),
    update(
      walletPasses,
      { registrations_count: sql`${walletPasses.registrations_count} - 1` },
      and(eq(walletPasses.id, pass.id), gte(walletPasses.registrations_count, maxRegistrations)),
    ),
    requireOneChange(),
  ]
}

/**
 * Registers a phone for a pass and returns whether the phone is new. The first phone announces that the pass was added.
 * When two phones are first at the same time, one commit fails and is decided again.
 */
export async function registerPhone(job: JobCtx, pass: RegisteredPass, phone: RegisteredPhone): Promise<boolean> {
  const now = job.now()
  const { device, push_token } = phone
  if (pass.push_token !== null) {
    if (pass.push_token !== push_token)
      await job.db.batch([update(walletRegistrations, { push_token, modified_at: now }, isRegistration(pass, device))])
    return false
  }
  const isFirst = pass.registrations_count === 0
  const addition = isFirst ? { added_at: now, removed_at: null, modified_at: now } : {}
  const count = walletPasses.registrations_count
  const row = {
    pass_id: pass.id,
    device_id: device,
    push_token,
    notified_number: pass.change_number,
    created_at: now,
    modified_at: now,
  }
  await commitAnnounced(
    job,
    [
      ...makeRoom(pass),
      insert(walletRegistrations, row),
      update(
        walletPasses,
        { ...addition, registrations_count: sql`${count} + 1` },
        and(eq(walletPasses.id, pass.id), isNotNull(walletPasses.token_hash), isFirst ? eq(count, 0) : gt(count, 0)),
      ),
      requireOneChange(),
    ],
    buildPassAnnouncements(pass, isFirst ? 'added' : null, now),
    {
      'wallet_registrations.pass_id, wallet_registrations.device_id': () => new LostRace('the phone registered twice'),
    },
  )
  return true
}

/** Unregisters a phone that no longer wants updates of a pass. The last phone announces that the pass was removed. */
export async function unregisterPhone(job: JobCtx, pass: RegisteredPass, device: string): Promise<void> {
  if (pass.push_token === null) return
  const now = job.now()
  const isLast = pass.registrations_count === 1
  const removal = isLast ? { removed_at: now, modified_at: now } : {}
  const count = walletPasses.registrations_count
  await commitAnnounced(
    job,
    [
      remove(walletRegistrations, isRegistration(pass, device)),
      requireOneChange(),
      update(
        walletPasses,
        { ...removal, registrations_count: sql`${count} - 1` },
        and(eq(walletPasses.id, pass.id), isLast ? eq(count, 1) : gt(count, 1)),
      ),
      requireOneChange(),
    ],
    buildPassAnnouncements(pass, isLast ? 'removed' : null, now),
  )
}
