import type { FieldError } from '../../domain/errors.ts'
import type { ExternalOrder, ImportAction } from '../../domain/orders/external-orders.ts'

/** An order that can be read, with its place among those of its import, and the path to it in what was sent. */
export interface NumberedOrder {
  index: number
  path: readonly PropertyKey[]
  order: ExternalOrder
  /** Its number among the staged orders of a file. */
  import_number?: number
}

export interface OrderOutcome {
  index: number
  external_id: string | null
  action: ImportAction
  order_id: string | null
  errors: readonly FieldError[]
  /** What was not as it says, of an order that is made or changed. */
  warnings: readonly FieldError[]
}
