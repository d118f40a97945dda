import {
  countCells,
  decideRow,
  mapOrder,
  prepareMappings,
  suggestImport,
  type SuggestedMapping,
  type TargetMapping,
  type ValueMap,
} from '../../../src/domain/data-imports/mapping/index.ts'
import type { Currency } from '../../../src/domain/money.ts'
import type { DecidedOrder } from '../../../src/domain/data-imports/mapping/index.ts'
import { consents, keyOf, now } from './read-file.ts'

interface ExportColumn {
  header: string
  /** The right target. Null for none, a list if several are right. */
  target: string | null | (string | null)[]
  cells: string[]
}

/** A user's answer: a column by its header, a constant, or the meaning of values. */
interface Answer {
  target: string
  header?: string
  constant?: string
  value_map?: ValueMap
}

interface ExpectedOrder {
  /** Null in any field but `created` allows every value. */
  id: string | null
  contact: string
  tickets: number | null
  amount: number
  created: string | null
  currency: string
  status: string
}

/** The header row that a system exports, with rows of invented orders. */
export interface PublishedExport {
  about: string
  /** The currency that the user chooses for amounts without one. */
  currency: string
  columns: ExportColumn[]
  answers: Answer[]
  orders: ExpectedOrder[]
}

const buildColumns = (file: PublishedExport) =>
  file.columns.map(({ header, cells }) => ({ header, statistics: countCells(cells) }))

/** Compares what is suggested for each column with what is right. */
export function scoreColumns(file: PublishedExport) {
  const { mappings } = suggestImport({ columns: buildColumns(file), consents, now })
  return file.columns.map(({ header, target }, index) => {
    const rightTargets = Array.isArray(target) ? target : [target]
    const suggested = mappings.find(({ columns }) => columns.includes(index))?.target ?? null
    return { header, rightTargets, suggested, isRight: rightTargets.includes(suggested) }
  })
}

/** Answers to a missing price or contact may name any target of its group. */
const answeredBy: Readonly<Record<string, readonly string[]>> = {
  'item.unit_price': ['item.unit_price', 'item.line_total'],
  'customer.email': ['customer.email', 'customer.phone_number'],
}

/** Adds the answers that the service asks for: missing targets and unknown values. Others are not given. */
function addAnswers(
  file: PublishedExport,
  suggested: readonly SuggestedMapping[],
  asked: ReturnType<typeof prepareMappings>,
): TargetMapping[] {
  const missing = asked.missing_required.flatMap((target) => answeredBy[target] ?? [target])
  const chosen = file.answers.flatMap(({ target, header, constant }): TargetMapping[] => {
    if (!missing.includes(target) || (header === undefined && constant === undefined)) return []
    const column = file.columns.findIndex((one) => one.header === header)
    return [{ target, columns: column === -1 ? [] : [column], constant: constant ?? null }]
  })
  const usedColumns = new Set(chosen.flatMap(({ columns }) => columns))
  const kept = suggested.filter(({ columns }) => !columns.some((column) => usedColumns.has(column)))
  return [...kept, ...chosen].map((mapping) => {
    const values = file.answers.find(({ target, value_map }) => target === mapping.target && value_map)?.value_map
    return values && asked.unmapped_values[mapping.target]
      ? { ...mapping, value_map: { ...mapping.value_map, ...values } }
      : mapping
  })
}

function summarizeOrder({ items, ...order }: DecidedOrder): ExpectedOrder {
  const prices = items.map((item) => item.line_total_minor ?? (item.unit_price_minor ?? 0) * item.quantity)
  const amount = prices.reduce((sum, price) => sum + price, 0) + order.service_fee_minor - order.discount_minor
  return {
    id: order.external_id,
    contact: order.customer.email ?? order.customer.phone_number ?? '',
    tickets: items.reduce((sum, { quantity }) => sum + quantity, 0),
    // A total of the file that differs from its items shows.
    amount: order.amount_minor ?? amount,
    created: order.created_at === null ? null : new Date(order.created_at).toISOString(),
    currency: order.currency,
    status: order.status,
    ...(order.amount_minor === null || order.amount_minor === amount ? {} : { amount: Number.NaN }),
  }
}

/** The orders that come out with the suggestions and the answers that the service asks for; texts for errors. */
export function importExport(file: PublishedExport): (ExpectedOrder | string)[] {
  const columns = buildColumns(file)
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
  const asked = prepareMappings({ ...setting, mappings: suggestion.mappings })
  const prepared = prepareMappings({ ...setting, mappings: addAnswers(file, suggestion.mappings, asked) })
  const open = [...prepared.missing_required, ...prepared.ambiguous.map(({ target }) => target)]
  if (open.length > 0) return [`open: ${open.join(', ')}`]
  const rows = (file.columns[0]?.cells ?? []).map((_, row) => file.columns.map(({ cells }) => cells[row] ?? ''))
  const placed = rows
    .map((cells, index) => ({ ...decideRow(prepared.readers, cells), line: index + 2 }))
    .filter(({ is_ignored }) => !is_ignored)
  return [...Map.groupBy(placed, (row) => keyOf(row, group_by)).values()].map((ofOrder) => {
    const { order, errors } = mapOrder(ofOrder, {
      group_by,
      default_currency: file.currency as Currency,
      default_status: 'completed',
      row_key: `imp-${ofOrder[0]?.line}`,
    })
    return order ? summarizeOrder(order) : errors.map((one) => `${one.row} ${one.target_field} ${one.code}`).join(', ')
  })
}

/** Whether exactly the expected orders come out. */
export function importsRight(file: PublishedExport): boolean {
  const orders = importExport(file)
  return (
    orders.length === file.orders.length &&
    file.orders.every((expected, index) => {
      const order = orders[index]
      if (order === undefined || typeof order === 'string') return false
      const { id, tickets } = { id: expected.id ?? order.id, tickets: expected.tickets ?? order.tickets }
      return JSON.stringify({ ...expected, id, tickets }) === JSON.stringify(order)
    })
  )
}
