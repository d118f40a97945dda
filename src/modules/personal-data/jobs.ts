import { and, eq, getTableColumns, gt, isNull, lte, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { requireOneChange } from '../../db/commit.ts'
import { isLostRace } from '../../db/failures.ts'
import { mergeCustomerIndexes } from '../../db/customers.ts'
import { campaigns } from '../../db/schema/messaging/campaigns.ts'
import { erasures } from '../../db/schema/personal-data.ts'
import { decodeAs, select } from '../../db/select.ts'
import { update } from '../../db/write.ts'
import { firstIdAt } from '../../domain/ids.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import { type ErasedPerson, eraseInImports } from '../data-imports/index.ts'
import { addressesOf, blankingStatements, type ErasureRow } from './erasure-statements.ts'
import { blankEvents } from './webhook-payloads.ts'

/** The next run after one that crashed, or that waits for a campaign which is sending to the person, is this much later. */
const againMs = 60_000
/** Longer than any work that was under way when the person was erased. */
const secondPassMs = 300_000
const runMs = 15_000
const campaignsAStep = 20
const erasuresASweep = 5

/** Takes an erasure that is due, for as long as a run may take; undefined when another run has it. */
const claim = ({ db, now }: JobCtx, id: string): Promise<ErasureRow | undefined> =>
  db.first(
    decodeAs(
      getTableColumns(erasures),
      sql<ErasureRow>`update erasures set next_step_at = ${now() + againMs}
        where id = ${id} and next_step_at <= ${now()} returning *`,
    ),
  )

type Progress = Partial<
  Pick<ErasureRow, 'pass' | 'campaign_after' | 'event_after' | 'import_after' | 'addresses' | 'completed_at'>
>

/** Records the progress of an erasure, unless another run has moved it since it was read. */
async function move(job: JobCtx, erasure: ErasureRow, progress: Progress, dueInMs: number | null): Promise<ErasureRow> {
  const next = { ...erasure, ...progress, next_step_at: dueInMs === null ? null : job.now() + dueInMs }
  const isThere = and(
    eq(erasures.id, erasure.id),
    eq(erasures.pass, erasure.pass),
    eq(erasures.campaign_after, erasure.campaign_after),
    eq(erasures.event_after, erasure.event_after),
    eq(erasures.import_after, erasure.import_after),
    isNull(erasures.completed_at),
  )
  const changes = { ...progress, next_step_at: next.next_step_at }
  await job.db.batch([update(erasures, changes, sql`${isThere}`), requireOneChange()])
  return next
}

/** Erases the person in the objects of the next campaigns; null when there are no more. */
async function eraseInCampaigns(job: JobCtx, erasure: ErasureRow): Promise<ErasureRow | null> {
  const started = await job.db.all(
    select({ seq: campaigns.seq, id: campaigns.id, channel: sql<Channel>`${campaigns.channel}` })
      .from(campaigns)
      .where(
        and(
          eq(campaigns.organization_id, erasure.organization_id),
          gt(campaigns.run, 0),
          gt(campaigns.seq, erasure.campaign_after),
        ),
      )
      .orderBy(campaigns.seq)
      .limit(campaignsAStep),
  )
  const last = started.at(-1)
  if (!last) return null
  const erased = await Promise.all(
    started.map(async ({ seq, id, channel }) => ({
      seq,
      channel,
      ...(await job.senders.of(id).erase(erasure.user_seq)),
    })),
  )
  const addresses = [...erasure.addresses]
  for (const { channel, address } of erased)
    if (address !== null && !addresses.some(([of, known]) => of === channel && known === address))
      addresses.push([channel, address])
  const waiting = erased.find(({ is_done }) => !is_done)
  const progress = { campaign_after: waiting ? waiting.seq - 1 : last.seq, addresses }
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
  } else {
    await mergeCustomerIndexes(job.db)
    await move(job, erasure, { addresses: [], completed_at: job.now() }, null)
  }
  return null
}

/** Does the steps of an erasure for which one run has time. A crash anywhere loses time only. */
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
  const due = await job.db.all(
    select({ id: erasures.id })
      .from(erasures)
      .where(lte(erasures.next_step_at, job.now()))
      .orderBy(erasures.next_step_at)
      .limit(erasuresASweep),
  )
  const faults: unknown[] = []
  for (const { id } of due) await runErasure(job, id).catch((error: unknown) => faults.push(error))
  if (faults.length) throw new Error('erasures could not be finished', { cause: faults[0] })
}
