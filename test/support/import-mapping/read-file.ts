import { parse } from 'csv-parse/browser/esm/sync'
import {
  decideRow,
  getGroupKey,
  type Grouping,
  prepareMappings,
  countCells,
  suggestImport,
  mapOrder,
  type DecidedOrder,
  type PlacedRow,
  type TargetMapping,
} from '../../../src/domain/data-imports/mapping/index.ts'

export const now = Date.UTC(2026, 10, 21)
export const consents = [{ key: 'marketing', name: 'News by e-mail', type: 'marketing' }]

/** Rows with the same key are an order. */
export const keyOf = (row: PlacedRow, group_by: Grouping): string =>
  (group_by === 'row' ? null : getGroupKey(row, group_by)) ?? `line ${row.line}`

/** A file of one line of headers, by its delimiter. */
export function columnsOf(text: string, delimiter: string) {
  const [headers = [], ...rows] = parse(text, { delimiter })
  const columns = headers.map((header, index) => ({
    header,
    statistics: countCells(rows.map((row) => row[index] ?? '')),
  }))
  return { headers, rows, columns }
}

/** The mappings of a file, whose orders get a date if no column has it. */
export const withDate = (mappings: readonly TargetMapping[]): readonly TargetMapping[] =>
  mappings.some(({ target }) => target === 'order.created')
    ? mappings
    : [...mappings, { target: 'order.created', columns: [], constant: '2026-01-05' }]

/** What becomes of a file if everything that is suggested is taken, in the time zone of Copenhagen and Danish crowns. */
export function importFile(text: string, delimiter: string, added: readonly TargetMapping[] = []) {
  const { headers, rows, columns } = columnsOf(text, delimiter)
  const suggestion = suggestImport({ columns, consents })
  const group_by = suggestion.group_by ?? 'external_id'
  const prepared = prepareMappings({
    mappings: withDate([...suggestion.mappings, ...added]),
    statistics: columns.map(({ statistics }) => statistics),
    consents,
    group_by,
    time_zone: 'Europe/Copenhagen',
    country_code: '+45',
    now,
  })
  const placed = rows
    .map((cells, index): PlacedRow => ({ ...decideRow(prepared.readers, cells), line: index + 2 }))
    .filter(({ is_ignored }) => !is_ignored)
  const orders = [...Map.groupBy(placed, (row) => keyOf(row, group_by)).values()].map((ofOrder) =>
    mapOrder(ofOrder, {
      group_by,
      default_currency: 'dkk',
      default_status: 'completed',
      row_key: `imp-${ofOrder[0]?.line}`,
    }),
  )
  return { headers, suggestion, prepared, orders }
}

/** What is said of an order, without what is blank. */
export function brief(order: DecidedOrder) {
  const filled = (value: object) =>
    Object.fromEntries(
      Object.entries(value).filter(
        ([key, one]) =>
          one !== null &&
          !(one === 0 && !/^(?:unit_price|line_total)_minor$/.test(key)) &&
          !(typeof one === 'object' && Object.keys(one as object).length === 0),
      ),
    )
  return filled({
    ...order,
    is_dated: null,
    unmapped_totals: null,
    created_at: order.is_dated ? new Date(order.created_at).toISOString() : null,
    customer: filled(order.customer),
    payment: order.payment && filled(order.payment),
    items: order.items.map((item) => filled({ ...item, user: item.user && filled(item.user) })),
  })
}
