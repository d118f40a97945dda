import { env } from 'cloudflare:workers'
import { asc, eq, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../src/context.ts'
import { Database } from '../../src/db/database.ts'
import type { RefundRow } from '../../src/db/rows.ts'
import type { transactions } from '../../src/db/schema/orders.ts'
import type { purchases } from '../../src/db/schema/purchases.ts'
import { refundRequests } from '../../src/db/schema/refunds.ts'
import { transactionalEmails } from '../../src/db/schema/transactional-emails.ts'
import { select } from '../../src/db/select.ts'
import { type IdKind, newId } from '../../src/domain/ids.ts'
import { newMeter } from '../../src/domain/meter.ts'
import type { RefundFailureCode, RefundOutcome } from '../../src/gateways/payments/payments.ts'
import { payRefunds } from '../../src/modules/refund-payments/jobs.ts'
import { createContextAt } from './context.ts'
import { type Provider, createProvider } from './payment-provider.ts'
import { type EmailRow, selectEmails } from './receipts.ts'
import { db, write } from './seeding/rows.ts'
import { seedDueRefund } from './seeding/sales/refunds.ts'
import { type Trade, seedSale } from './seeding/sales/trades.ts'

export { type Conduct, type Provider, createProvider } from './payment-provider.ts'
type PurchaseRow = typeof purchases.$inferSelect
type TransactionRow = typeof transactions.$inferSelect

const requireRow = <Row>(row: Row | undefined): Row => {
  if (row === undefined) throw new Error('there is no such row')
  return row
}

export const loadRefundRow = async (id: string): Promise<RefundRow> =>
  requireRow(
    await db.first(select(getTableColumns(refundRequests)).from(refundRequests).where(eq(refundRequests.id, id))),
  )

export const loadRefundRows = (sale: Trade): Promise<RefundRow[]> =>
  db.all(
    select(getTableColumns(refundRequests))
      .from(refundRequests)
      .where(eq(refundRequests.order_id, sale.order))
      .orderBy(asc(refundRequests.id)),
  )

/** Loads statuses and amounts of the purchase, the payment and the refunds of a sale. */
export async function loadSaleState(sale: Trade) {
  const purchase = requireRow(await db.first(sql<PurchaseRow>`select * from purchases where id = ${sale.purchase}`))
  const rows = await db.all(
    sql<TransactionRow>`select * from transactions where order_id = ${sale.order} order by created_at, id`,
  )
  const payment = requireRow(rows.find(({ type }) => type === 'payment'))
  const amounts = (row: { refunded_minor: number; reserved_minor: number }) => [row.refunded_minor, row.reserved_minor]
  return {
    purchase: [purchase.status, ...amounts(purchase)],
    payment: [payment.status, ...amounts(payment)],
    refunds: rows.filter(({ type }) => type === 'refund').map(({ status, amount_minor }) => [status, amount_minor]),
  }
}

export const loadRefundEmails = (refund: string): Promise<EmailRow[]> =>
  db.all(selectEmails().where(eq(transactionalEmails.refund_request_id, refund)).orderBy(transactionalEmails.id))

/** Lists the webhooks of an organisation's purchases: action, status of the refund, status of the purchase, amount. */
export async function listAnnouncedActions(sale: { organization: string }): Promise<string[]> {
  const events = await db.all(sql<{ payload: string }>`select payload from webhook_events
    where organization_id = ${sale.organization} and kind = 'purchase.action' order by created_at, id`)
  return events.map(({ payload }) => {
    const { action, refund_request, purchase } = JSON.parse(payload).data
    return `${action}:${refund_request.status}:${purchase.status}:${refund_request.amount}`
  })
}

export const listAuditActions = async (refund: string): Promise<string[]> => {
  const rows = await db.all(sql<{ action: string }>`select action from audit_log
    where resource_id = ${refund} order by id`)
  return rows.map(({ action }) => action)
}

/** Runs the consumer on the real database with the clock and provider of the test, and can crash it at a round trip. */
export function createRefundEngine(provider: Pick<Provider, 'payments'>, now = Date.now() + 1000) {
  const state = { now }
  const enqueued: number[] = []
  /** Round trips to the database until the consumer crashes. */
  let remainingTrips = Number.POSITIVE_INFINITY
  const step = () => {
    if (--remainingTrips < 0) throw new Error('the consumer crashes')
  }
  class CrashingDatabase extends Database {
    override async all<Row>(statement: Parameters<Database['all']>[0]): Promise<Row[]> {
      step()
      return super.all(statement) as Promise<Row[]>
    }
    override async batch<const S extends Parameters<Database['batch']>[0]>(statements: S) {
      step()
      return super.batch(statements)
    }
  }
  const job: JobCtx = {
    ...createContextAt(now),
    db: new CrashingDatabase(env.DB, newMeter()),
    now: () => state.now,
    newId: (kind: IdKind) => newId(kind, state.now, Math.random),
    payments: provider.payments,
    jobQueue: {
      enqueue: async (queue, __, delay = 0) => {
        if (queue === 'refunds') enqueued.push(delay)
      },
    },
  }
  return {
    job,
    enqueued,
    advance: (ms: number) => (state.now += ms),
    run: () => payRefunds(job),
    /** Like `run`, with a crash after this many round trips. Returns whether it crashed. */
    runUntilCrash: async (trips = Number.POSITIVE_INFINITY): Promise<boolean> => {
      remainingTrips = trips
      const hasCrashed = await payRefunds(job).then(
        () => false,
        () => true,
      )
      remainingTrips = Number.POSITIVE_INFINITY
      return hasCrashed
    },
  }
}

/** States of a sale, as `loadSaleState` returns them. */
export const refundedState = {
  purchase: ['active', 10_000, 0],
  payment: ['refunded', 10_000, 0],
  refunds: [['captured', 10_000]],
}
export const cancelledState = { ...refundedState, purchase: ['refunded', 10_000, 0] }
export const unrefundedState = { purchase: ['active', 0, 0], payment: ['captured', 0, 0], refunds: [] }
export const pendingState = { purchase: ['active', 0, 10_000], payment: ['captured', 0, 10_000], refunds: [] }

export const buildRefusal = (code: RefundFailureCode): RefundOutcome => ({
  state: 'failed',
  provider_reference: null,
  code,
  message: 'No.',
  is_retryable: true,
})

/** Seeds a refund that is due, with its own provider and engine. */
export async function seedDueSale(columns: Partial<RefundRow> = {}, options: { isIdempotent?: boolean } = {}) {
  const sale = await seedSale()
  const refund = await seedDueRefund(sale, columns)
  const provider = createProvider(options)
  return { sale, refund, provider, engine: createRefundEngine(provider) }
}

/** Approves a refund again, like `retry` but without its checks. */
export const approveAgain = (sale: Trade, refund: string, at: number): Promise<void> =>
  write(
    sql`update refund_requests set status = 'approved', due_at = ${at}, version = version + 1 where id = ${refund}`,
    sql`update purchases set reserved_minor = 10000 where id = ${sale.purchase}`,
    sql`update transactions set reserved_minor = 10000 where id = ${sale.transaction}`,
  )

/** Makes sure that nothing of earlier tests is due. */
export const clearDueRefunds = (): Promise<unknown> => db.all(sql`update refund_requests set due_at = null`)
