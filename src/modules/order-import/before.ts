import type { PaymentAmounts } from '../../domain/data-imports/imported-amounts.ts'
import type { OrderOutcome } from './judge.ts'
import type { EditionValues, ImportState, PurchaseRow, TransactionRow } from './state.ts'
import { listInsertedRows, type PurchaseDetails, type Write } from './writes.ts'
import type { OrderRow } from '../../db/schema/sales/orders.ts'
import type { Contact } from '../../domain/accounts/users.ts'

export interface PersonBefore {
  id: string
  is_new: boolean
  /** Fields that were empty, with their new values. */
  filled: Partial<Contact>
  /** The values of the edition; `before` is null without any. Null for a new or unchanged person. */
  said: { before: EditionValues | null; after: EditionValues } | null
}

export interface AddedCatalogue {
  products: string[]
  locations: string[]
  variants: string[]
  options: string[]
}

type PurchaseBefore = Pick<PurchaseRow, 'id' | 'status' | 'valid_until'> & {
  /** The version after the import. */
  version: number
  /** The former values of what the import changed; left out if it changed nothing but the status. */
  details?: Partial<PurchaseDetails>
}

export interface UpdatedBefore {
  order: Partial<OrderRow>
  payment: { id: string; before: Partial<TransactionRow>; after: PaymentAmounts } | null
  /** All purchases of the order, also unchanged ones. */
  purchases: PurchaseBefore[]
  added: string[]
}

export interface OrderBefore {
  /** Null for a new order. */
  updated: UpdatedBefore | null
  people: PersonBefore[]
  catalogue: AddedCatalogue
}

export interface RecordedOrder {
  outcome: OrderOutcome
  /** Null, like `before`, if nothing was written. */
  order_version: number | null
  before: OrderBefore | null
}

export const readBefore = (text: string): OrderBefore => JSON.parse(text) as OrderBefore

export const createAddedCatalogue = (): AddedCatalogue => ({ products: [], locations: [], variants: [], options: [] })

export const listAddedCatalogue = (writes: readonly Write[]): AddedCatalogue => ({
  products: listInsertedRows(writes, 'products').map(({ id }) => id),
  locations: listInsertedRows(writes, 'locations').map(({ id }) => id),
  variants: listInsertedRows(writes, 'variants').map(({ id }) => id),
  options: listInsertedRows(writes, 'options').map(({ id }) => id),
})

const pick = <Row extends object>(row: Row, names: readonly string[]): Partial<Row> =>
  Object.fromEntries(names.map((name) => [name, row[name as keyof Row]])) as Partial<Row>

function recordPayment(writes: readonly Write[]): UpdatedBefore['payment'] {
  const write = writes.find((one) => one.write === 'payment')
  if (!write) return null
  const { payment, changes } = write
  const { status, amount_minor, refunded_minor, reserved_minor } = { ...payment, ...changes }
  return {
    id: payment.id,
    before: pick(payment, Object.keys(changes)),
    after: { status, amount_minor, refunded_minor, reserved_minor },
  }
}

/** How often the writes raise the version of each purchase. */
function countRaises(writes: readonly Write[]): Map<string, number> {
  const ids = writes.flatMap((one) => {
    if (one.write === 'purchase-details') return one.purchases.map(({ purchase }) => purchase.id)
    return one.write === 'purchase-status' ? one.purchases.map(({ id }) => id) : []
  })
  return new Map([...Map.groupBy(ids, (id) => id)].map(([id, raises]) => [id, raises.length]))
}

function listFormerDetails(writes: readonly Write[]): Map<string, Partial<PurchaseDetails>> {
  const changed = writes.flatMap((one) => (one.write === 'purchase-details' ? one.purchases : []))
  return new Map(
    changed.map(({ purchase, changes }) => [purchase.id, pick<PurchaseDetails>(purchase, Object.keys(changes))]),
  )
}

export function recordUpdate(state: ImportState, existing: OrderRow, writes: readonly Write[]): UpdatedBefore {
  const change = writes.find((one) => one.write === 'order')
  const { modified_at: _, ...changes } = change?.changes ?? {}
  const raises = countRaises(writes)
  const formerDetails = listFormerDetails(writes)
  return {
    order: pick(existing, Object.keys(changes)),
    payment: recordPayment(writes),
    purchases: (state.purchases.get(existing.id) ?? []).map(({ id, status, valid_until, version }) => {
      const details = formerDetails.get(id)
      const before = { id, status, valid_until, version: version + (raises.get(id) ?? 0) }
      return details ? { ...before, details } : before
    }),
    added: listInsertedRows(writes, 'purchases').map(({ id }) => id),
  }
}
