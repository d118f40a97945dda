import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { changedOne } from '../../db/commit.ts'
import { isLostRace } from '../../db/failures.ts'
import { firstIdAt } from '../../domain/ids.ts'
import { type ErasedPerson, eraseInImports } from '../data-imports/index.ts'
import { addressesOf, blankingStatements, type ErasureRow } from './erasure-statements.ts'
import { blankEvents } from './webhook-payloads.ts'

/** A run that died is followed by another this much later, and so is a campaign that is just sending to the person. */
const againMs = 60_000
/** Longer than anything takes that was under way when the person was erased. */
const secondPassMs = 300_000
const runMs = 15_000
const campaignsAStep = 20
const erasuresASweep = 5

/** Takes an erasure that is due, for as long as a run may take; undefined when another run has it. */
const claim = ({ db, now }: JobCtx, id: string): Promise<ErasureRow | undefined> =>
  db.first(sql<ErasureRow>`update erasures set next_step_at = ${now() + againMs}
    where id = ${id} and next_step_at <= ${now()} returning *`)

type Progress = Partial<
  Pick<ErasureRow, 'pass' | 'campaign_after' | 'event_after' | 'import_after' | 'addresses' | 'completed_at'>
>

/** Moves the erasure from where it was read. */
async function move(job: JobCtx, erasure: ErasureRow, progress: Progress, dueInMs: number | null): Promise<ErasureRow> {
  const next = { ...erasure, ...progress, next_step_at: dueInMs === null ? null : job.now() + dueInMs }
  await job.db.batch([
    sql`update erasures set pass = ${next.pass}, campaign_after = ${next.campaign_after},
        event_after = ${next.event_after}, import_after = ${next.import_after}, addresses = ${next.addresses}, next_step_at = ${next.next_step_at},
        completed_at = ${next.completed_at}
      where id = ${erasure.id} and pass = ${erasure.pass} and campaign_after = ${erasure.campaign_after}
        and event_after = ${erasure.event_after} and import_after = ${erasure.import_after} and completed_at is null`,
    changedOne(),
  ])
  return next
}

/** Erases the person in the objects of the next campaigns; null when there are no more. */
async function eraseInCampaigns(job: JobCtx, erasure: ErasureRow): Promise<ErasureRow | null> {
  const campaigns = await job.db.all(sql<{ seq: number; id: string; channel: string }>`
    select seq, id, channel from campaigns where organization_id = ${erasure.organization_id} and run > 0
      and seq > ${erasure.campaign_after} order by seq limit ${campaignsAStep}`)
  const last = campaigns.at(-1)
  if (!last) return null
  const erased = await Promise.all(
    campaigns.map(async ({ seq, id, channel }) => ({
      seq,
      channel,
      ...(await job.senders.of(id).erase(erasure.user_seq)),
    })),
  )
  const addresses = JSON.parse(erasure.addresses) as [string, string][]
  for (const { channel, address } of erased)
    if (address !== null && !addresses.some(([of, known]) => of === channel && known === address))
      addresses.push([channel, address])
  const waiting = erased.find(({ is_done }) => !is_done)
  const progress = { campaign_after: waiting ? waiting.seq - 1 : last.seq, addresses: JSON.stringify(addresses) }
  return move(job, erasure, progress, againMs)
}

/** The person for whom rows of imports are searched. */
function personOf(erasure: ErasureRow): ErasedPerson {
  const addresses = addressesOf(erasure)
  const of = (wanted: string) => addresses.flatMap(({ channel, address }) => (channel === wanted ? [address] : []))
  const emails = new Set(of('email').map((email) => email.toLowerCase()))
  return { ...erasure, emails, phones: new Set(of('sms')) }
}

/** One step of a pass; null when the pass waits, or is over. */
async function step(job: JobCtx, erasure: ErasureRow): Promise<ErasureRow | null> {
  const moved = await eraseInCampaigns(job, erasure)
  if (moved) return moved.campaign_after > erasure.campaign_after ? moved : null
  const event_after = await blankEvents(job, erasure)
  if (event_after !== null) return move(job, erasure, { event_after }, againMs)
  const import_after = await eraseInImports(job, personOf(erasure), erasure.import_after)
  if (import_after !== null) {
    const next = await move(job, erasure, { import_after }, againMs)
    return import_after === erasure.import_after ? null : next
  }
  await job.db.batch(await blankingStatements(erasure, job.now()))
  if (erasure.pass === 1) {
    const written = firstIdAt('webhook_event', erasure.created_at - secondPassMs)
    await move(job, erasure, { pass: 2, campaign_after: 0, event_after: written, import_after: '' }, secondPassMs)
  } else await move(job, erasure, { addresses: '[]', completed_at: job.now() }, null)
  return null
}

/** Brings an erasure as far as one run gets. Dying anywhere in it costs nothing but time. */
async function runErasure(job: JobCtx, id: string): Promise<void> {
  const endsAt = Date.now() + runMs
  try {
    let erasure = (await claim(job, id)) ?? null
    while (erasure && Date.now() < endsAt) erasure = await step(job, erasure)
  } catch (error) {
    // Another run went on with it.
    if (!isLostRace(error)) throw error
  }
}

/** Continues erasures that are due, the longest due first. One that fails does not stop the others. */
export async function sweepErasures(job: JobCtx): Promise<void> {
  const due = await job.db.all(sql<{ id: string }>`select id from erasures where next_step_at <= ${job.now()}
    order by next_step_at limit ${erasuresASweep}`)
  const faults: unknown[] = []
  for (const { id } of due) await runErasure(job, id).catch((error: unknown) => faults.push(error))
  if (faults.length) throw new Error('erasures could not be finished', { cause: faults[0] })
}
