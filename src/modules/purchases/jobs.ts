import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { requireChanges } from '../../db/commit.ts'
import { purchases } from '../../db/schema/sales/orders.ts'
import { type RowOf, buildSelectList } from '../../db/select.ts'
import { inList, inWords } from '../../db/visibility.ts'
import { update } from '../../db/write.ts'
import { LostRace } from '../../domain/errors.ts'
import { purchaseLifecycle } from '../../domain/orders/purchases.ts'
import { markPassesChanged } from '../wallet/index.ts'
import { commitAnnounced } from '../webhooks/index.ts'
import { purchaseEventFields, purchaseEventJoins, buildPurchaseEvent } from './announcement.ts'

const purchasesABatch = 500
const batchesASweep = 40
const maxTries = 5

const dueFields = { ...purchaseEventFields, valid_until: sql<number>`${purchases.valid_until}` }
type DuePurchase = RowOf<typeof dueFields>

/** The statuses are literals, because the partial index of due purchases names them. */
const findDue = (job: JobCtx, now: number, limit: number): Promise<DuePurchase[]> =>
  job.db.all(
    sql<DuePurchase>`select ${buildSelectList(dueFields)}
      from (select id from purchases where ${inWords(sql`status`, purchaseLifecycle.sourcesOf('expired'))}
        and valid_until is not null and valid_until <= ${now} order by valid_until limit ${limit}) as due
      join ${purchases} on ${purchases.id} = due.id ${purchaseEventJoins}`,
  )

/** Expires all of these purchases or none, and writes their webhook events in the same transaction. */
async function expire(job: JobCtx, due: readonly DuePurchase[], now: number): Promise<void> {
  const status = 'expired'
  const events = due.map((purchase) =>
    buildPurchaseEvent(purchase, { action: 'expired', status, occurredAt: purchase.valid_until }),
  )
  const ids = due.map(({ id }) => id)
  const statements = [
    update(
      purchases,
      { status, modified_at: now, version: sql`${purchases.version} + 1` },
      sql`${inList(sql`id`, ids)} and ${inList(sql`status`, purchaseLifecycle.sourcesOf(status))}
        and valid_until <= ${now}`,
    ),
    requireChanges(ids.length),
    markPassesChanged(ids, now),
  ]
  await commitAnnounced(job, statements, events)
}

/**
 * Expires purchases whose validity is over, in batches, once a minute. It reads a batch again when another sweep has
 * expired some of it or an order was cancelled meanwhile.
 */
export async function sweepPurchases(job: JobCtx, batch = purchasesABatch): Promise<void> {
  const now = job.now()
  let lostRaces = 0
  for (let done = 0; done < batchesASweep;) {
    const due = await findDue(job, now, batch)
    if (due.length === 0) return
    try {
      await expire(job, due, now)
    } catch (error) {
      if (!(error instanceof LostRace) || ++lostRaces >= maxTries) throw error
      continue
    }
    if (due.length < batch) return
    lostRaces = 0
    done++
  }
}
