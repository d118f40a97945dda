import {
  type DecidedOrder,
  decideRow,
  mapOrder,
  prepareMappings,
  type PreparedMappings,
  suggestImport,
  type SuggestedMapping,
  type TargetMapping,
  type ValueMap,
} from '../../../src/domain/data-imports/mapping/index.ts'
import { type Currency, toMajor } from '../../../src/domain/money.ts'
import { parseColumns, consents, buildKey, now } from './read-file.ts'

/** A user's answer: a column by its header, a constant, or the meaning of values. */
interface Answer {
  target: string
  header?: string
  constant?: string
  value_map?: ValueMap
}

/** The columns that a public system exports, with rows of invented orders. */
export interface PublishedExport {
  about: string
  delimiter: string
  /** The currency that the user chooses for amounts without one. */
  currency: string
  text: string
  /**
   * The right target by header, or of each column: a list if several are right, with null if none is right too. Others
   * have none.
   */
  targets: Readonly<Record<string, string | (string | null)[]>> | (string | null)[][]
  answers: Answer[]
  /** Id, contact, tickets, amount, time and status of each order; `*` for any. */
  orders: string[]
}

/** Compares what is suggested for each column with what is right. */
export function scoreColumns({ text, delimiter, targets }: Pick<PublishedExport, 'text' | 'delimiter' | 'targets'>) {
  const { columns } = parseColumns(text, delimiter)
  const { mappings } = suggestImport({ columns, consents, now })
  return columns.map(({ header }, index) => {
    const rightTargets: readonly (string | null)[] = [
      (Array.isArray(targets) ? targets[index] : targets[header]) ?? null,
    ].flat()
    const suggested = mappings.find((mapping) => mapping.columns.includes(index))?.target ?? null
    return { header, rightTargets, suggested, isRight: rightTargets.includes(suggested) }
  })
}

/** A missing price or contact may be answered by any target of its group. */
const answeredBy: Readonly<Record<string, readonly string[]>> = {
  'item.unit_price': ['item.unit_price', 'item.line_total'],
  'customer.email': ['customer.email', 'customer.phone_number'],
}

/** Gives the answers that the service asks for: missing targets and unknown values. */
function addAnswers(
  { answers }: PublishedExport,
  {
    headers,
    suggested,
    asked: questions,
  }: { headers: string[]; suggested: readonly SuggestedMapping[]; asked: PreparedMappings },
): TargetMapping[] {
  const missing = questions.missing_required.flatMap((target) => answeredBy[target] ?? [target])
  const chosen = answers.flatMap(({ target, header, constant }): TargetMapping[] => {
    if (!missing.includes(target)) return []
    if (header !== undefined) return [{ target, columns: [headers.indexOf(header)] }]
    return constant === undefined ? [] : [{ target, columns: [], constant }]
  })
  const usedColumns = new Set(chosen.flatMap(({ columns }) => columns))
  const untouched = suggested.filter(({ columns }) => !columns.some((column) => usedColumns.has(column)))
  return [...untouched, ...chosen].map((mapping) => {
    const values = answers.find(({ target, value_map }) => target === mapping.target && value_map)?.value_map
    return values && questions.unmapped_values[mapping.target]
      ? { ...mapping, value_map: { ...mapping.value_map, ...values } }
      : mapping
  })
}

function describeOrder(order: DecidedOrder): string {
  const { items, customer } = order
  const prices = items.map((item) => item.line_total_minor ?? (item.unit_price_minor ?? 0) * item.quantity)
  const amount = prices.reduce((sum, price) => sum + price, 0) + order.service_fee_minor - order.discount_minor
  const total = order.amount_minor === null || order.amount_minor === amount ? '' : ` of ${toMajor(order.amount_minor)}`
  return [
    order.external_id,
    customer.email ?? customer.phone_number,
    items.reduce((sum, { quantity }) => sum + quantity, 0),
    `${toMajor(amount).toFixed(2)} ${order.currency}${total}`,
    new Date(order.created_at).toISOString(),
    order.status,
  ].join(' | ')
}

/** The orders that come out with the suggestions and the answers that the service asks for. Errors are texts too. */
function importExport(file: PublishedExport): string[] {
  const { headers, rows, columns } = parseColumns(file.text, file.delimiter)
  const suggestion = suggestImport({ columns, consents, now })
  const hasId = suggestion.mappings.some(({ target }) => target === 'order.external_id')
  const group_by = suggestion.group_by ?? (hasId ? 'external_id' : 'row')
  const setting = {
    statistics: columns.map(({ statistics }) => statistics),
    consents,
    group_by,
    time_zone: 'Europe/Copenhagen',
    country_code: '+45',
    now,
  } as const
  const suggested = suggestion.mappings
  const asked = prepareMappings({ ...setting, mappings: suggested })
  const prepared = prepareMappings({ ...setting, mappings: addAnswers(file, { headers, suggested, asked }) })
  const open = [...prepared.missing_required, ...prepared.ambiguous.map(({ target }) => target)]
  if (open.length > 0) return open.map((target) => `${target} is still asked for`)
  const placed = rows
    .map((cells, index) => ({ ...decideRow(prepared.readers, cells), line: index + 2 }))
    .filter(({ is_ignored }) => !is_ignored)
  return [...Map.groupBy(placed, (row) => buildKey(row, group_by)).values()].map((ofOrder) => {
    const { order, errors } = mapOrder(ofOrder, {
      group_by,
      default_currency: file.currency as Currency,
      default_status: 'completed',
      row_key: `imp-${ofOrder[0]?.line}`,
    })
    return order ? describeOrder(order) : errors.map((one) => `${one.row} ${one.target_field} ${one.code}`).join(', ')
  })
}

const matches = (order: string, expected: string): boolean => {
  const parts = order.split(' | ')
  return expected.split(' | ').every((part, index) => part === '*' || part === parts[index])
}

/** True if exactly the expected orders come out. */
export function importsRight(file: PublishedExport): boolean {
  const orders = importExport(file)
  return (
    orders.length === file.orders.length &&
    file.orders.every((expected, index) => matches(orders[index] ?? '', expected))
  )
}
