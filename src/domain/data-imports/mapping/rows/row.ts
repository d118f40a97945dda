import { cleanCell, showUndecodable } from '@ecms/table-reader'
import { allowsCurrency, toPlainWord } from '../values/words.ts'
import { parseCell, type Amount, type CellFault, type CellValue } from './cell.ts'
import type { TargetReader } from './prepare.ts'

interface RowError {
  /** Index of the column; null for an error without a column. */
  column: number | null
  /** Null for an error of the whole row. */
  target_field: string | null
  code: CellFault | 'currency_mismatch' | 'inconsistent_order'
  message: string
  value: string | null
}

export interface StoredError extends Omit<RowError, 'code'> {
  code: string
  /** Line of the file; missing in errors from staging. */
  row?: number
}

export type StoredWarning = Pick<StoredError, 'code' | 'message'> & Partial<StoredError>

export interface OrderError extends StoredError {
  row: number
}

export interface OrderWarning {
  row: number
  code:
    | 'refund_without_item'
    | 'repeated_ticket'
    | 'several_customers'
    | 'phone_not_taken'
    | 'unsupported_language'
    | 'metadata_cut'
  message: string
}

/** Blank cells have no value. Amounts are in minor units. */
export interface DecidedRow {
  values: Readonly<Record<string, Exclude<CellValue, Amount | null>>>
  /** The currency that stands beside the amounts in their cells, or null. */
  currency_mark: string | null
  /** The amount in a column of totals that nobody mapped, in minor units. */
  unmapped_total: number | null
  /** Targets of the order whose values are constants or defaults, because the row has a blank cell or no column. */
  assumed_targets: readonly string[]
  errors: readonly RowError[]
  /** True if a value map leaves the row out. */
  is_ignored: boolean
}

/** The stored form of a row: always its values, and the rest only where it differs from the usual. */
export type StagedValues = Pick<DecidedRow, 'values'> &
  Partial<Pick<DecidedRow, 'currency_mark' | 'unmapped_total' | 'assumed_targets'>>

/** Lines count as in a text editor. */
export interface PlacedRow extends StagedValues {
  currency_mark: string | null
  errors: readonly StoredError[]
  is_ignored: boolean
  line: number
}

/** Cells cannot be told apart in such a row, so missing values are not reported. */
export const concernsWholeRow = ({ target_field }: StoredError): boolean => target_field === null

type ReadTarget = { value: CellValue; isAssumed: boolean } | { isIgnored: true } | { error: RowError } | null

const maxShownValue = 200

interface CellTexts {
  texts: string[]
  /** True if a constant or a default replaces a blank cell. */
  isAssumed: boolean
}

function readTexts({ mapping, values }: TargetReader, cells: readonly string[]): CellTexts | 'ignored' {
  const clean = mapping.columns.map((column) => cleanCell(cells[column] ?? ''))
  const filledTexts = clean.filter((text) => text !== '')
  const hasFirstColumn = filledTexts.length > 0 && clean[0] !== ''
  const assumedText = mapping.constant ?? mapping.default_value ?? null
  const sources = hasFirstColumn ? filledTexts : [(assumedText ?? filledTexts.join(' ')).trim()]
  const texts: string[] = []
  for (const text of sources) {
    const mappedValue = text === '' ? undefined : values?.get(toPlainWord(text))
    if (mappedValue && 'ignore_row' in mappedValue) return 'ignored'
    texts.push(mappedValue ? mappedValue.to.trim() : text)
  }
  return { texts: texts.filter((text) => text !== ''), isAssumed: !hasFirstColumn && assumedText !== null }
}

function readTarget(reader: TargetReader, cells: readonly string[]): ReadTarget {
  const { field, mapping } = reader
  const reading = readTexts(reader, cells)
  if (reading === 'ignored') return { isIgnored: true }
  const { texts, isAssumed } = reading
  if (texts.length === 0) return null
  const result = parseCell(texts, reader.format)
  if ('value' in result) return { value: result.value, isAssumed }
  const value = showUndecodable(texts.join(' ')).slice(0, maxShownValue)
  return { error: { ...result, column: mapping.columns[0] ?? null, target_field: field.key, value } }
}

/** Cells that were read are cached, because the rows of an order and of a product repeat them. */
const maxCachedCells = 64
const maxCachedLength = 200
const cellCaches = new WeakMap<TargetReader, Map<string, ReadTarget>>()

function readOnce(reader: TargetReader, cells: readonly string[]): ReadTarget {
  const { columns } = reader.mapping
  const [column] = columns
  if (column === undefined || columns.length > 1) return readTarget(reader, cells)
  const cell = cells[column] ?? ''
  if (cell.length > maxCachedLength) return readTarget(reader, cells)
  const cachedCells = cellCaches.get(reader) ?? new Map<string, ReadTarget>()
  const cachedTarget = cachedCells.get(cell)
  if (cachedTarget !== undefined) return cachedTarget
  const target = readTarget(reader, cells)
  if (cachedCells.size >= maxCachedCells) cachedCells.clear()
  cellCaches.set(reader, cachedCells.set(cell, target))
  return target
}

const isAmount = (value: CellValue): value is Amount => typeof value === 'object' && value !== null && 'minor' in value

/** Some systems write refunds and discounts as negative numbers. */
const signless = new Set(['order.refunded_amount', 'order.discount'])

/** A negative fee is a discount. Negative totals and taxes belong to returned items. */
const mayBeNegative = new Set(['order.service_fee', 'item.line_total', 'item.tax'])

function checkAmount(reader: TargetReader, { minor }: Amount, cells: readonly string[]): RowError | null {
  const { key } = reader.field
  if (minor >= 0 || signless.has(key) || mayBeNegative.has(key)) return null
  const column = reader.mapping.columns[0] ?? null
  const value = column === null ? null : (cells[column] ?? null)
  return { column, target_field: key, code: 'negative_amount', message: 'An amount cannot be negative here.', value }
}

function checkMarks(marks: ReadonlySet<string>, currency: unknown): RowError | null {
  const [mark, ...others] = [...marks]
  const isOther = typeof currency === 'string' && mark !== undefined && !allowsCurrency(mark, currency)
  if (others.length === 0 && !isOther) return null
  const message =
    others.length > 0
      ? `The amounts of the row are in different currencies: ${[...marks].join(', ')}.`
      : `An amount of the row is in ${mark}, but the order is in ${String(currency)}.`
  return { column: null, target_field: 'order.currency', code: 'currency_mismatch', message, value: mark ?? null }
}

function readTotal(reader: TargetReader | null, cells: readonly string[]): number | null {
  const target = reader && readOnce(reader, cells)
  return target && 'value' in target && isAmount(target.value) ? target.value.minor : null
}

const ignoredRow: DecidedRow = {
  values: {},
  currency_mark: null,
  unmapped_total: null,
  assumed_targets: [],
  errors: [],
  is_ignored: true,
}

/** A merged cell beside several tickets may have the amount of each or of all of them. */
function checkMergedAmount(
  { field, mapping }: TargetReader,
  cells: readonly string[],
  filledColumns: readonly number[],
): RowError | null {
  const column = mapping.columns.find((index) => filledColumns.includes(index))
  if (column === undefined || field.group !== 'item' || !(field.type === 'money' || field.type === 'quantity'))
    return null
  const value = (cells[column] ?? '').slice(0, maxShownValue)
  const message =
    `"${value}" is merged over several rows, so it may belong to each of them or to all together. Unmerge the cell, ` +
    'or map the column to order.amount if it is the total of the order.'
  return { column, target_field: field.key, code: 'merged_amount', message, value }
}

/**
 * Reads the cells of a row. Each cell that cannot be read is an error, except that of an unmapped total. `filledColumns`
 * are the columns whose values come from a merged cell above them.
 */
export function decideRow(
  readers: readonly TargetReader[],
  cells: readonly string[],
  totalReader: TargetReader | null = null,
  filledColumns: readonly number[] = [],
): DecidedRow {
  const values: Record<string, Exclude<CellValue, Amount | null>> = {}
  const errors: RowError[] = []
  const assumedTargets: string[] = []
  const marks = new Set<string>()
  for (const reader of readers) {
    const target = readOnce(reader, cells)
    if (!target) continue
    if ('isIgnored' in target) return ignoredRow
    const mergedAmount = filledColumns.length > 0 ? checkMergedAmount(reader, cells, filledColumns) : null
    if (mergedAmount) {
      errors.push(mergedAmount)
      continue
    }
    if ('error' in target) {
      errors.push(target.error)
      continue
    }
    const { value } = target
    const { key, is_order_level } = reader.field
    if (target.isAssumed && is_order_level) assumedTargets.push(key)
    if (isAmount(value)) {
      const amountError = checkAmount(reader, value, cells)
      if (amountError) errors.push(amountError)
      if (value.currency !== null) marks.add(value.currency)
      values[key] = signless.has(key) ? Math.abs(value.minor) : value.minor
    } else if (value !== null) values[key] = value
  }
  const currency = values['order.currency']
  // `kr` beside the code of a crown, such as `dkk`, is no second currency.
  if (marks.size > 1 && [...marks].some((mark) => mark !== 'kr' && allowsCurrency('kr', mark))) marks.delete('kr')
  const currencyError = checkMarks(marks, currency === 'kr' ? undefined : currency)
  if (currencyError) errors.push(currencyError)
  return {
    values,
    currency_mark: [...marks][0] ?? null,
    unmapped_total: readTotal(totalReader, cells),
    assumed_targets: assumedTargets,
    errors,
    is_ignored: false,
  }
}
