import { type SQL, sql } from 'drizzle-orm'
import { importRows } from '../../../db/schema/data-imports.ts'
import { decodeValue } from '../../../db/select.ts'
import type { PlacedRow, StagedValues } from '../../../domain/data-imports/mapping/index.ts'

export type StagedRow = typeof importRows.$inferSelect

/** A staged row as a statement in SQL answers it. */
export interface ReadRow extends Pick<StagedRow, 'row_number' | 'file_line' | 'group_key'> {
  data: string
  errors: string
}

export const stagedValues = ({ values, currency_mark }: StagedValues): StagedValues => ({ values, currency_mark })

/** A staged row as its mapping read it. */
export function placedRow({ data, errors, file_line }: ReadRow): PlacedRow {
  const { values, currency_mark = null } = decodeValue(importRows.data, data)
  return { values, currency_mark, errors: decodeValue(importRows.errors, errors), is_ignored: false, line: file_line }
}

/** The outcome of a row: its own, otherwise that of its order. */
export const outcomeOf = (row: SQL): SQL =>
  sql`coalesce(${row}.outcome, (select its_order.outcome from import_orders as its_order
    where its_order.import_id = ${row}.import_id and its_order.group_key = ${row}.group_key))`
