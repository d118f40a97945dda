import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import type { importOrders } from '../../../db/schema/data-imports.ts'
import type { ExternalOrder } from '../../../domain/orders/external-orders.ts'
import {
  type DecidedOrder,
  type PlacedRow,
  toExternalOrder,
  toWireOrder,
} from '../../../domain/data-imports/mapping/index.ts'
import { normalizePhone } from '../../../domain/accounts/users.ts'
import { checkExternalOrder, plainOrder } from '../external-orders/index.ts'
import { placedRow, type ReadRow } from '../background/staged-rows.ts'
import { firstRowsById } from './duplicate-ids.ts'
import { lookUpProducts, soldAs } from './mapped-products.ts'
import { type Problem, problemAt, problemOf } from './problems.ts'
import type { RunSetting } from './setting.ts'

export type ImportOrderRow = typeof importOrders.$inferSelect

/** An order of the file, as far as the file alone says what it is. */
export interface ReadOrder {
  row: ImportOrderRow
  /** Row numbers of the file; those with products that are ignored are not of the order. */
  kept: readonly number[]
  ignored: readonly number[]
  lines: readonly number[]
  decided: DecidedOrder | null
  /** Null for an order with a problem: it is taken whole or not at all. */
  order: ExternalOrder | null
  problems: readonly Problem[]
  warnings: readonly Problem[]
}

interface SoldRows {
  rows: PlacedRow[]
  kept: number[]
  ignored: number[]
  problems: Problem[]
}

interface ParsedRow {
  staged: ReadRow
  row: PlacedRow
}

/** The rows of an order with the products of the edition. */
function soldRows(setting: RunSetting, parsed: readonly ParsedRow[]): SoldRows {
  const sold: SoldRows = { rows: [], kept: [], ignored: [], problems: [] }
  for (const { staged: one, row } of parsed) {
    const as = soldAs(row, setting.products, setting.options.create_missing_products)
    if (as === 'ignored') {
      sold.ignored.push(one.row_number)
      continue
    }
    sold.kept.push(one.row_number)
    sold.rows.push('row' in as ? as.row : row)
    if ('code' in as) sold.problems.push(problemAt(row.line, 'item.product', as.code, as.message))
  }
  return sold
}

function consentProblems({ definitions }: RunSetting, { consents, lines }: DecidedOrder): Problem[] {
  return Object.keys(consents).flatMap((key) => {
    const definition = definitions.get(key)
    const at = [lines[0] ?? 0, `consent.${key}`] as const
    if (!definition) return [problemAt(...at, 'does_not_exist', 'This edition has no consent with this key.')]
    return definition.is_active ? [] : [problemAt(...at, 'consent_inactive', 'This consent is not active.')]
  })
}

function withPhone({ edition }: RunSetting, order: ExternalOrder, line: number): ExternalOrder | Problem {
  const given = order.customer.phone_number
  if (given === null) return order
  const phone_number = normalizePhone(given, edition.default_country_code)
  if (phone_number === null)
    return problemAt(line, 'customer.phone_number', 'invalid_phone', 'This is not a telephone number.')
  return { ...order, customer: { ...order.customer, phone_number } }
}

/** An order of the file as the contract of orders that come by calls reads it. */
function byContract(decided: DecidedOrder): ReturnType<typeof checkExternalOrder> {
  const order = plainOrder(decided)
  return order ? { order } : checkExternalOrder(toWireOrder(decided))
}

function checkOrder(setting: RunSetting, decided: DecidedOrder): { order: ExternalOrder | null; problems: Problem[] } {
  const problems = consentProblems(setting, decided)
  const parsed = byContract(decided)
  if ('errors' in parsed)
    return { order: null, problems: [...problems, ...parsed.errors.map((error) => problemOf(decided, error))] }
  const order = withPhone(setting, parsed.order, decided.lines[0] ?? 0)
  if ('code' in order) problems.push(order)
  return { order: problems.length > 0 || 'code' in order ? null : order, problems }
}

function readOrder(setting: RunSetting, row: ImportOrderRow, parsed: readonly ParsedRow[]): ReadOrder {
  const { options, id_prefix } = setting
  const { rows, kept, ignored, problems } = soldRows(setting, parsed)
  const lines = rows.map(({ line }) => line)
  const base = { row, kept, ignored, lines, decided: null, order: null, warnings: [] }
  if (rows.length === 0) return { ...base, problems: [] }
  const decision = toExternalOrder(rows, { ...options, id_prefix })
  const found = [...problems, ...decision.errors]
  const warnings = decision.warnings.map((one) => ({ ...one, column: null, target_field: null, value: null }))
  const decided = decision.order
  if (!decided || problems.length > 0) return { ...base, decided, problems: found, warnings }
  const checked = checkOrder(setting, decided)
  return { ...base, decided, order: checked.order, problems: checked.problems, warnings }
}

/** More rows than an order may have items are not read: they are no order. */
export const maxRowsPerOrder = 1000

const tooLong = (row: ImportOrderRow, first: ReadRow | undefined): ReadOrder => {
  const message = `${row.rows_count} rows of the file are one order by their key; an order has at most ${maxRowsPerOrder}.`
  const problems = [problemAt(first?.file_line ?? row.first_row, null, 'max_length', message)]
  return { row, kept: [], ignored: [], lines: [], decided: null, order: null, problems, warnings: [] }
}

/** Refuses orders whose external id an earlier order of the same file has. */
async function refuseDuplicates(db: Database, setting: RunSetting, read: readonly ReadOrder[]): Promise<ReadOrder[]> {
  const orders = read.flatMap(({ order }) => order ?? [])
  if (!setting.has_own_ids || orders.length === 0) return [...read]
  const ids = orders.map(({ external_id }) => external_id)
  const first = await firstRowsById(db, setting.row.id, ids)
  return read.map((one) => {
    const earlier = one.order && first.get(one.order.external_id)
    if (!earlier || earlier.group_key === one.row.group_key) return one
    const message = `The order of line ${earlier.file_line} has this id too.`
    const problem = problemAt(one.lines[0] ?? 0, 'order.external_id', 'duplicate_in_file', message)
    return { ...one, order: null, problems: [problem] }
  })
}

/** Reads orders from their staged rows. Preview and import both do it here. */
export async function readOrders(
  db: Database,
  setting: RunSetting,
  { orders, rows }: LoadedOrders,
): Promise<ReadOrder[]> {
  const parsed = rows.map((staged): ParsedRow => ({ staged, row: placedRow(staged) }))
  const placed = parsed.map(({ row }) => row)
  await lookUpProducts(db, setting.row.id, placed, setting.products)
  const byKey = Map.groupBy(parsed, ({ staged }) => staged.group_key)
  const read = orders.map((row) =>
    row.rows_count > maxRowsPerOrder
      ? tooLong(row, byKey.get(row.group_key)?.[0]?.staged)
      : readOrder(setting, row, byKey.get(row.group_key) ?? []),
  )
  return refuseDuplicates(db, setting, read)
}

/** Orders with their rows. */
export interface LoadedOrders {
  orders: readonly ImportOrderRow[]
  rows: readonly ReadRow[]
}

/** Statements for the orders that `chosen` selects, and for their rows. */
export const withRows = (importId: string, chosen: ReturnType<typeof sql<ImportOrderRow>>) => ({
  orders: chosen,
  rows: sql<ReadRow>`select r.row_number, r.file_line, r.group_key, r.data, r.errors from (${chosen}) as chosen
    cross join import_rows r indexed by import_rows_of_group on r.import_id = ${importId} and r.group_key = chosen.group_key
      and r.row_number <= iif(chosen.rows_count <= ${maxRowsPerOrder}, ${Number.MAX_SAFE_INTEGER}, chosen.first_row)
    order by r.row_number`,
})

/** The orders that `chosen` selects, with their rows. */
export async function loadOrders(
  db: Database,
  importId: string,
  chosen: ReturnType<typeof sql<ImportOrderRow>>,
): Promise<LoadedOrders> {
  const { orders = [], rows = [] } = await db.batchNamed(withRows(importId, chosen))
  return { orders, rows }
}
