import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import type { ExternalOrder } from '../../../domain/orders/external-orders.ts'
import { type DecidedOrder, type PlacedRow, mapOrder, toWireOrder } from '../../../domain/data-imports/mapping/index.ts'
import { normalizePhone } from '../../../domain/accounts/users.ts'
import { parseStagedRow, type ReadRow } from '../background/staged.ts'
import { findFirstRows, findFirstTickets } from './duplicate-ids.ts'
import { lookUpProducts, resolveProduct } from './mapped-products.ts'
import { type ImportProblem, buildImportProblem, toProblem } from './problems.ts'
import type { RunSetting } from './setting.ts'
import { checkExternalOrder } from '../external-orders/external-order-contract.ts'

export interface StagedOrder {
  number: number
  group_key: string
  rows_count: number
  /** Only the first row of an order with too many. */
  rows: readonly ReadRow[]
}

/** An order of the file, as far as the file alone says what it is. */
export interface ReadOrder {
  row: StagedOrder
  /** Rows with ignored products do not belong to the order. */
  kept: readonly number[]
  ignored: readonly number[]
  lines: readonly number[]
  decided: DecidedOrder | null
  /** Null for an order with a problem, which is not imported. */
  order: ExternalOrder | null
  problems: readonly ImportProblem[]
  warnings: readonly ImportProblem[]
}

interface SoldRows {
  rows: PlacedRow[]
  kept: number[]
  ignored: number[]
  problems: ImportProblem[]
}

interface ParsedRow {
  staged: ReadRow
  row: PlacedRow
}

function resolveRows(setting: RunSetting, parsed: readonly ParsedRow[]): SoldRows {
  const sold: SoldRows = { rows: [], kept: [], ignored: [], problems: [] }
  for (const { staged: one, row } of parsed) {
    const as = resolveProduct(row, setting.products, setting.options.create_missing_products)
    if (as === 'ignored') {
      sold.ignored.push(one.row_number)
      continue
    }
    sold.kept.push(one.row_number)
    sold.rows.push('row' in as ? as.row : row)
    if ('code' in as) sold.problems.push(buildImportProblem(row.line, 'item.product', as.code, as.message))
  }
  return sold
}

function checkConsents({ definitions }: RunSetting, { consents, lines }: DecidedOrder): ImportProblem[] {
  return Object.keys(consents).flatMap((key) => {
    const definition = definitions.get(key)
    const at = [lines[0] ?? 0, `consent.${key}`] as const
    if (!definition) return [buildImportProblem(...at, 'does_not_exist', 'This edition has no consent with this key.')]
    return definition.is_active ? [] : [buildImportProblem(...at, 'consent_inactive', 'This consent is not active.')]
  })
}

function normalizeOrderPhone(
  { edition }: RunSetting,
  order: ExternalOrder,
  line: number,
): ExternalOrder | ImportProblem {
  const rawPhone = order.customer.phone_number
  if (rawPhone === null) return order
  const phone_number = normalizePhone(rawPhone, edition.default_country_code)
  if (phone_number === null && order.customer.email !== null)
    return { ...order, customer: { ...order.customer, phone_number } }
  if (phone_number === null)
    return buildImportProblem(line, 'customer.phone_number', 'invalid_phone', 'This is not a phone number.')
  return { ...order, customer: { ...order.customer, phone_number } }
}

function checkOrder(
  setting: RunSetting,
  decided: DecidedOrder,
): { order: ExternalOrder | null; problems: ImportProblem[] } {
  const problems = checkConsents(setting, decided)
  const parsed = checkExternalOrder(toWireOrder(decided))
  if ('errors' in parsed)
    return { order: null, problems: [...problems, ...parsed.errors.map((error) => toProblem(decided, error))] }
  const order = normalizeOrderPhone(setting, parsed.order, decided.lines[0] ?? 0)
  if ('code' in order) problems.push(order)
  return { order: problems.length > 0 || 'code' in order ? null : order, problems }
}

function readOrder(setting: RunSetting, row: StagedOrder, parsed: readonly ParsedRow[]): ReadOrder {
  const { options } = setting
  const { rows, kept, ignored, problems } = resolveRows(setting, parsed)
  const lines = rows.map(({ line }) => line)
  const base = { row, kept, ignored, lines, decided: null, order: null, warnings: [] }
  if (rows.length === 0) return { ...base, problems: [] }
  const decision = mapOrder(rows, { ...options, row_key: row.group_key })
  const allProblems = [...problems, ...decision.errors]
  const warnings = decision.warnings.map((one) => ({ ...one, column: null, target_field: null, value: null }))
  const decided = decision.order
  if (!decided || problems.length > 0) return { ...base, decided, problems: allProblems, warnings }
  const checked = checkOrder(setting, decided)
  return { ...base, decided, order: checked.order, problems: checked.problems, warnings }
}

/** Longer orders are not read. */
export const maxRowsPerOrder = 1000

const buildTooLongOrder = (row: StagedOrder): ReadOrder => {
  const message = `${row.rows_count} rows of the file belong to this order. An order has at most ${maxRowsPerOrder} rows.`
  const problems = [buildImportProblem(row.rows[0]?.file_line ?? row.number, null, 'max_length', message)]
  return { row, kept: [], ignored: [], lines: [], decided: null, order: null, problems, warnings: [] }
}

/** Refuses orders whose external id an earlier order of the same file has. */
async function refuseDuplicates(db: Database, setting: RunSetting, read: readonly ReadOrder[]): Promise<ReadOrder[]> {
  const orders = read.flatMap(({ order }) => order ?? [])
  if (!setting.has_own_ids || orders.length === 0) return [...read]
  const ids = orders.map(({ external_id }) => external_id)
  const first = await findFirstRows(db, setting.row.id, ids)
  return read.map((one) => {
    const earlier = one.order && first.get(one.order.external_id)
    if (!earlier || earlier.group_key === one.row.group_key) return one
    const message = `The order in line ${earlier.file_line} has the same id.`
    const problem = buildImportProblem(one.lines[0] ?? 0, 'order.external_id', 'duplicate_in_file', message)
    return { ...one, order: null, problems: [problem] }
  })
}

/** Refuses orders with a ticket that an earlier order of the same file has. A code lets one ticket in. */
async function refuseSharedTickets(
  db: Database,
  setting: RunSetting,
  read: readonly ReadOrder[],
): Promise<ReadOrder[]> {
  const listTickets = ({ order, decided }: ReadOrder) =>
    order && order.status !== 'cancelled'
      ? (decided?.items ?? []).filter(({ vendor_code, status }) => vendor_code !== null && status !== 'cancelled')
      : []
  const codes = read.flatMap((one) => listTickets(one).map(({ vendor_code }) => vendor_code ?? ''))
  if (!setting.has_tickets || codes.length === 0) return [...read]
  const first = await findFirstTickets(db, setting.row.id, [...new Set(codes)])
  return read.map((one) => {
    const problems = listTickets(one).flatMap(({ vendor_code, line }): ImportProblem[] => {
      const earlier = first.get(vendor_code ?? '')
      if (!earlier || earlier.group_key === one.row.group_key) return []
      const message = `The order in line ${earlier.file_line} has a ticket with the same code "${vendor_code}".`
      return [buildImportProblem(line, 'item.vendor_code', 'duplicate_ticket_code', message)]
    })
    return problems.length > 0 ? { ...one, order: null, problems } : one
  })
}

/** Previews and imports share this. */
export async function readOrders(
  db: Database,
  setting: RunSetting,
  orders: readonly StagedOrder[],
): Promise<ReadOrder[]> {
  const parsed = orders.map((order) => ({
    order,
    rows: order.rows.map((staged): ParsedRow => ({ staged, row: parseStagedRow(staged) })),
  }))
  const placed = parsed.flatMap(({ rows }) => rows.map(({ row }) => row))
  await lookUpProducts(db, setting.row.id, placed, setting.products)
  const read = parsed.map(({ order, rows }) =>
    order.rows_count > maxRowsPerOrder ? buildTooLongOrder(order) : readOrder(setting, order, rows),
  )
  return refuseSharedTickets(db, setting, await refuseDuplicates(db, setting, read))
}

export interface RowOfOrder extends ReadRow {
  number: number
  group_key: string
  rows_count: number
}

/** A single order may have more rows. */
const rowsPerRead = 2000

/** Selects fewer orders if their rows are many. */
export const selectOrdersAfter = (importId: string, after: number, limit: number): SQL =>
  sql`select number, group_key, rows_count from (
      select number, group_key, rows_count,
        sum(iif(rows_count <= ${sql.raw(String(maxRowsPerOrder))}, rows_count, 1))
          over (order by number rows between unbounded preceding and 1 preceding) as rows_before
      from (select number, group_key, rows_count from import_orders
        where import_id = ${importId} and number > ${after} order by number limit ${sql.raw(String(limit))}))
    where coalesce(rows_before, 0) < ${sql.raw(String(rowsPerRead))}`

/** Selects only the first row of an order with too many. */
export const selectRowsOfOrders = (importId: string, chosen: SQL) =>
  sql<RowOfOrder>`with its as materialized (${chosen})
    select its.number, its.group_key, its.rows_count, own.row_number, own.file_line, own.data, own.errors
    from its cross join import_rows as own indexed by import_rows_of_order
      on own.import_id = ${importId} and own.group_key = its.group_key
        and own.row_number <= iif(its.rows_count <= ${sql.raw(String(maxRowsPerOrder))}, ${Number.MAX_SAFE_INTEGER}, its.number)
    order by its.number, own.row_number`

export const groupOrders = (rows: readonly RowOfOrder[]): StagedOrder[] =>
  [...Map.groupBy(rows, ({ number }) => number)].flatMap(([number, own]) => {
    const [first] = own
    return first ? { number, group_key: first.group_key, rows_count: first.rows_count, rows: own } : []
  })

export const loadOrders = async (db: Database, importId: string, chosen: SQL): Promise<StagedOrder[]> =>
  groupOrders(await db.all(selectRowsOfOrders(importId, chosen)))
