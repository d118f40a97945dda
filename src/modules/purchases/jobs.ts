import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { requireChanges } from '../../db/commit.ts'
import { inList, inWords } from '../../db/conditions.ts'
import { purchases } from '../../db/schema/purchases.ts'
import { type RowOf, buildSelectList } from '../../db/select.ts'
import { update } from '../../db/write.ts'
import { LostRace } from '../../domain/errors.ts'
import { purchaseLifecycle } from '../../domain/orders/purchases.ts'
import { markPassesChanged } from '../wallet/index.ts'
import { commitAnnounced } from '../webhooks/index.ts'
import { purchaseEventFields, purchaseEventJoins, buildPurchaseEvent } from './announcement.ts'

const purchasesPerBatch = 500
const batchesPerSweep = 40
const maxTries = 5

const dueFields = { ...purchaseEventFields, valid_until: sql<number>`${purchases.valid_until}` }
type DuePurchase = RowOf<typeof dueFields>

/** The statuses are literals, because the partial index of due purchases names them. */
const findDuePurchases = (job: JobCtx, now: number, limit: number): Promise<DuePurchase[]> =>
  job.db.all(
    sql<DuePurchase>`select ${buildSelectList(dueFields)}
      from (select id from purchases where ${inWords(sql`status`, purchaseLifecycle.sourcesOf('expired'))}
        and valid_until is not null and valid_until <= ${now} order by valid_until limit ${limit}) as due_purchases
      join ${purchases} on ${purchases.id} = due_purchases.id ${purchaseEventJoins}`,
  )

/** Expires all of these purchases or none, and writes their webhook events in the same transaction. */
async function expirePurchases(job: JobCtx, duePurchases: readonly DuePurchase[], now: number): Promise<void> {
  const status = 'expired'
  const events = duePurchases.map((purchase) =>
    buildPurchaseEvent(purchase, { action: 'expired', status, occurredAt: purchase.valid_until }),
  )
  const ids = duePurchases.map(({ id }) => id)
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
export async function sweepPurchases(job: JobCtx, batchSize = purchasesPerBatch): Promise<void> {
  const now = job.now()
  let lostRaces = 0
  for (let batches = 0; batches < batchesPerSweep;) {
    const duePurchases = await findDuePurchases(job, now, batchSize)
    if (duePurchases.length === 0) return
    try {
      await expirePurchases(job, duePurchases, now)
    } catch (error) {
      if (!(error instanceof LostRace) || ++lostRaces >= maxTries) throw error
      continue
    }
    if (duePurchases.length < batchSize) return
    lostRaces = 0
    batches++
  }
}
