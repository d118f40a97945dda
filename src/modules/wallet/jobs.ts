import { and, asc, eq, lt, sql } from 'drizzle-orm'
import { retryLostRaces } from '../../db/commit.ts'
import type { JobCtx } from '../../context.ts'
import { claimUntil, isClaimable, release } from '../../db/claims.ts'
import { walletPasses, walletRegistrations } from '../../db/schema/wallet.ts'
import { select, buildSelectList } from '../../db/select.ts'
import { update } from '../../db/write.ts'
import { computeNextUpdateAt, updateClaimMs } from '../../domain/wallet/wallet.ts'
import { type PassWithOwner, passEventFields, passEventJoins } from './announce-change.ts'
import { loadPassContent } from './content.ts'
import type { PassRow } from './queries.ts'
import { unregisterPhone } from './apple/registrations.ts'

const passesPerBatch = 20
const batchesPerSweep = 10
/** The platform allows an invocation six connections, of which the database needs one. */
const passesAtOnce = 5
const phonesPerUpdate = 25
const callbacksPerSweep = 1000

interface PhoneToPush {
  device_id: string
  push_token: string
}

/** Claims the passes that have been due longest. No other consumer gets them before the claim ends. */
const claimDuePasses = (job: JobCtx): Promise<PassRow[]> => {
  const now = job.now()
  return job.db.all(sql<PassRow>`update wallet_passes set ${claimUntil(now, updateClaimMs)},
      attempts = attempts + 1
    where id in (select id from wallet_passes indexed by wallet_passes_due
      where due_at <= ${now} and ${isClaimable(now)} order by due_at limit ${passesPerBatch})
    returning *`)
}

/** Stores the result of an update. A pass that changed meanwhile stays due. */
const recordUpdate = (job: JobCtx, pass: PassRow, dueAt: number | null, error: string | null): Promise<unknown> =>
  job.db.all(sql`update wallet_passes set ${release},
      due_at = iif(change_number = ${pass.change_number}, ${dueAt}, due_at),
      update_error = iif(change_number = ${pass.change_number}, ${error}, update_error),
      attempts = iif(${error} is null, 0, attempts)
    where id = ${pass.id} and claimed_until = ${pass.claimed_until}`)

async function updateGoogle(job: JobCtx, pass: PassRow): Promise<boolean> {
  const result = await job.passes.updateGoogle(await loadPassContent(job, pass), pass.change_number)
  if (result.ok || result.kind === 'gone') {
    await recordUpdate(job, pass, null, null)
    return true
  }
  const dueAt = result.kind === 'permanent' ? null : computeNextUpdateAt(pass.attempts, job.now())
  await recordUpdate(job, pass, dueAt, result.code)
  return result.kind === 'permanent'
}

/** Unregisters a phone that Apple no longer knows, as if the phone had asked for it. */
const unregisterGonePhone = (job: JobCtx, passId: string, phone: PhoneToPush): Promise<void> =>
  retryLostRaces(async () => {
    const pass = await job.db.first(sql<PassWithOwner & { push_token: string | null }>`
      select ${buildSelectList(passEventFields)}, (select push_token from wallet_registrations
        where pass_id = ${walletPasses.id}
          and device_id = ${phone.device_id} and push_token = ${phone.push_token}) as push_token
      from ${walletPasses} ${passEventJoins} where ${walletPasses.id} = ${passId}`)
    if (pass) await unregisterPhone(job, pass, phone.device_id)
  })

const recordPush = (job: JobCtx, pass: PassRow, phone: PhoneToPush): Promise<unknown> =>
  job.db.all(
    update(
      walletRegistrations,
      { notified_number: pass.change_number },
      and(
        eq(walletRegistrations.pass_id, pass.id),
        eq(walletRegistrations.device_id, phone.device_id),
        eq(walletRegistrations.push_token, phone.push_token),
      ),
    ),
  )

/** Pushes to the next phones of a pass. The pass stays due while it has more phones. */
async function pushApple(job: JobCtx, pass: PassRow): Promise<boolean> {
  const { pass_id, device_id, push_token, notified_number } = walletRegistrations
  const phones = await job.db.all(
    select({ device_id, push_token })
      .from(walletRegistrations)
      .where(and(eq(pass_id, pass.id), lt(notified_number, pass.change_number)))
      .orderBy(asc(notified_number), asc(device_id))
      .limit(phonesPerUpdate),
  )
  for (const phone of phones) {
    const result = await job.passes.pushApple({
      pass_id: pass.id,
      change_number: pass.change_number,
      push_token: phone.push_token,
    })
    if (result === 'off') {
      await recordUpdate(job, pass, null, null)
      return true
    }
    if (result === 'transient') {
      await recordUpdate(job, pass, computeNextUpdateAt(pass.attempts, job.now()), 'push_failed')
      return false
    }
    await (result === 'gone' ? unregisterGonePhone(job, pass.id, phone) : recordPush(job, pass, phone))
  }
  await recordUpdate(job, pass, phones.length === phonesPerUpdate ? job.now() : null, null)
  return true
}

const updatePass = (job: JobCtx, pass: PassRow): Promise<boolean> =>
  pass.platform === 'google' ? updateGoogle(job, pass) : pushApple(job, pass)

/** Returns false when an update failed. The sweep then stops, and the next one goes on. */
async function updatePasses(job: JobCtx, passes: PassRow[]): Promise<boolean> {
  let allUpdated = true
  const errors: unknown[] = []
  const worker = async () => {
    for (let pass = passes.shift(); pass; pass = passes.shift())
      try {
        allUpdated = (await updatePass(job, pass)) && allUpdated
      } catch (error) {
        // The fault is in this service. The pass is tried again when its claim ends.
        errors.push(error)
      }
  }
  await Promise.all(Array.from({ length: passesAtOnce }, worker))
  if (errors.length) throw new Error('passes could not be updated', { cause: errors[0] })
  return allUpdated
}

/**
 * Tells the platforms about changed passes. A crash loses nothing, because the passes are due again after the claim.
 */
export async function sweepPassUpdates(job: JobCtx): Promise<void> {
  for (let batch = 0; batch < batchesPerSweep; batch++) {
    const passes = await claimDuePasses(job)
    if (passes.length === 0 || !(await updatePasses(job, passes))) return
  }
}

/** Deletes the nonces of expired callbacks, which are refused anyway. */
export const sweepCallbacks = ({ db, now }: JobCtx): Promise<unknown> =>
  db.all(sql`delete from wallet_callbacks where nonce_hash in
    (select nonce_hash from wallet_callbacks where expires_at <= ${now()} limit ${callbacksPerSweep})`)
