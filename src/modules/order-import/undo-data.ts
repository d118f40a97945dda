import type { OrderRow } from '../../db/rows.ts'
import type { Contact } from '../../domain/accounts/users.ts'
import type { PaymentAmounts } from '../../domain/data-imports/imported-amounts.ts'
import type { OrderOutcome } from './check.ts'
import type { EditionValues, ImportState, PurchaseRow, TransactionRow } from './state.ts'
import { listInsertedRows, type PurchaseDetails, type Write } from './writes.ts'

/** The changes of an import to a person. */
export interface PersonUndo {
  id: string
  is_new: boolean
  /** Fields that were empty, with their new values. */
  filled_fields: Partial<Contact>
  /** Metadata that were added. */
  filled_metadata?: Record<string, unknown>
  /**
   * The person's values in the edition. `before` is null for a person who joined the edition. All of it is null for a
   * new person, and when these values did not change.
   */
  edition_values: { before: EditionValues | null; after: EditionValues } | null
}

export interface AddedCatalogue {
  products: string[]
  locations: string[]
  variants: string[]
  options: string[]
}

type PurchaseUndo = Pick<PurchaseRow, 'id' | 'status' | 'valid_until'> & {
  /** The version after the import. */
  version: number
  /** The version before the import; left out if the import did not change the purchase. */
  former_version?: number
  /** The former values of what the import changed; left out if it changed nothing but the status. */
  details?: Partial<PurchaseDetails>
}

/** The values that an update replaced. */
export interface UpdateUndo {
  /** When the import wrote the order, in milliseconds UTC. */
  written_at: number
  /** Columns that the update changed, with their former values. */
  order: Partial<OrderRow>
  payment: { id: string; before: Partial<TransactionRow>; after: PaymentAmounts } | null
  /** All purchases that the order had, including unchanged ones. */
  purchases: PurchaseUndo[]
  /** Ids of purchases that the update added. */
  added_purchases: string[]
}

/** The data that an undo needs to take an order of an import back. `import_orders.undo_data` stores it. */
export interface UndoData {
  /** Null for a new order. */
  updated: UpdateUndo | null
  people: PersonUndo[]
  catalogue: AddedCatalogue
}

export interface OrderRecord {
  outcome: OrderOutcome
  /** The order's version after the import. Null, like `undo`, when nothing was written. */
  order_version: number | null
  undo: UndoData | null
}

/** Keys of ids of products, variants and options, also inside carts, and of customers. */
const replacedKeys: readonly string[] = ['product_id', 'variant_id', 'api_id', 'user_id']

/**
 * `replacedIds` has the ids of products, variants, options and customers that were merged, each with the id that replaces
 * it. What the import wrote to a customer who was merged since stays.
 */
export function parseUndoData(text: string, replacedIds: ReadonlyMap<string, string>): UndoData {
  const replaceId = (id: string): string => {
    const other = replacedIds.get(id)
    return other === undefined ? id : replaceId(other)
  }
  const revive = (key: string, value: unknown): unknown => {
    if (key === 'people') return (value as PersonUndo[]).filter(({ id }) => !replacedIds.has(id))
    return typeof value === 'string' && replacedKeys.includes(key) ? replaceId(value) : value
  }
  return JSON.parse(text, replacedIds.size > 0 ? revive : undefined) as UndoData
}

export const createEmptyCatalogue = (): AddedCatalogue => ({ products: [], locations: [], variants: [], options: [] })

export const listAddedCatalogue = (writes: readonly Write[]): AddedCatalogue => ({
  products: listInsertedRows(writes, 'products').map(({ id }) => id),
  locations: listInsertedRows(writes, 'locations').map(({ id }) => id),
  variants: listInsertedRows(writes, 'variants').map(({ id }) => id),
  options: listInsertedRows(writes, 'options').map(({ id }) => id),
})

const pick = <Row extends object>(row: Row, names: readonly string[]): Partial<Row> =>
  Object.fromEntries(names.map((name) => [name, row[name as keyof Row]])) as Partial<Row>

function recordPayment(writes: readonly Write[]): UpdateUndo['payment'] {
  const write = writes.find((candidate) => candidate.write === 'payment')
  if (!write) return null
  const { payment, changes } = write
  const { status, amount_minor, refunded_minor, reserved_minor } = { ...payment, ...changes }
  return {
    id: payment.id,
    before: pick(payment, Object.keys(changes)),
    after: { status, amount_minor, refunded_minor, reserved_minor },
  }
}

/** Counts by how much the writes increase the version of each purchase. */
function countVersionIncreases(writes: readonly Write[]): Map<string, number> {
  const ids = writes.flatMap((write) => {
    if (write.write === 'purchase-details') return write.purchases.map(({ purchase }) => purchase.id)
    return write.write === 'purchase-status' ? write.purchases.map(({ id }) => id) : []
  })
  return new Map([...Map.groupBy(ids, (id) => id)].map(([id, increases]) => [id, increases.length]))
}

function listFormerDetails(writes: readonly Write[]): Map<string, Partial<PurchaseDetails>> {
  const changedPurchases = writes.flatMap((write) => (write.write === 'purchase-details' ? write.purchases : []))
  return new Map(
    changedPurchases.map(({ purchase, changes }) => [
      purchase.id,
      pick<PurchaseDetails>(purchase, Object.keys(changes)),
    ]),
  )
}

export function recordUpdate(state: ImportState, existingOrder: OrderRow, writes: readonly Write[]): UpdateUndo {
  const change = writes.find((candidate) => candidate.write === 'order')
  const { modified_at = existingOrder.modified_at, ...changes } = change?.changes ?? {}
  const versionIncreases = countVersionIncreases(writes)
  const formerDetails = listFormerDetails(writes)
  return {
    written_at: modified_at,
    order: pick(existingOrder, Object.keys(changes)),
    payment: recordPayment(writes),
    purchases: (state.purchases.get(existingOrder.id) ?? []).map(({ id, status, valid_until, version }) => {
      const details = formerDetails.get(id)
      const increase = versionIncreases.get(id) ?? 0
      return {
        id,
        status,
        valid_until,
        version: version + increase,
        ...(increase > 0 ? { former_version: version } : {}),
        ...(details ? { details } : {}),
      }
    }),
    added_purchases: listInsertedRows(writes, 'purchases').map(({ id }) => id),
  }
}
