import type { EditionCustomer } from '../../db/customers.ts'
import type { OrderRow } from '../../db/rows.ts'
import type { locations, options, products, variants } from '../../db/schema/catalog.ts'
import type { users } from '../../db/schema/customers.ts'
import type { editions } from '../../db/schema/editions.ts'
import type { orders, transactions } from '../../db/schema/orders.ts'
import type { purchases } from '../../db/schema/purchases.ts'
import type { IdKind } from '../../domain/ids.ts'
import type { ItemStatus } from '../../domain/orders/external-orders.ts'
import type { EditionValues, PurchaseRow, TransactionRow, UserRow } from './state.ts'

export type ImportEdition = typeof editions.$inferSelect & {
  /** The key of the organisation for hashes of order ids. */
  erasure_key: string
  /** False if a call finds the edition without products. Absent for files, whose users are asked about products. */
  has_products?: boolean
}

export interface DecisionContext {
  edition: ImportEdition
  source: string
  /** Null for a dry run. */
  import_id: string | null
  /** Milliseconds UTC. */
  now: number
  newId: (kind: IdKind) => string
}

/** `customers` are people who join the edition. */
export interface NewRows {
  users: typeof users.$inferInsert
  customers: EditionCustomer
  products: typeof products.$inferInsert
  locations: typeof locations.$inferSelect
  variants: typeof variants.$inferInsert
  options: typeof options.$inferSelect
  orders: typeof orders.$inferInsert
  transactions: typeof transactions.$inferInsert
  purchases: typeof purchases.$inferInsert
}

export interface EditionCustomerChange {
  user_id: string
  before: EditionValues
  after: EditionValues
}

type RowInsert = {
  [Table in keyof NewRows]: { write: 'insert'; table: Table; rows: readonly NewRows[Table][] }
}[keyof NewRows]

/** A change of existing rows. It fails as a lost race when the rows have changed since they were read. */
export type RowChange =
  | { write: 'user'; user: UserRow; changes: Partial<NewRows['users']> }
  | { write: 'edition-customers'; changes: readonly EditionCustomerChange[] }
  | { write: 'order'; order: OrderRow; changes: Partial<NewRows['orders']> }
  /** With empty `changes`, this only checks that nobody has changed the payment. */
  | { write: 'payment'; payment: TransactionRow; changes: Partial<NewRows['transactions']> }
  | { write: 'purchase-status'; purchases: readonly PurchaseRow[]; status: ItemStatus }
  | { write: 'purchase-details'; purchases: readonly { purchase: PurchaseRow; changes: Partial<PurchaseDetails> }[] }
  /** Passes show what their purchases are, their status and their holder. */
  | { write: 'passes'; purchase_ids: readonly string[] }

export type Write = RowInsert | RowChange

/** The columns that a purchase takes from its order. `status` is the status after a changed number of uses. */
export type PurchaseDetails = Pick<
  PurchaseRow,
  | 'user_id'
  | 'product_id'
  | 'variant_id'
  | 'location_id'
  | 'options'
  | 'vendor_code'
  | 'uses_limit'
  | 'is_unlimited_use'
  | 'valid_until'
  | 'price_minor'
  | 'deposit_minor'
  | 'handling_fee_minor'
  | 'status'
>

export const buildInsert = <Table extends keyof NewRows>(table: Table, rows: readonly NewRows[Table][]): Write[] =>
  rows.length === 0 ? [] : [{ write: 'insert', table, rows } as unknown as Write]

export const listInsertedRows = <Table extends keyof NewRows>(
  writes: readonly Write[],
  table: Table,
): NewRows[Table][] =>
  writes.flatMap((write) =>
    write.write === 'insert' && write.table === table ? (write.rows as readonly NewRows[Table][]) : [],
  )

export interface PurchaseChange {
  purchase: { id: string; vendor_code: string | null; product_id: string; variant_id: string | null }
  action: 'activated' | 'cancelled'
  status: ItemStatus
  order: { id: string; order_number: string | null }
  user: { id: string; email: string | null }
}
