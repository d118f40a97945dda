import type { ColumnStatistics } from '../columns/statistics.ts'
import type { ColumnQuestion } from '../mapping.ts'
import { buildHeaderKey, otherKeys } from '../targets/aliases.ts'
import { readBoolean, readStatus } from '../values/words.ts'
import type { ImportColumn } from './candidates.ts'
import { areStatuses } from './fits.ts'

/** True if half of the cells say what became of an order, and some that it is not paid. */
function looksLikePaymentStatus(statistics: ColumnStatistics | null): boolean {
  if (!statistics || !areStatuses(statistics)) return false
  const values = Object.entries(statistics.values).map(([text, count]) => ({ text, count, status: readStatus(text) }))
  const isUnpaid = values.some(({ status }) => status === 'cancelled' || status === 'refunded' || status === 'pending')
  const readable = values.filter(({ text, status }) => status !== null || readBoolean(text) !== null)
  return isUnpaid && readable.reduce((sum, { count }) => sum + count, 0) * 2 >= statistics.filled_cells
}

interface MappedColumn extends ImportColumn {
  target: string | null
  /** True if the user left the column out, in this import or in an earlier one. */
  is_left_out: boolean
}

interface QuestionInput {
  columns: readonly MappedColumn[]
  /** Targets that a column or a constant has. */
  targets: ReadonlySet<string>
  /** Columns of which the suggestions could not say which one has the id of an order. */
  id_columns: readonly number[]
}

/** Finds columns that nobody mapped although leaving them out changes what the orders are. */
export function findQuestions({ columns, targets, id_columns }: QuestionInput): Map<number, ColumnQuestion> {
  const isOpen = ({ target, is_left_out }: MappedColumn) => target === null && !is_left_out
  const hasStatus = targets.has('order.status') || targets.has('item.status')
  return new Map(
    columns.flatMap((column, index): [number, ColumnQuestion][] => {
      if (!isOpen(column)) return []
      if (id_columns.includes(index) && !targets.has('order.external_id')) return [[index, 'order_id']]
      const isOther = otherKeys.has(buildHeaderKey(column.header))
      return !hasStatus && !isOther && looksLikePaymentStatus(column.statistics) ? [[index, 'status']] : []
    }),
  )
}
