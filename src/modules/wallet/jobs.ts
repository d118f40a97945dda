import { and, asc, eq, lt, sql } from 'drizzle-orm'
import { retryLostRaces } from '../../db/commit.ts'
import type { JobCtx } from '../../context.ts'
import { claimUntil, isClaimable, release } from '../../db/claims.ts'
import { walletPasses, walletRegistrations } from '../../db/schema/wallet.ts'
import { select, buildSelectList } from '../../db/select.ts'
import { update as updateRows } from '../../db/write.ts'
import { nextUpdateAt, updateClaimMs } from '../../domain/wallet/wallet.ts'
import { type AnnouncedPass, announcedFields, announcedJoins } from './announce-change.ts'
import { contentOf } from './content.ts'
import type { PassRow } from './queries.ts'
import { unregisterPhone } from './apple/unregister.ts'

const passesARound = 20
const roundsASweep = 10
/** The platform opens six connections for an invocation; one is left for the database. */
const passesAtOnce = 5
const phonesARound = 25
const callbacksASweep = 1000

interface PhoneToPush {
  device_id: string
  push_token: string
}

/** Claims what is due, the longest due first. No other consumer gets it before the claim ends. */
const claim = (job: JobCtx): Promise<PassRow[]> => {
  const now = job.now()
  return job.db.all(sql<PassRow>`update wallet_passes set ${claimUntil(now, updateClaimMs)},
      attempts = attempts + 1
    where id in (select id from wallet_passes indexed by wallet_passes_due
      where due_at <= ${now} and ${isClaimable(now)} order by due_at limit ${passesARound})
    returning *`)
}

/** The result of an update. A change that was made meanwhile stays due. */
const conclude = (job: JobCtx, pass: PassRow, dueAt: number | null, error: string | null): Promise<unknown> =>
  job.db.all(sql`update wallet_passes set ${release},
      due_at = iif(change_number = ${pass.change_number}, ${dueAt}, due_at),
      update_error = iif(change_number = ${pass.change_number}, ${error}, update_error),
      attempts = iif(${error} is null, 0, attempts)
    where id = ${pass.id} and claimed_until = ${pass.claimed_until}`)

async function updateGoogle(job: JobCtx, pass: PassRow): Promise<boolean> {
  const result = await job.passes.updateGoogle(await contentOf(job, pass), pass.change_number)
  if (result.ok || result.kind === 'gone') {
    await conclude(job, pass, null, null)
    return true
  }
  const dueAt = result.kind === 'permanent' ? null : nextUpdateAt(pass.attempts, job.now())
  await conclude(job, pass, dueAt, result.code)
  return result.kind === 'permanent'
}

/** A phone that its platform no longer knows is unregistered, as if it had asked for it. */
const deletePhone = (job: JobCtx, passId: string, phone: PhoneToPush): Promise<void> =>
  retryLostRaces(async () => {
    const pass = await job.db.first(sql<AnnouncedPass & { push_token: string | null }>`
      select ${buildSelectList(announcedFields)}, (select push_token from wallet_registrations
        where pass_id = ${walletPasses.id}
          and device_id = ${phone.device_id} and push_token = ${phone.push_token}) as push_token
      from ${walletPasses} ${announcedJoins} where ${walletPasses.id} = ${passId}`)
    if (pass) await unregisterPhone(job, pass, phone.device_id)
  })

const noteNotified = (job: JobCtx, pass: PassRow, phone: PhoneToPush): Promise<unknown> =>
  job.db.all(
    updateRows(
      walletRegistrations,
      { notified_number: pass.change_number },
      and(
        eq(walletRegistrations.pass_id, pass.id),
        eq(walletRegistrations.device_id, phone.device_id),
        eq(walletRegistrations.push_token, phone.push_token),
      ),
    ),
  )

/** Pushes to some phones of the pass, each noted as soon as its push is sent; the rest stays due. */
async function pushApple(job: JobCtx, pass: PassRow): Promise<boolean> {
  const { pass_id, device_id, push_token, notified_number } = walletRegistrations
  const phones = await job.db.all(
    select({ device_id, push_token })
      .from(walletRegistrations)
      .where(and(eq(pass_id, pass.id), lt(notified_number, pass.change_number)))
      .orderBy(asc(notified_number), asc(device_id))
      .limit(phonesARound),
  )
  for (const phone of phones) {
    const result = await job.passes.pushApple({
      pass_id: pass.id,
      change_number: pass.change_number,
      push_token: phone.push_token,
    })
    if (result === 'off') {
      await conclude(job, pass, null, null)
      return true
    }
    if (result === 'transient') {
      await conclude(job, pass, nextUpdateAt(pass.attempts, job.now()), 'push_failed')
      return false
    }
    await (result === 'gone' ? deletePhone(job, pass.id, phone) : noteNotified(job, pass, phone))
  }
  await conclude(job, pass, phones.length === phonesARound ? job.now() : null, null)
  return true
}

const update = (job: JobCtx, pass: PassRow): Promise<boolean> =>
  pass.platform === 'google' ? updateGoogle(job, pass) : pushApple(job, pass)

/** False when something kept a pass from being updated: the platform is left alone until the next sweep. */
async function updateAll(job: JobCtx, passes: PassRow[]): Promise<boolean> {
  let goesWell = true
  const faults: unknown[] = []
  const worker = async () => {
    for (let pass = passes.shift(); pass; pass = passes.shift())
      try {
        goesWell = (await update(job, pass)) && goesWell
      } catch (error) {
        // Our own fault: the claim keeps the pass for a later try.
        faults.push(error)
      }
  }
  await Promise.all(Array.from({ length: passesAtOnce }, worker))
  if (faults.length) throw new Error('passes could not be updated', { cause: faults[0] })
  return goesWell
}

/** Notifies the platforms of passes that changed. A crash loses nothing: the claim ends, and the call is made again. */
export async function sweepPassUpdates(job: JobCtx): Promise<void> {
  for (let round = 0; round < roundsASweep; round++) {
    const passes = await claim(job)
    if (passes.length === 0 || !(await updateAll(job, passes))) return
  }
}

/** Deletes nonces of expired callbacks, which are refused without them. */
export const sweepCallbacks = ({ db, now }: JobCtx): Promise<unknown> =>
  db.all(sql`delete from wallet_callbacks where nonce_hash in
    (select nonce_hash from wallet_callbacks where expires_at <= ${now()} limit ${callbacksASweep})`)
