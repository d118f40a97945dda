import { and, eq, getTableColumns, gt, isNull, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { claimUntil, isClaimable } from '../../db/claims.ts'
import { requireOneChange } from '../../db/commit.ts'
import { isLostRace } from '../../db/failures.ts'
import { mergeSearchIndexes } from '../../db/customers.ts'
import { campaigns } from '../../db/schema/messaging/campaigns.ts'
import { erasures } from '../../db/schema/personal-data.ts'
import { decodeAs, select } from '../../db/select.ts'
import { update } from '../../db/write.ts'
import { firstIdAt } from '../../domain/ids.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import { hideContacts } from '../audit-log/index.ts'
import { eraseInImports } from '../data-imports/index.ts'
import { eraseInSegments } from '../segments/index.ts'
import { buildErasureStatements, type ErasureRow, readContacts } from './erasure-statements.ts'

/** An erasure continues after this time when a run crashed, or when a campaign was still sending to the person. */
const claimMs = 60_000
/** Longer than any job that had read the person before the erasure. A second pass then erases what those jobs wrote. */
const secondPassAfterMs = 300_000
const runMs = 15_000
const campaignsPerStep = 20
const eventsPerStep = 2000
const erasuresPerSweep = 5

/** Claims an erasure that is due. Returns undefined when another run has it. */
const claimErasure = ({ db, now }: JobCtx, id: string): Promise<ErasureRow | undefined> =>
  db.first(
    decodeAs(
      getTableColumns(erasures),
      sql<ErasureRow>`update erasures set ${claimUntil(now(), claimMs)}
        where id = ${id} and due_at <= ${now()} and ${isClaimable(now())} returning *`,
    ),
  )

type ErasureProgress = Partial<
  Pick<
    ErasureRow,
    'pass' | 'campaign_cursor' | 'event_cursor' | 'import_cursor' | 'audit_cursor' | 'addresses' | 'completed_at'
  >
>

/** Records the progress of an erasure and extends its claim. Throws LostRace when another run has made progress since. */
async function recordProgress(
  job: JobCtx,
  erasure: ErasureRow,
  progress: ErasureProgress,
  times: Partial<Pick<ErasureRow, 'due_at' | 'claimed_until'>> = { claimed_until: job.now() + claimMs },
): Promise<ErasureRow> {
  const isUnchanged = and(
    eq(erasures.id, erasure.id),
    eq(erasures.pass, erasure.pass),
    eq(erasures.campaign_cursor, erasure.campaign_cursor),
    eq(erasures.event_cursor, erasure.event_cursor),
    eq(erasures.import_cursor, erasure.import_cursor),
    eq(erasures.audit_cursor, erasure.audit_cursor),
    isNull(erasures.completed_at),
  )
  const changes = { ...progress, ...times }
  await job.db.batch([update(erasures, changes, sql`${isUnchanged}`), requireOneChange()])
  return { ...erasure, ...changes }
}

/** Erases the person in the Durable Objects of the next campaigns. Returns null when there are no more. */
async function eraseInCampaigns(job: JobCtx, erasure: ErasureRow): Promise<ErasureRow | null> {
  const startedCampaigns = await job.db.all(
    select({ seq: campaigns.seq, id: campaigns.id, channel: sql<Channel>`${campaigns.channel}` })
      .from(campaigns)
      .where(
        and(
          eq(campaigns.organization_id, erasure.organization_id),
          gt(campaigns.run, 0),
          gt(campaigns.seq, erasure.campaign_cursor),
        ),
      )
      .orderBy(campaigns.seq)
      .limit(campaignsPerStep),
  )
  const last = startedCampaigns.at(-1)
  if (!last) return null
  const results = await Promise.all(
    startedCampaigns.map(async ({ seq, id, channel }) => ({
      seq,
      channel,
      ...(await job.senders.get(id).erase(erasure.user_seq)),
    })),
  )
  const addresses = [...erasure.addresses]
  for (const { channel, address } of results)
    if (address !== null && !addresses.some(([otherChannel, other]) => otherChannel === channel && other === address))
      addresses.push([channel, address])
  const waitingCampaign = results.find(({ is_done }) => !is_done)
  const progress = { campaign_cursor: waitingCampaign ? waitingCampaign.seq - 1 : last.seq, addresses }
  return recordProgress(job, erasure, progress)
}

/** Sets all texts except the id to null in every object that describes the person. */
function removePerson(value: unknown, userId: string): unknown {
  if (Array.isArray(value)) return value.map((item) => removePerson(item, userId))
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value)
  const isPerson = fields.some(([name, field]) => (name === 'api_id' || name === 'id') && field === userId)
  return Object.fromEntries(
    fields.map(([name, field]) => [
      name,
      isPerson && typeof field === 'string' && field !== userId ? null : removePerson(field, userId),
    ]),
  )
}

/**
 * Erases the person in the next webhook events. Returns the id of the last one read, or null when there are no more.
 */
async function eraseInEvents({ db }: JobCtx, erasure: ErasureRow): Promise<string | null> {
  const { event_cursor, organization_id, user_id } = erasure
  const [events, [range]] = await db.batch([
    sql<{ id: string; payload: string }>`select id, payload
      from (select id, organization_id, payload from webhook_events where id > ${event_cursor}
        order by id limit ${eventsPerStep})
      where organization_id = ${organization_id} and instr(payload, ${user_id}) > 0`,
    sql<{
      last: string
      count: number
    }>`select max(id) as last, count(*) as count from (select id from webhook_events where id > ${event_cursor}
      order by id limit ${eventsPerStep})`,
  ])
  const erasedEvents = events.map(({ id, payload }) => [id, JSON.stringify(removePerson(JSON.parse(payload), user_id))])
  if (erasedEvents.length)
    await db.batch([
      sql`update webhook_events set payload = erased.value ->> 1
        from json_each(${JSON.stringify(erasedEvents)}) as erased
        where webhook_events.id = erased.value ->> 0`,
    ])
  return range && range.count === eventsPerStep ? range.last : null
}

/** Does one step of a pass. Returns null when the pass has ended or has to wait. */
async function eraseNextStep(job: JobCtx, erasure: ErasureRow): Promise<ErasureRow | null> {
  const advanced = await eraseInCampaigns(job, erasure)
  if (advanced) return advanced.campaign_cursor > erasure.campaign_cursor ? advanced : null
  const event_cursor = await eraseInEvents(job, erasure)
  if (event_cursor !== null) return recordProgress(job, erasure, { event_cursor })
  const person = { ...erasure, ...readContacts(erasure) }
  const import_cursor = await eraseInImports(job, person, erasure.import_cursor)
  if (import_cursor !== null) {
    const next = await recordProgress(job, erasure, { import_cursor })
    return import_cursor === erasure.import_cursor ? null : next
  }
  const audit_cursor = await hideContacts(job, erasure.organization_id, person, erasure.audit_cursor)
  if (audit_cursor !== null) return recordProgress(job, erasure, { audit_cursor })
  await eraseInSegments(job, erasure, person)
  await job.db.batch(await buildErasureStatements(job.db, erasure, job.now()))
  if (erasure.pass === 1) {
    const since = erasure.created_at - secondPassAfterMs
    const cursors = { event_cursor: firstIdAt('webhook_event', since), audit_cursor: firstIdAt('audit_entry', since) }
    await recordProgress(
      job,
      erasure,
      { pass: 2, campaign_cursor: 0, import_cursor: '', ...cursors },
      { due_at: job.now() + secondPassAfterMs, claimed_until: null },
    )
  } else {
    await mergeSearchIndexes(job.db)
    await recordProgress(
      job,
      erasure,
      { addresses: [], completed_at: job.now() },
      { due_at: null, claimed_until: null },
    )
  }
  return null
}

/** Works on an erasure until the run has no more time. After a crash, the next run repeats the step. */
async function runErasure(job: JobCtx, id: string): Promise<void> {
  const endsAt = Date.now() + runMs
  try {
    let erasure = (await claimErasure(job, id)) ?? null
    while (erasure && Date.now() < endsAt) erasure = await eraseNextStep(job, erasure)
  } catch (error) {
    // Another run has continued the erasure.
    if (!isLostRace(error)) throw error
  }
}

/** Continues erasures that are due, longest due first. An error in one does not stop the others. */
export async function sweepErasures(job: JobCtx): Promise<void> {
  const dueErasures = await job.db.all(
    select({ id: erasures.id })
      .from(erasures)
      .where(sql`due_at <= ${job.now()} and ${isClaimable(job.now())}`)
      .orderBy(erasures.due_at)
      .limit(erasuresPerSweep),
  )
  const errors: unknown[] = []
  for (const { id } of dueErasures) await runErasure(job, id).catch((error: unknown) => errors.push(error))
  if (errors.length) throw new Error('erasures could not be finished', { cause: errors[0] })
}
