import { env } from 'cloudflare:workers'
import { asc, eq, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../src/context.ts'
import { Database } from '../../src/db/database.ts'
import type { purchases, transactions } from '../../src/db/schema/sales/orders.ts'
import { transactionalEmails } from '../../src/db/schema/messaging/transactional-emails.ts'
import { refundRequests, type RefundRow } from '../../src/db/schema/sales/refunds.ts'
import { select } from '../../src/db/select.ts'
import { type IdKind, newId } from '../../src/domain/ids.ts'
import { newMeter } from '../../src/domain/meter.ts'
import type { RefundFailureCode, RefundOutcome } from '../../src/gateways/payments/payments.ts'
import { payRefunds } from '../../src/modules/refund-payments/jobs.ts'
import { contextAt } from './context.ts'
import { type Provider, providerOf } from './payment-provider.ts'
import { type EmailRow, selectEmails } from './receipts.ts'
import { db, write } from './seeding/rows.ts'
import { type Trade, seedSale } from './seeding/sales/trades.ts'
import { seedDueRefund } from './seeding/sales/refunds.ts'

export { type Conduct, type Provider, providerOf } from './payment-provider.ts'
type PurchaseRow = typeof purchases.$inferSelect
type TransactionRow = typeof transactions.$inferSelect

const found = <Row>(row: Row | undefined): Row => {
  if (row === undefined) throw new Error('there is no such row')
  return row
}

export const refundRow = async (id: string): Promise<RefundRow> =>
  found(await db.first(select(getTableColumns(refundRequests)).from(refundRequests).where(eq(refundRequests.id, id))))

/** The refunds of a sale, in the order in which they were made. */
export const refundsOf = (sale: Trade): Promise<RefundRow[]> =>
  db.all(
    select(getTableColumns(refundRequests))
      .from(refundRequests)
      .where(eq(refundRequests.order_id, sale.order))
      .orderBy(asc(refundRequests.id)),
  )

/** What stands of a sale: its purchase, its payment, and the rows of refunds beside that. */
export async function stateOf(sale: Trade) {
  const purchase = found(await db.first(sql<PurchaseRow>`select * from purchases where id = ${sale.purchase}`))
  const rows = await db.all(
    sql<TransactionRow>`select * from transactions where order_id = ${sale.order} order by created_at, id`,
  )
  const payment = found(rows.find(({ type }) => type === 'payment'))
  const amounts = (row: { refunded_minor: number; reserved_minor: number }) => [row.refunded_minor, row.reserved_minor]
  return {
    purchase: [purchase.status, ...amounts(purchase)],
    payment: [payment.status, ...amounts(payment)],
    refunds: rows.filter(({ type }) => type === 'refund').map(({ status, amount_minor }) => [status, amount_minor]),
  }
}

export const refundEmailsOf = (refund: string): Promise<EmailRow[]> =>
  db.all(selectEmails().where(eq(transactionalEmails.refund_request_id, refund)).orderBy(transactionalEmails.id))

/** The actions that were announced of an organisation's purchases, with the statuses of refund and purchase after them. */
export async function actionsOf(sale: { organization: string }): Promise<string[]> {
  const events = await db.all(sql<{ payload: string }>`select payload from webhook_events
    where organization_id = ${sale.organization} order by created_at, id`)
  return events.map(({ payload }) => {
    const { action, refund_request, purchase } = JSON.parse(payload).data
    return `${action}:${refund_request.status}:${purchase.status}:${refund_request.amount}`
  })
}

export const auditOf = async (refund: string): Promise<string[]> => {
  const rows = await db.all(sql<{ action: string }>`select action from audit_log
    where resource_id = ${refund} order by id`)
  return rows.map(({ action }) => action)
}

/** The engine on the real database, with a clock and a provider of the test, and with crashes at given round trips. */
export function refundEngine(provider: Pick<Provider, 'payments'>, now = Date.now() + 1000) {
  const state = { now }
  const enqueued: number[] = []
  /** Round trips to the database until the consumer dies. */
  let life = Number.POSITIVE_INFINITY
  const step = () => {
    if (--life < 0) throw new Error('the consumer dies')
  }
  class Mortal extends Database {
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
    ...contextAt(now),
    db: new Mortal(env.DB, newMeter()),
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
    /** As `run`, with a crash after so many round trips. Returns whether it happened. */
    runDying: async (trips = Number.POSITIVE_INFINITY): Promise<boolean> => {
      life = trips
      const hasDied = await payRefunds(job).then(
        () => false,
        () => true,
      )
      life = Number.POSITIVE_INFINITY
      return hasDied
    },
  }
}

/** What `stateOf` answers of a sale that was paid back, that was not, and whose refund is under way. */
export const paidBack = {
  purchase: ['active', 10_000, 0],
  payment: ['refunded', 10_000, 0],
  refunds: [['captured', 10_000]],
}
export const cancelledAndPaidBack = { ...paidBack, purchase: ['refunded', 10_000, 0] }
export const untouched = { purchase: ['active', 0, 0], payment: ['captured', 0, 0], refunds: [] }
export const underWay = { purchase: ['active', 0, 10_000], payment: ['captured', 0, 10_000], refunds: [] }

export const refusedFor = (code: RefundFailureCode): RefundOutcome => ({
  state: 'failed',
  provider_reference: null,
  code,
  message: 'No.',
  is_retryable: true,
})

/** A refund that is due, with a provider and an engine of its own. */
export async function seedDue(columns: Partial<RefundRow> = {}, options: { isIdempotent?: boolean } = {}) {
  const sale = await seedSale()
  const refund = await seedDueRefund(sale, columns)
  const provider = providerOf(options)
  return { sale, refund, provider, engine: refundEngine(provider) }
}

/** As `retry` does, without its guards. */
export const approveAgain = (sale: Trade, refund: string, at: number): Promise<void> =>
  write(
    sql`update refund_requests set status = 'approved', due_at = ${at}, version = version + 1 where id = ${refund}`,
    sql`update purchases set reserved_minor = 10000 where id = ${sale.purchase}`,
    sql`update transactions set reserved_minor = 10000 where id = ${sale.transaction}`,
  )

/** Nothing of earlier tests is due. */
export const settleAll = (): Promise<unknown> => db.all(sql`update refund_requests set due_at = null`)
