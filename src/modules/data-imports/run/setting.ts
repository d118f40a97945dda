import { eq, getTableColumns, sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import { editions } from '../../../db/schema/editions.ts'
import { organizations } from '../../../db/schema/organizations.ts'
import { select } from '../../../db/select.ts'
import type { Grouping } from '../../../domain/data-imports/mapping/index.ts'
import type { Currency } from '../../../domain/money.ts'
import type { DuplicatePolicy } from '../../../domain/orders/external-orders.ts'
import type { OrderStatus } from '../../../domain/orders/orders.ts'
import { loadImportDefinitions, type ImportDefinitions } from '../../consents/index.ts'
import type { ImportRun } from '../../order-import/index.ts'
import type { ImportRow } from '../background/steps.ts'
import { findUnmappedTotal } from '../mapping/state.ts'
import type { MappedProduct } from './mapped-products.ts'

export const selectEdition = (id: string) =>
  select({ ...getTableColumns(editions), erasure_key: organizations.erasure_key })
    .from(editions)
    .innerJoin(organizations, eq(organizations.id, editions.organization_id))
    .where(eq(editions.id, id))

interface RunOptions {
  group_by: Grouping
  on_duplicate: DuplicatePolicy
  default_currency: Currency
  default_status: OrderStatus
  create_users: boolean
  create_missing_products: boolean
  emit_webhooks: boolean
  send_receipts: boolean
  skipped: boolean
}

export interface RunSetting {
  row: ImportRow
  edition: ImportRun['edition']
  options: RunOptions
  definitions: ImportDefinitions
  /** True if several orders of the file may have the same external id. */
  may_repeat_ids: boolean
  /** True if a column has the codes of tickets. */
  has_tickets: boolean
  /** The header of a column of totals that nobody mapped. */
  total_header: string | null
  /** The mapped products that were loaded so far, by key. */
  products: Map<string, MappedProduct | null>
}

const defaultRunOptions = {
  on_duplicate: 'skip',
  default_status: 'completed',
  create_users: true,
  create_missing_products: true,
  emit_webhooks: false,
  send_receipts: false,
  skipped: false,
} as const satisfies Partial<RunOptions>

/** Returns the name of the other system. External ids are unique within the edition and this name. */
export const getImportSource = ({ external_source, detected_source }: ImportRow): string =>
  external_source ?? detected_source?.source ?? 'csv'

function decideOptions(row: ImportRow, edition: ImportRun['edition'], hasIds: boolean): RunOptions {
  const storedOptions = row.options
  const currency = storedOptions.default_currency ?? edition.currency
  const setOptions = Object.fromEntries(
    Object.entries(storedOptions).filter(([, value]) => value !== null && value !== undefined),
  )
  return { ...defaultRunOptions, group_by: hasIds ? 'external_id' : 'row', ...setOptions, default_currency: currency }
}

export async function loadSetting(db: Database, row: ImportRow): Promise<RunSetting> {
  const [[edition], columns, constants] = await db.batch([
    selectEdition(row.edition_id),
    sql<{ source_column: string; target_field: string | null }>`select source_column, target_field
      from import_columns where import_id = ${row.id} order by source_index`,
    sql<{ target_field: string }>`select target_field from import_constants where import_id = ${row.id}`,
  ])
  if (!edition) throw new Error(`The edition of ${row.id} is missing.`)
  const names = [...columns, ...constants].flatMap(({ target_field }) => target_field ?? [])
  const prefix = 'consent.'
  const keys = names.flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []))
  const hasIds = names.includes('order.external_id')
  const options = decideOptions(row, edition, hasIds)
  return {
    row,
    edition,
    options,
    definitions: await loadImportDefinitions(db, edition, keys),
    may_repeat_ids: options.group_by !== 'external_id' && hasIds,
    has_tickets: names.includes('item.vendor_code'),
    total_header: findUnmappedTotal(columns, constants)?.source_column ?? null,
    products: new Map(),
  }
}
