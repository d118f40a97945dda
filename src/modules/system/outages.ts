import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import type { OutageRow } from '../../db/outages.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import { selectCampaignWaits } from '../campaigns/index.ts'
import { selectRefundWaits } from '../refund-payments/index.ts'
import { selectEmailWaits } from '../transactional-emails/index.ts'
import { selectPassWaits } from '../wallet/index.ts'
import { selectEndpointWaits } from '../webhooks/index.ts'

/** A line of a sweep for the log, such as the beginning or the end of a failure. */
export interface SweepNotice {
  message: string
  details: Record<string, unknown>
}

const getKey = ({ service, resource_id }: OutageRow): string => `${service} ${resource_id}`

/** Several things may wait for one service. The outage began with the first of them. */
function mergeWaits(waits: readonly OutageRow[]): Map<string, OutageRow> {
  const outages = new Map<string, OutageRow>()
  for (const wait of waits.toSorted((a, b) => a.since - b.since))
    if (!outages.has(getKey(wait))) outages.set(getKey(wait), wait)
  return outages
}

const describeOutage = ({ service, resource_id, reason, since, next_attempt_at }: OutageRow) => ({
  service,
  ...(resource_id === '' ? {} : { resource_id }),
  reason,
  waiting_since: toIso(since),
  next_attempt_at: toIsoOrNull(next_attempt_at),
})

const saveOutages = (outages: readonly OutageRow[]): Statement =>
  sql`insert into service_outages (service, resource_id, reason, since, next_attempt_at)
    select value ->> 'service', value ->> 'resource_id', value ->> 'reason', value ->> 'since', value ->> 'next_attempt_at'
    from json_each(${JSON.stringify(outages)}) where true on conflict (service, resource_id) do update set
      reason = excluded.reason, next_attempt_at = excluded.next_attempt_at`

const removeOutages = (outages: readonly OutageRow[]): Statement => {
  const keys = JSON.stringify(outages.map(({ service, resource_id }) => [service, resource_id]))
  return sql`delete from service_outages
    where (service, resource_id) in (select value ->> 0, value ->> 1 from json_each(${keys}))`
}

const hasChanged = (outage: OutageRow, storedOutage: OutageRow | undefined): boolean =>
  storedOutage?.reason !== outage.reason || storedOutage.next_attempt_at !== outage.next_attempt_at

/** Compares what waits for a service with what waited a minute ago. Returns what began and what ended, for the log. */
export async function sweepOutages(job: JobCtx): Promise<SweepNotice[]> {
  const [storedOutages, ...waits] = await job.db.batch([
    sql<OutageRow>`select service, resource_id, reason, since, next_attempt_at from service_outages`,
    selectCampaignWaits,
    selectEmailWaits,
    selectRefundWaits,
    selectPassWaits,
    selectEndpointWaits,
  ])
  const outages = mergeWaits(waits.flat())
  const outagesByKey = new Map(storedOutages.map((outage) => [getKey(outage), outage]))
  const changedOutages = [...outages.values()].filter((outage) => hasChanged(outage, outagesByKey.get(getKey(outage))))
  const endedOutages = storedOutages.filter((outage) => !outages.has(getKey(outage)))
  const statements = [
    ...(changedOutages.length ? [saveOutages(changedOutages)] : []),
    ...(endedOutages.length ? [removeOutages(endedOutages)] : []),
  ]
  if (statements.length) await job.db.batch(statements)
  return [
    ...changedOutages
      .filter((outage) => !outagesByKey.has(getKey(outage)))
      .map((outage) => ({ message: 'A service fails.', details: describeOutage(outage) })),
    ...endedOutages.map((outage) => ({ message: 'A service works again.', details: describeOutage(outage) })),
  ]
}
