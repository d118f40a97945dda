import { and, eq, gt, gte, isNotNull, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { requireOneChange } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { walletPasses, walletRegistrations } from '../../../db/schema/wallet.ts'
import { insert, update } from '../../../db/write.ts'
import { LostRace } from '../../../domain/errors.ts'
import { maxRegistrations } from '../../../domain/wallet/wallet.ts'
import { announcementsOf } from '../announce-change.ts'
import { commitAnnounced } from '../../webhooks/index.ts'
import type { RegisteredPass } from './apple-service.ts'

interface RegisteredPhone {
  device: string
  push_token: string
}

/** The registration of a phone for a pass. */
export const isRegistration = (pass: { id: string }, device: string) =>
  and(eq(walletRegistrations.pass_id, pass.id), eq(walletRegistrations.device_id, device))

/** A pass has room for one more phone: the one that registered first goes where it has none. */
function roomFor(pass: RegisteredPass): Statement[] {
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
 * Records that a phone has the pass. The counter is in the same transaction, so that phones need not be counted: the
 * first one is `added`, and of two that are first at once one decides again. Answers whether the phone is new.
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
  const added = isFirst ? { added_at: now, removed_at: null, modified_at: now } : {}
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
      ...roomFor(pass),
      insert(walletRegistrations, row),
      update(
        walletPasses,
        { ...added, registrations_count: sql`${count} + 1` },
        and(eq(walletPasses.id, pass.id), isNotNull(walletPasses.token_hash), isFirst ? eq(count, 0) : gt(count, 0)),
      ),
      requireOneChange(),
    ],
    announcementsOf(pass, isFirst ? 'added' : null, now),
    {
      'wallet_registrations.pass_id, wallet_registrations.device_id': () => new LostRace('the phone registered twice'),
    },
  )
  return true
}
