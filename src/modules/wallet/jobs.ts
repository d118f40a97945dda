import { asc, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { claimUntil, isClaimable, release } from '../../db/claims.ts'
import { commitPart, requireOneChange, retryLostRaces } from '../../db/commit.ts'
import { inList } from '../../db/conditions.ts'
import { walletEditions, walletPasses } from '../../db/schema/wallet.ts'
import { select, buildSelectList } from '../../db/select.ts'
import { update } from '../../db/write.ts'
import { LostRace } from '../../domain/errors.ts'
import { describeServiceFault, services } from '../../domain/waiting.ts'
import type { PassContent } from '../../domain/wallet/wallet-pass.ts'
import { computeNextUpdateAt, updateClaimMs } from '../../domain/wallet/wallet.ts'
import type { GoogleResult } from '../../gateways/passes/passes.ts'
import { type PassWithOwner, passEventFields, passEventJoins } from './announce-change.ts'
import { unregisterPhone } from './apple/registrations.ts'
import { loadEditionContent, loadPassContents } from './content.ts'
import { buildChangeColumns } from './pass-changed.ts'
import type { PassRow } from './queries.ts'

const passesPerBatch = 20
/** D1 allows an invocation a thousand queries, and a batch takes four. */
const batchesPerSweep = 100
/** The platform allows an invocation six connections, of which the database needs one. */
const passesAtOnce = 5
const phonesPerUpdate = 25
const editionsPerSweep = 20
/** A step marks few passes, so that other changes do not wait long behind those of a large edition. */
const passesPerMark = 200
const callbacksPerSweep = 1000

interface PhoneToPush {
  pass_id: string
  device_id: string
  push_token: string
}

/** The result of an update. `due_at` is when the next one is due. */
interface UpdateOutcome {
  due_at: number | null
  error: string | null
  /** The reason why the update waits. Null: it does not wait. */
  waitingReason: string | null
  /** True if other updates would fail for the same reason. */
  stopsSweep: boolean
}

const successOutcome: UpdateOutcome = { due_at: null, error: null, waitingReason: null, stopsSweep: false }

/** An update that is given up. */
const giveUp = (error: string): UpdateOutcome => ({ ...successOutcome, error })

/** Describes a failure of Google, whose codes are `status_` and a status, or a class of fault. */
function describeGoogleFault(code: string): string {
  const [, status = null] = /^status_(\d+)$/.exec(code) ?? []
  const detail = code === 'token_refused' ? `${services.google} refuses the service account.` : ''
  return describeServiceFault('google', { status: status === null ? null : Number(status), detail })
}

function fail(job: JobCtx, attempts: number, error: string, waitingReason: string): UpdateOutcome {
  const due_at = computeNextUpdateAt(attempts, job.now())
  return { due_at, error, waitingReason: due_at === null ? null : waitingReason, stopsSweep: true }
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

/** Stores the outcomes of updates. A pass that changed meanwhile stays due. */
const recordUpdates = (job: JobCtx, outcomes: readonly (UpdateOutcome & { pass: PassRow })[]): Promise<unknown> => {
  const rows = outcomes.map(({ pass, due_at, error, waitingReason }) => [
    pass.id,
    pass.claimed_until,
    pass.change_number,
    due_at,
    error,
    waitingReason,
  ])
  return job.db.all(sql`update wallet_passes set ${release},
      due_at = iif(change_number = outcome.value ->> 2, outcome.value ->> 3, due_at),
      update_error = iif(change_number = outcome.value ->> 2, outcome.value ->> 4, update_error),
      attempts = iif(outcome.value ->> 4 is null, 0, attempts),
      waiting_reason = outcome.value ->> 5,
      waiting_since = iif(outcome.value ->> 5 is null, null, coalesce(waiting_since, ${job.now()}))
    from json_each(${JSON.stringify(rows)}) as outcome
    where wallet_passes.id = outcome.value ->> 0 and claimed_until = outcome.value ->> 1`)
}

/** A pass that Google does not have needs no update: Google gets its current content when somebody requests a link. */
async function updateGoogle(job: JobCtx, pass: PassRow, content: PassContent | undefined): Promise<UpdateOutcome> {
  if (!content) throw new Error(`The purchase of pass ${pass.id} is missing.`)
  const result = await job.passes.updateGoogle(content, pass.change_number)
  if (result.ok || result.kind === 'gone') return successOutcome
  if (result.kind === 'permanent') return giveUp(result.code)
  return fail(job, pass.attempts, result.code, describeGoogleFault(result.code))
}

/** Unregisters a phone that Apple no longer knows, as if the phone had asked for it. */
const unregisterGonePhone = (job: JobCtx, phone: PhoneToPush): Promise<void> =>
  retryLostRaces(async () => {
    const pass = await job.db.first(sql<PassWithOwner & { push_token: string | null }>`
      select ${buildSelectList(passEventFields)}, (select push_token from wallet_registrations
        where pass_id = ${walletPasses.id}
          and device_id = ${phone.device_id} and push_token = ${phone.push_token}) as push_token
      from ${walletPasses} ${passEventJoins} where ${walletPasses.id} = ${phone.pass_id}`)
    if (pass) await unregisterPhone(job, pass, phone.device_id)
  })

/** Stores which phones have been told of which change. */
const recordPushes = (job: JobCtx, pushes: readonly (PhoneToPush & { change_number: number })[]): Promise<unknown> => {
  const rows = pushes.map((push) => [push.pass_id, push.device_id, push.push_token, push.change_number])
  return job.db.all(sql`update wallet_registrations set notified_number = push.value ->> 3
    from json_each(${JSON.stringify(rows)}) as push
    where pass_id = push.value ->> 0 and device_id = push.value ->> 1 and push_token = push.value ->> 2`)
}

/** Loads the next phones of each pass. */
async function loadPhones(job: JobCtx, passes: readonly PassRow[]): Promise<Map<string, PhoneToPush[]>> {
  if (passes.length === 0) return new Map()
  const ids = passes.map(({ id }) => id)
  const phones = await job.db.all(sql<PhoneToPush>`select pass_id, device_id, push_token from (
      select pass_id, device_id, push_token, notified_number,
        row_number() over (partition by pass_id order by notified_number, device_id) as place
      from wallet_registrations join wallet_passes on wallet_passes.id = pass_id
      where ${inList(sql`pass_id`, ids)} and notified_number < change_number)
    where place <= ${phonesPerUpdate} order by pass_id, place`)
  return Map.groupBy(phones, ({ pass_id }) => pass_id)
}

/** Pushes to the next phones of a pass. The pass stays due while it has more phones. */
async function pushApple(
  job: JobCtx,
  pass: PassRow,
  phones: readonly PhoneToPush[],
  recordPush: (phone: PhoneToPush) => void,
): Promise<UpdateOutcome> {
  for (const phone of phones) {
    const { id: pass_id, change_number } = pass
    const result = await job.passes.pushApple({ pass_id, change_number, push_token: phone.push_token })
    if (result === 'off') return successOutcome
    if (result === 'transient')
      return fail(job, pass.attempts, 'push_failed', describeServiceFault('apple', { status: null }))
    if (result === 'gone') await unregisterGonePhone(job, phone)
    else recordPush(phone)
  }
  return phones.length === phonesPerUpdate ? { ...successOutcome, due_at: job.now() } : successOutcome
}

/** Returns false when an update failed. The sweep then stops, and the next one goes on. */
async function updatePasses(job: JobCtx, passes: readonly PassRow[]): Promise<boolean> {
  const { apple = [], google = [] } = Object.groupBy(passes, ({ platform }) => platform)
  const phones = await loadPhones(job, apple)
  const contents = await loadPassContents(job, google)
  const pushes: (PhoneToPush & { change_number: number })[] = []
  const outcomes: (UpdateOutcome & { pass: PassRow })[] = []
  const errors: unknown[] = []
  const remainingPasses = [...passes]
  const updatePass = (pass: PassRow): Promise<UpdateOutcome> =>
    pass.platform === 'google'
      ? updateGoogle(job, pass, contents.get(pass.id))
      : pushApple(job, pass, phones.get(pass.id) ?? [], (phone) =>
          pushes.push({ ...phone, change_number: pass.change_number }),
        )
  const worker = async () => {
    for (let pass = remainingPasses.shift(); pass; pass = remainingPasses.shift())
      try {
        outcomes.push({ ...(await updatePass(pass)), pass })
      } catch (error) {
        // The fault is in this service. The pass is tried again when its claim ends.
        errors.push(error)
      }
  }
  await Promise.all(Array.from({ length: passesAtOnce }, worker))
  if (pushes.length) await recordPushes(job, pushes)
  if (outcomes.length) await recordUpdates(job, outcomes)
  if (errors.length) throw new Error('passes could not be updated', { cause: errors[0] })
  return !outcomes.some(({ stopsSweep }) => stopsSweep)
}

const { apple_marked_to, google_marked_to } = walletEditions

/** Finds the edition whose passes have not been marked for the longest time. */
const findEditionToMark = ({ db }: JobCtx) =>
  db.first(
    select({
      edition_id: walletEditions.edition_id,
      change_number: walletEditions.change_number,
      apple_marked_to,
      google_marked_to,
    })
      .from(walletEditions)
      .where(sql`coalesce(apple_marked_to, google_marked_to) is not null`)
      .orderBy(asc(walletEditions.marked_at))
      .limit(1),
  )

/**
 * Marks the next passes of a changed edition as changed. Returns false when no edition has passes to mark. A crash
 * loses nothing, because the passes and the cursor are written together.
 */
async function markNextPasses(job: JobCtx): Promise<boolean> {
  const edition = await findEditionToMark(job)
  if (!edition) return false
  const now = job.now()
  const platform = edition.apple_marked_to === null ? 'google' : 'apple'
  const markedTo = edition.apple_marked_to ?? edition.google_marked_to ?? ''
  const nextPasses = sql`select id from wallet_passes indexed by wallet_passes_of_edition
    where edition_id = ${edition.edition_id} and platform = ${platform} and id > ${markedTo}
    order by id limit ${passesPerMark}`
  const last = sql`(select iif(count(*) = ${passesPerMark}, max(id), null) from (${nextPasses}))`
  const isUnchanged = sql`edition_id = ${edition.edition_id} and change_number = ${edition.change_number}
    and coalesce(apple_marked_to, google_marked_to) = ${markedTo}`
  try {
    await commitPart(job, [
      update(walletPasses, buildChangeColumns(now), sql`id in (${nextPasses})`),
      update(
        walletEditions,
        { ...(platform === 'apple' ? { apple_marked_to: last } : { google_marked_to: last }), marked_at: now },
        isUnchanged,
      ),
      requireOneChange(),
    ])
  } catch (error) {
    // The edition has changed again, or another sweep has marked these passes.
    if (!(error instanceof LostRace)) throw error
  }
  return true
}

type DueEdition = Pick<
  typeof walletEditions.$inferSelect,
  'edition_id' | 'change_number' | 'claimed_until' | 'attempts'
>

const claimDueEditions = (job: JobCtx): Promise<DueEdition[]> => {
  const now = job.now()
  return job.db.all(sql<DueEdition>`update wallet_editions set ${claimUntil(now, updateClaimMs)},
      attempts = attempts + 1
    where edition_id in (select edition_id from wallet_editions indexed by wallet_editions_due
      where due_at <= ${now} and ${isClaimable(now)} order by due_at limit ${editionsPerSweep})
    returning edition_id, change_number, claimed_until, attempts`)
}

function judgeClassUpdate(job: JobCtx, { attempts }: DueEdition, result: GoogleResult): UpdateOutcome {
  if (result.ok) return successOutcome
  if (result.kind === 'permanent') return giveUp(result.code)
  // A request that has read the edition before its change may insert the class now, so the change is tried again.
  const failure = fail(job, attempts, result.code, describeGoogleFault(result.code))
  return { ...failure, stopsSweep: result.kind !== 'gone' }
}

/**
 * Tells Google about changed editions until a call fails. An edition that changed meanwhile stays due, and one that was
 * claimed and not reached is due again after its claim.
 */
async function updateClasses(job: JobCtx): Promise<void> {
  for (const edition of await claimDueEditions(job)) {
    const { edition_id, change_number, claimed_until } = edition
    const result = await job.passes.updateGoogleClass(await loadEditionContent(job, edition_id), change_number)
    const { due_at, error, waitingReason, stopsSweep } = judgeClassUpdate(job, edition, result)
    await job.db.all(sql`update wallet_editions set ${release},
        due_at = iif(change_number = ${change_number}, ${due_at}, due_at),
        update_error = iif(change_number = ${change_number}, ${error}, update_error),
        attempts = iif(${error} is null, 0, attempts), waiting_reason = ${waitingReason},
        waiting_since = iif(${waitingReason} is null, null, coalesce(waiting_since, ${job.now()}))
      where edition_id = ${edition_id} and claimed_until = ${claimed_until}`)
    if (stopsSweep) return
  }
}

/**
 * Tells the platforms about changed editions and passes. Passes of changed editions are marked only while no other pass
 * is due. A crash loses nothing, because editions and passes are due again after the claim.
 */
export async function sweepPassUpdates(job: JobCtx): Promise<void> {
  await updateClasses(job)
  for (let batch = 0; batch < batchesPerSweep; batch++) {
    const passes = await claimDuePasses(job)
    const continues = passes.length === 0 ? await markNextPasses(job) : await updatePasses(job, passes)
    if (!continues) return
  }
}

/** Deletes the nonces of expired callbacks, which are refused anyway. */
export const sweepCallbacks = ({ db, now }: JobCtx): Promise<unknown> =>
  db.all(sql`delete from wallet_callbacks where nonce_hash in
    (select nonce_hash from wallet_callbacks where expires_at <= ${now()} limit ${callbacksPerSweep})`)
