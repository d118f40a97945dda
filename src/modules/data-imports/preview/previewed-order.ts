import type { Contact } from '../../../domain/accounts/users.ts'
import type { ImportRun } from '../../order-import/index.ts'
import type { Headers } from '../reports/rows.ts'
import type { PlannedOrder } from '../run/plan-orders.ts'
import type { RunSetting } from '../run/setting.ts'

export interface FieldChange {
  field: string
  before: string | number | null
  after: string | number | null
}

export interface PreviewedOrder {
  plannedOrder: PlannedOrder
  /** Null for a new customer and for an order that is not written. */
  customer_id: string | null
  /** The customer to show in an import of customers; null for one with an error. */
  customer?: Contact | null
  amount_minor: number | null
  changes: readonly FieldChange[]
  headers: Headers
}

export interface PreviewSetting {
  setting: RunSetting
  run: ImportRun
  headers: Headers
}
