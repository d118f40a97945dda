import { toMajor } from '../../../money.ts'
import { fold } from '../../../text/fold.ts'
import { toIso } from '../../../time/instants.ts'
import { findTargetField } from '../targets/fields.ts'
import type { DecidedRow, OrderError, OrderWarning, PlacedRow } from './row.ts'

export type OrderValues = DecidedRow['values']
type OrderValue = OrderValues[string]

/** A value of an order's column, with the line that has it. */
interface PlacedValue {
  line: number
  value: OrderValue
}

interface MergedRows {
  /** Values of the order. */
  values: OrderValues
  /** The rows with the holders of their tickets, and without constants and defaults of the order. */
  rows: readonly PlacedRow[]
  errors: OrderError[]
  warnings: OrderWarning[]
}

const isOrderLevel = (target: string): boolean =>
  target.startsWith('consent.') || (findTargetField(target)?.is_order_level ?? false)

const isCustomerMetadata = (target: string): boolean => target.startsWith('customer.metadata.')
const isMetadata = (target: string): boolean => target.startsWith('order.metadata.') || isCustomerMetadata(target)
const isOfCustomer = (target: string): boolean => target.startsWith('customer.') && !isCustomerMetadata(target)

/** True if a row names another person than the buyer. A row without an address of its own only names a holder. */
const namesOther = ({ values }: PlacedRow, buyer: OrderValues): boolean =>
  values['customer.email'] !== undefined && values['customer.email'] !== buyer['customer.email']

const holderNames = ['first_name', 'last_name', 'full_name'] as const

/** True if a row tells something about another customer than the buyer. */
function describesOther(row: PlacedRow, target: string, buyer: OrderValues): boolean {
  if (target === 'customer.email' || !target.startsWith('customer.') || buyer['customer.email'] === undefined)
    return false
  if (namesOther(row, buyer) || !isCustomerMetadata(target)) return namesOther(row, buyer)
  return holderNames.some((name) => {
    const [holder, buyerName] = [row.values[`customer.${name}`], buyer[`customer.${name}`]]
    return holder !== undefined && buyerName !== undefined && fold(String(holder)) !== fold(String(buyerName))
  })
}

function formatValue(target: string, value: OrderValue | undefined): string {
  const type = findTargetField(target)?.type
  if (typeof value === 'number' && type === 'money') return toMajor(value).toFixed(2)
  if (typeof value === 'number' && type === 'instant') return `${toIso(value).slice(0, 16).replace('T', ' ')} UTC`
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return String(value)
}

/** Hints for columns whose cells differ in the rows of an order. */
const hintsByTarget: Readonly<Record<string, string>> = {
  'order.status': ' If each ticket has a status of its own, map the column to item.status.',
  'order.amount': ' If it is the amount of each row, map the column to item.line_total.',
}

function buildInconsistencyError(target: string, first: PlacedValue, { line, value }: PlacedValue): OrderError {
  const [firstValue, ownValue] = [formatValue(target, first.value), formatValue(target, value)]
  const hint = hintsByTarget[target] ?? ''
  return {
    row: line,
    column: null,
    target_field: target,
    code: 'inconsistent_order',
    message: `Line ${first.line} of the same order has ${firstValue}, this line has ${ownValue}.${hint}`,
    value: ownValue,
  }
}

function buildCustomerWarning(target: string, first: PlacedValue, { line, value }: PlacedValue): OrderWarning {
  const [firstValue, ownValue] = [formatValue(target, first.value), formatValue(target, value)]
  return {
    row: line,
    code: 'several_customers',
    message: `The buyer in line ${first.line} has ${firstValue}, so ${ownValue} is only used for the ticket of this line.`,
  }
}

const longestMetadata = 1000

/** Adds another value to a list of metadata, or warns that the list is full. */
function appendMetadata(target: string, list: string, text: string, line: number): ValueMerge {
  if (list.split(', ').includes(text)) return null
  const longerList = `${list}, ${text}`
  if (longerList.length <= longestMetadata) return { value: longerList }
  const message = `${target} has more than ${longestMetadata} characters in this order, so it lacks those of this line.`
  return { warning: { row: line, code: 'metadata_cut', message } }
}

const isSameValue = (target: string, value: OrderValue, other: OrderValue): boolean =>
  value === other || (isOfCustomer(target) && fold(String(value)) === fold(String(other)))

/** The change that a further row makes to a value of its order. Null: no change. */
type ValueMerge = { value: OrderValue } | { warning: OrderWarning } | { error: OrderError } | null

/** Merges a row's value into the one that the order has from earlier rows. */
function mergeValue(row: PlacedRow, target: string, currentValue: PlacedValue, buyer: OrderValues): ValueMerge {
  const value = row.values[target]
  if (value === undefined || isSameValue(target, currentValue.value, value)) return null
  if (isMetadata(target) && typeof currentValue.value === 'string' && typeof value === 'string')
    return appendMetadata(target, currentValue.value, value, row.line)
  const ownValue = { line: row.line, value }
  if (isOfCustomer(target)) return { warning: buildCustomerWarning(target, currentValue, ownValue) }
  // Each person answers consents for themselves.
  if (target.startsWith('consent.') && namesOther(row, buyer)) return null
  return { error: buildInconsistencyError(target, currentValue, ownValue) }
}

/** Merges the cells of rows. The first row with a value decides, so values grow row by row. */
function mergeCells(rows: readonly PlacedRow[]): Omit<MergedRows, 'rows'> & { values: Record<string, OrderValue> } {
  const values: Record<string, OrderValue> = {}
  const firstLines = new Map<string, number>()
  const errors: OrderError[] = []
  const warnings: OrderWarning[] = []
  for (const row of rows)
    for (const [target, value] of Object.entries(row.values)) {
      if (!isOrderLevel(target)) continue
      const line = firstLines.get(target)
      const currentValue = values[target]
      if ((line === undefined || isCustomerMetadata(target)) && describesOther(row, target, values)) continue
      if (line === undefined || currentValue === undefined) {
        values[target] = value
        firstLines.set(target, row.line)
        continue
      }
      const merge = mergeValue(row, target, { line, value: currentValue }, values)
      if (merge === null) continue
      if ('value' in merge) values[target] = merge.value
      else if ('warning' in merge) warnings.push(merge.warning)
      else errors.push(merge.error)
    }
  return { values, errors, warnings }
}

function dropAssumedValues(row: PlacedRow): PlacedRow {
  const { assumed_targets = [] } = row
  if (assumed_targets.length === 0) return row
  const cellValues = Object.entries(row.values).filter(([target]) => !assumed_targets.includes(target))
  return { ...row, values: Object.fromEntries(cellValues) }
}

/** Adds the constants and defaults of targets for which no row has a cell. The first row that has one decides. */
function addAssumedValues(cellValues: OrderValues, rows: readonly PlacedRow[]): OrderValues {
  const values = { ...cellValues }
  for (const { assumed_targets = [], values: rowValues } of rows)
    for (const target of assumed_targets) {
      const value = rowValues[target]
      if (value !== undefined) values[target] ??= value
    }
  return values
}

/**
 * Gives a row the holder of its ticket if the column of customers names different people in an order. The address of
 * the buyer identifies no other holder.
 */
function addHolder(row: PlacedRow, buyer: OrderValues, isFirst: boolean): PlacedRow {
  const { values } = row
  const email = namesOther(row, buyer) || isFirst ? values['customer.email'] : undefined
  const hasName = holderNames.some((name) => values[`item.user.${name}`] !== undefined)
  const names = hasName ? [] : holderNames.map((name) => [`item.user.${name}`, values[`customer.${name}`]] as const)
  const holder = [['item.user.email', email] as const, ...names].flatMap(([target, value]) =>
    value === undefined ? [] : [[target, value] as const],
  )
  return { ...row, values: { ...Object.fromEntries(holder), ...values } }
}

/**
 * Merges the rows of an order. A blank cell takes the value of the other rows, and a constant or a default only if they
 * are blank too. The first customer is the buyer, and different metadata becomes a list. Other values that differ are
 * errors.
 */
export function mergeRows(placedRows: readonly PlacedRow[]): MergedRows {
  const rows = placedRows.map(dropAssumedValues)
  const { values: cellValues, errors, warnings } = mergeCells(rows)
  const values = addAssumedValues(cellValues, placedRows)
  const hasHolders = warnings.some(({ code }) => code === 'several_customers')
  const rowsWithHolders = hasHolders ? rows.map((row, index) => addHolder(row, values, index === 0)) : rows
  return { values, rows: rowsWithHolders, errors, warnings }
}
