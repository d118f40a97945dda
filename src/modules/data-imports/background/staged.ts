import { type SQL, sql } from 'drizzle-orm'
import type { Statement } from '../../../db/database.ts'
import { importRows } from '../../../db/schema/data-imports.ts'
import { decodeValue } from '../../../db/select.ts'
import { splitIntoParameters } from '../../../db/write.ts'
import type { PlacedRow, StagedValues } from '../../../domain/data-imports/mapping/index.ts'

export const selectRowNumbers = (importId: string, keys: SQL): SQL =>
  sql`(select row_number from import_rows indexed by import_rows_of_order
    where import_id = ${importId} and group_key in ${keys})`

interface GroupedRow {
  row_number: number
  /** Null for a row that belongs to no order. */
  group_key: string | null
}

/** Adds the next rows to the orders of their keys. An order has the number of its first row. */
export function buildGroupStatements(importId: string, rows: readonly GroupedRow[]): Statement[] {
  const groups = Map.groupBy(
    rows.filter(({ group_key }) => group_key !== null),
    ({ group_key }) => group_key,
  )
  const orders = [...groups].map(([key, members]) => JSON.stringify([members[0]?.row_number, key, members.length]))
  return splitIntoParameters(orders).map(
    (part): Statement => sql`insert into import_orders (import_id, number, group_key, rows_count)
      select ${importId}, value ->> 0, value ->> 1, value ->> 2 from json_each(${`[${part.join(',')}]`}) where true
      on conflict (import_id, group_key) where group_key is not null do update set rows_count = rows_count + excluded.rows_count`,
  )
}

export type StagedRow = typeof importRows.$inferSelect

/** A staged row with undecoded JSON. */
export interface RawStagedRow extends Pick<StagedRow, 'row_number' | 'file_line' | 'group_key'> {
  data: string
  errors: string
}

export const pickStagedValues = ({ values, unmapped_total = null, assumed_targets = [], ...row }: StagedValues) => ({
  values,
  currency_mark: row.currency_mark ?? null,
  ...(unmapped_total === null ? {} : { unmapped_total }),
  ...(assumed_targets.length === 0 ? {} : { assumed_targets }),
})

export function parseStagedRow({ data, errors, file_line }: RawStagedRow): PlacedRow {
  const { currency_mark = null, ...stagedRow } = decodeValue(importRows.data, data)
  return {
    ...stagedRow,
    currency_mark,
    errors: decodeValue(importRows.errors, errors),
    is_ignored: false,
    line: file_line,
  }
}

/** Selects the outcome of a row. Rows of created orders have none of their own and take that of their order. */
export const selectRowOutcome = (row: SQL): SQL =>
  sql`coalesce(${row}.outcome, (select row_order.outcome from import_orders as row_order
    where row_order.import_id = ${row}.import_id and row_order.group_key = ${row}.group_key))`
