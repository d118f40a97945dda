import type { OrderRow } from '../../src/db/rows.ts'
import { isPaid } from '../../src/domain/orders/orders.ts'
import type {
  EditionValues,
  ImportState,
  PurchaseRow,
  TransactionRow,
  UserRow,
} from '../../src/modules/order-import/state.ts'
import { listInsertedRows, type Write } from '../../src/modules/order-import/writes.ts'

/** Tables in memory that apply the writes of decisions as the database does. */
export class ImportedTables {
  readonly orders = new Map<string, OrderRow>()
  readonly purchases = new Map<string, PurchaseRow>()
  readonly payments = new Map<string, TransactionRow>()
  readonly users = new Map<string, UserRow>()
  readonly #named = { products: new Map(), variants: new Map(), locations: new Map(), options: new Map() }

  apply(writes: readonly Write[]): void {
    for (const row of listInsertedRows(writes, 'users'))
      this.users.set(row.id, { ...row, is_protected: 0, edition_values: null } as UserRow)
    for (const { user_id, email, phone_number, first_name, last_name, locale, metadata } of listInsertedRows(
      writes,
      'customers',
    ))
      this.#setValues(user_id, { email, phone_number, first_name, last_name, locale, metadata } as EditionValues)
    for (const row of listInsertedRows(writes, 'products')) this.#named.products.set(row.name_folded, row)
    for (const row of listInsertedRows(writes, 'orders')) this.orders.set(row.id, row as OrderRow)
    for (const row of listInsertedRows(writes, 'transactions'))
      this.payments.set(row.order_id, { reserved_minor: 0, ...row } as TransactionRow)
    for (const row of listInsertedRows(writes, 'purchases'))
      this.purchases.set(row.id, {
        version: 1,
        uses_count: 0,
        refunded_minor: 0,
        reserved_minor: 0,
        ...row,
      } as PurchaseRow)
    for (const write of writes) this.#change(write)
  }

  #change(one: Write): void {
    if (one.write === 'user') this.users.set(one.user.id, { ...one.user, ...one.changes })
    if (one.write === 'edition-customers') for (const { user_id, after } of one.changes) this.#setValues(user_id, after)
    if (one.write === 'order')
      this.orders.set(one.order.id, { ...one.order, ...one.changes, version: one.order.version + 1 })
    if (one.write === 'payment') this.payments.set(one.payment.order_id, { ...one.payment, ...one.changes })
    if (one.write === 'purchase-status')
      for (const { id } of one.purchases) this.setPurchase(id, { status: one.status })
    if (one.write === 'purchase-details')
      for (const { purchase, changes } of one.purchases) this.setPurchase(purchase.id, changes)
  }

  #setValues(userId: string, edition_values: EditionValues): void {
    const user = this.users.get(userId)
    if (!user) throw new Error(`no customer ${userId}`)
    this.users.set(userId, { ...user, edition_values })
  }

  setPurchase(id: string, change: Partial<PurchaseRow>): void {
    const row = this.purchases.get(id)
    if (!row) throw new Error(`no purchase ${id}`)
    this.purchases.set(id, { ...row, ...change })
  }

  /** Reserves up to this amount of an order's payment for a refund. */
  reserve(orderId: string, minor: number): void {
    const payment = this.payments.get(orderId)
    if (!payment || !isPaid(payment.status)) return
    const reserved_minor = Math.min(minor, payment.amount_minor - payment.refunded_minor)
    this.payments.set(orderId, { ...payment, reserved_minor })
  }

  purchasesOf(orderId: string): PurchaseRow[] {
    return [...this.purchases.values()].filter(({ order_id }) => order_id === orderId)
  }

  state(): ImportState {
    const users = [...this.users.values()]
    return {
      orders: new Map([...this.orders.values()].map((row) => [row.external_id ?? '', row])),
      purchases: Map.groupBy(this.purchases.values(), ({ order_id }) => order_id),
      payments: this.payments,
      usersByEmail: new Map(users.flatMap((user) => (user.email === null ? [] : [[user.email, user]]))),
      usersByPhone: new Map(users.flatMap((user) => (user.phone_number === null ? [] : [[user.phone_number, user]]))),
      orderPeople: users,
      names: new Map(),
      ...this.#named,
    }
  }
}
