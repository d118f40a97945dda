import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { takeFromIntervals } from '../../../db/lists/intervals/write-intervals.ts'
import { takeFromSpans } from '../../../db/lists/spans/settle-spans.ts'
import {
  recountNext,
  recountNextIntervals,
  settleNext,
  settleNextScopes,
  sweepScopes,
} from '../../../db/settle-lists.ts'
import { intervalSizes } from '../../../db/lists/intervals/settle-intervals.ts'
import { inList } from '../../../db/visibility.ts'
import { firstIdAt } from '../../../domain/ids.ts'
import { deliveryLifecycle } from '../../../domain/webhooks/webhooks.ts'
import { packEndpoints, packSizes, takeEmptyPacks } from '../delivery-lists/packs.ts'
import { deliverySpans } from '../delivery-lists/spans.ts'
import { deliveryIntervals, endpointsWithMany } from '../delivery-lists/intervals.ts'

/** The events and the deliveries of one statement, and the transactions of one sweep. The next sweep deletes the rest. */
const rowsABatch = 200
const batchesASweep = 20

/** Deliveries whose attempts may be under way or due. */
const openStatuses = deliveryLifecycle.sourcesOf('success')

/**
 * Deletes events whose time is over with their deliveries and attempts, the oldest first. An event with a delivery that
 * is still tried waits until the delivery has ended.
 */
export async function sweepEvents(job: Pick<JobCtx, 'db' | 'now' | 'config'>): Promise<void> {
  const { db, now, config } = job
  const before = firstIdAt('webhook_event', now() - config.kept.webhooks)
  const ended = (deliveries: SQL): SQL => sql`not ${inList(sql`${deliveries}.status`, openStatuses)}`
  for (let batch = 0; batch < batchesASweep; batch++) {
    const found = await db.all(sql<{ event_id: string; id: string | null }>`select old.id as event_id, deliveries.id
      from (select id from webhook_events where id < ${before} order by id limit ${rowsABatch}) as old
        left join webhook_deliveries as deliveries on deliveries.event_id = old.id and ${ended(sql`deliveries`)}
      limit ${rowsABatch}`)
    if (found.length === 0) return
    const ids = found.flatMap(({ id }) => id ?? [])
    const areOld = sql`${inList(sql`webhook_deliveries.id`, ids)} and ${ended(sql`webhook_deliveries`)}`
    const [, , , , deliveries, events] = await db.batch([
      ...takeFromSpans(deliverySpans, areOld),
      takeFromIntervals(deliveryIntervals, areOld),
      takeEmptyPacks(areOld),
      sql`delete from webhook_deliveries where ${areOld} returning 1`,
      sql`delete from webhook_events where ${inList(
        sql`id`,
        found.map(({ event_id }) => event_id),
      )} and not exists (select 1 from webhook_deliveries where event_id = webhook_events.id) returning 1`,
    ])
    if (found.length < rowsABatch || deliveries.length + events.length === 0) return
  }
}

/** Counts deliveries that are some minutes old, so that lists need not. */
export const settleDeliveries = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> =>
  settleNext(job, deliverySpans, async (from, most) => {
    const found = await job.db.all(
      sql<{ id: string }>`select id from webhook_endpoints where id >= ${from} order by id limit ${most}`,
    )
    return found.map(({ id }) => id)
  })

export const recountDeliveries = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> => recountNext(job, deliverySpans)

/** Fewer deliveries of an endpoint are read one by one for a page. */
const deliverySizes = { ...intervalSizes, fewestRows: 5000 }

/** Counts deliveries in intervals, as orders are. */
export const settleDeliveryIntervals = (job: Pick<JobCtx, 'db' | 'now'>, sizes = deliverySizes): Promise<void> =>
  settleNextScopes(job, deliveryIntervals, {
    name: 'settle delivery intervals',
    sizes,
    findNext: (from, most) => endpointsWithMany(job.db, { from, most, fewest: sizes.fewestRows }),
  })

/** Packs deliveries of the next endpoints that have many. */
export const packDeliveries = (job: Pick<JobCtx, 'db' | 'now'>, sizes = packSizes): Promise<void> =>
  sweepScopes(job, {
    name: 'pack deliveries',
    findNext: (from, most) => endpointsWithMany(job.db, { from, most, fewest: sizes.fewestRows }),
    settle: (endpoints) => packEndpoints(job, endpoints, sizes),
  })

export const recountDeliveryIntervals = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> =>
  recountNextIntervals(job, deliveryIntervals, 'recount delivery intervals')
