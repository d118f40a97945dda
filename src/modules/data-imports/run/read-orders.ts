import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import { type DecidedOrder, type PlacedRow, mapOrder, toWireOrder } from '../../../domain/data-imports/mapping/index.ts'
import type { ExternalOrder } from '../../../domain/orders/external-orders.ts'
import { parseStagedRow, type RawStagedRow } from '../background/staged.ts'
import { checkConsents, normalizeCustomerPhone } from '../external-orders/check-edition.ts'
import { checkExternalOrder } from '../external-orders/external-order-contract.ts'
import { findFirstRows, findFirstTickets } from './duplicate-ids.ts'
import { loadMappedProducts, resolveProduct } from './mapped-products.ts'
import { type ImportProblem, buildImportProblem, toProblem } from './problems.ts'
import type { RunSetting } from './setting.ts'

export interface StagedOrder {
  number: number
  group_key: string
  rows_count: number
  /** An order with more than `maxRowsPerOrder` rows has only its first row here. */
  rows: readonly RawStagedRow[]
}

/** An order of the file after its mapping, before anything is compared with the database. */
export interface FileOrder {
  stagedOrder: StagedOrder
  /** Numbers of the rows that make up the order. `lines` has their lines, in the same order. */
  rowNumbers: readonly number[]
  lines: readonly number[]
  /** Numbers of rows that are left out, because the mapping ignores their product. */
  ignoredRowNumbers: readonly number[]
  /** The order as the mapping reads it; null when the mapping fails. */
  mappedOrder: DecidedOrder | null
  /** The order as the engine imports it; null for an order with a problem, which is not imported. */
  order: ExternalOrder | null
  problems: readonly ImportProblem[]
  warnings: readonly ImportProblem[]
}

interface ResolvedRows {
  rows: PlacedRow[]
  rowNumbers: number[]
  ignoredRowNumbers: number[]
  problems: ImportProblem[]
}

interface ParsedRow {
  stagedRow: RawStagedRow
  row: PlacedRow
}

function resolveRows(setting: RunSetting, parsedRows: readonly ParsedRow[]): ResolvedRows {
  const resolvedRows: ResolvedRows = { rows: [], rowNumbers: [], ignoredRowNumbers: [], problems: [] }
  for (const { stagedRow: one, row } of parsedRows) {
    const resolution = resolveProduct(row, setting.products, setting.options.create_missing_products)
    if (resolution === 'ignored') {
      resolvedRows.ignoredRowNumbers.push(one.row_number)
      continue
    }
    resolvedRows.rowNumbers.push(one.row_number)
    resolvedRows.rows.push('row' in resolution ? resolution.row : row)
    if ('code' in resolution)
      resolvedRows.problems.push(buildImportProblem(row.line, 'item.product', resolution.code, resolution.message))
  }
  return resolvedRows
}

function checkOrder(
  setting: RunSetting,
  mappedOrder: DecidedOrder,
): { order: ExternalOrder | null; problems: ImportProblem[] } {
  const problems = checkConsents(setting.definitions, mappedOrder.consents, []).map((error) =>
    toProblem(mappedOrder, error),
  )
  const parseResult = checkExternalOrder(toWireOrder(mappedOrder))
  if ('errors' in parseResult)
    return { order: null, problems: [...problems, ...parseResult.errors.map((error) => toProblem(mappedOrder, error))] }
  const { total_header } = setting
  const unmapped_total = total_header === null ? null : { header: total_header, amounts: mappedOrder.unmapped_totals }
  const phoneResult = normalizeCustomerPhone(parseResult.order, setting.edition.default_country_code, [])
  if ('error' in phoneResult) problems.push(toProblem(mappedOrder, phoneResult.error))
  if ('error' in phoneResult || problems.length > 0) return { order: null, problems }
  return { order: { ...phoneResult.order, unmapped_total, is_dated: mappedOrder.is_dated }, problems }
}

function mapStagedOrder(setting: RunSetting, stagedOrder: StagedOrder, parsedRows: readonly ParsedRow[]): FileOrder {
  const { rows, rowNumbers, ignoredRowNumbers, problems } = resolveRows(setting, parsedRows)
  const lines = rows.map(({ line }) => line)
  const base = { stagedOrder, rowNumbers, ignoredRowNumbers, lines, mappedOrder: null, order: null, warnings: [] }
  if (rows.length === 0) return { ...base, problems: [] }
  return { ...base, ...mapRows(setting, rows, { row_key: stagedOrder.group_key, problems }) }
}

/** Maps the rows of an order and checks the result. An order with a problem is not imported. */
export function mapRows(
  setting: RunSetting,
  rows: readonly PlacedRow[],
  { row_key, problems = [] }: { row_key: string; problems?: readonly ImportProblem[] },
): Pick<FileOrder, 'mappedOrder' | 'order' | 'problems' | 'warnings'> {
  const mapping = mapOrder(rows, { ...setting.options, row_key })
  const warnings = mapping.warnings.map((one) => ({ ...one, column: null, target_field: null, value: null }))
  const mappedOrder = mapping.order
  if (!mappedOrder || problems.length > 0)
    return { mappedOrder, order: null, problems: [...problems, ...mapping.errors], warnings }
  return { mappedOrder, ...checkOrder(setting, mappedOrder), warnings }
}

/** An order with more rows is refused, and its rows are not read. */
export const maxRowsPerOrder = 1000

const buildTooLongOrder = (stagedOrder: StagedOrder): FileOrder => {
  const message = `${stagedOrder.rows_count} rows of the file belong to this order. An order has at most ${maxRowsPerOrder} rows.`
  const problems = [
    buildImportProblem(stagedOrder.rows[0]?.file_line ?? stagedOrder.number, null, 'max_length', message),
  ]
  return {
    stagedOrder,
    rowNumbers: [],
    ignoredRowNumbers: [],
    lines: [],
    mappedOrder: null,
    order: null,
    problems,
    warnings: [],
  }
}

/** Refuses an order with the external id of an earlier order in the same file. */
async function refuseDuplicates(
  db: Database,
  setting: RunSetting,
  fileOrders: readonly FileOrder[],
): Promise<FileOrder[]> {
  const orders = fileOrders.flatMap(({ order }) => order ?? [])
  if (!setting.may_repeat_ids || orders.length === 0) return [...fileOrders]
  const ids = orders.map(({ external_id }) => external_id)
  const firstRows = await findFirstRows(db, setting.row.id, ids)
  return fileOrders.map((one) => {
    const earlier = one.order && firstRows.get(one.order.external_id)
    if (!earlier || earlier.group_key === one.stagedOrder.group_key) return one
    const message = `The order in line ${earlier.file_line} has the same id.`
    const problem = buildImportProblem(one.lines[0] ?? 0, 'order.external_id', 'duplicate_in_file', message)
    return { ...one, order: null, problems: [problem] }
  })
}

/** Refuses an order whose ticket code an earlier order of the file has: a code admits one ticket. */
async function refuseSharedTickets(
  db: Database,
  setting: RunSetting,
  fileOrders: readonly FileOrder[],
): Promise<FileOrder[]> {
  const listTickets = ({ order, mappedOrder }: FileOrder) =>
    order && order.status !== 'cancelled'
      ? (mappedOrder?.items ?? []).filter(({ vendor_code, status }) => vendor_code !== null && status !== 'cancelled')
      : []
  const codes = fileOrders.flatMap((one) => listTickets(one).map(({ vendor_code }) => vendor_code ?? ''))
  if (!setting.has_tickets || codes.length === 0) return [...fileOrders]
  const firstTickets = await findFirstTickets(db, setting.row.id, [...new Set(codes)])
  return fileOrders.map((one) => {
    const problems = listTickets(one).flatMap(({ vendor_code, line }): ImportProblem[] => {
      const earlier = firstTickets.get(vendor_code ?? '')
      if (!earlier || earlier.group_key === one.stagedOrder.group_key) return []
      const message = `The order in line ${earlier.file_line} has a ticket with the same code "${vendor_code}".`
      return [buildImportProblem(line, 'item.vendor_code', 'duplicate_ticket_code', message)]
    })
    return problems.length > 0 ? { ...one, order: null, problems } : one
  })
}

/** Maps staged orders to orders that can be imported. Previews and imports share this, so they agree. */
export async function mapStagedOrders(
  db: Database,
  setting: RunSetting,
  orders: readonly StagedOrder[],
): Promise<FileOrder[]> {
  const parsedOrders = orders.map((order) => ({
    order,
    rows: order.rows.map((stagedRow): ParsedRow => ({ stagedRow, row: parseStagedRow(stagedRow) })),
  }))
  const parsedRows = parsedOrders.flatMap(({ rows }) => rows.map(({ row }) => row))
  await loadMappedProducts(db, setting.row.id, parsedRows, setting.products)
  const fileOrders = parsedOrders.map(({ order, rows }) =>
    order.rows_count > maxRowsPerOrder ? buildTooLongOrder(order) : mapStagedOrder(setting, order, rows),
  )
  return refuseSharedTickets(db, setting, await refuseDuplicates(db, setting, fileOrders))
}

export interface StagedOrderRow extends RawStagedRow {
  number: number
  group_key: string
  rows_count: number
}

/** The most rows that one query reads, unless the first order alone has more. */
const rowsPerRead = 2000

/** Selects the next orders: at most `limit`, and only as many as `rowsPerRead` rows allow. */
export const selectOrdersAfter = (importId: string, after: number, limit: number): SQL =>
  sql`select number, group_key, rows_count from (
      select number, group_key, rows_count,
        sum(iif(rows_count <= ${sql.raw(String(maxRowsPerOrder))}, rows_count, 1))
          over (order by number rows between unbounded preceding and 1 preceding) as rows_before
      from (select number, group_key, rows_count from import_orders
        where import_id = ${importId} and number > ${after} order by number limit ${sql.raw(String(limit))}))
    where coalesce(rows_before, 0) < ${sql.raw(String(rowsPerRead))}`

/** Selects the rows of the selected orders, but only the first row of an order with too many. */
export const selectRowsOfOrders = (importId: string, selectedOrders: SQL) =>
  sql<StagedOrderRow>`with selected as materialized (${selectedOrders})
    select selected.number, selected.group_key, selected.rows_count, r.row_number, r.file_line, r.data, r.errors
    from selected cross join import_rows as r indexed by import_rows_of_order
      on r.import_id = ${importId} and r.group_key = selected.group_key
        and r.row_number <= iif(selected.rows_count <= ${sql.raw(String(maxRowsPerOrder))},
          ${Number.MAX_SAFE_INTEGER}, selected.number)
    order by selected.number, r.row_number`

export const groupOrders = (rows: readonly StagedOrderRow[]): StagedOrder[] =>
  [...Map.groupBy(rows, ({ number }) => number)].flatMap(([number, members]) => {
    const [first] = members
    return first ? { number, group_key: first.group_key, rows_count: first.rows_count, rows: members } : []
  })

export const loadOrders = async (db: Database, importId: string, selectedOrders: SQL): Promise<StagedOrder[]> =>
  groupOrders(await db.all(selectRowsOfOrders(importId, selectedOrders)))
