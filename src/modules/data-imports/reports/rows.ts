import type { FileFormat } from '@ecms/table-reader'
import type { z } from '@hono/zod-openapi'
import { getTableColumns, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Database } from '../../../db/database.ts'
import { importOrders, importRows } from '../../../db/schema/data-imports.ts'
import { makeNullable, type RowOf } from '../../../db/select.ts'
import type { RowOutcome } from '../../../domain/data-imports/data-imports.ts'
import type { StoredWarning } from '../../../domain/data-imports/mapping/index.ts'
import type { ImportProblem } from '../run/problems.ts'
import type { RowProblem } from '../run/run-contract.ts'

export type Headers = ReadonlyMap<number, string>

const r = alias(importRows, 'r')
const o = alias(importOrders, 'o')

/** Columns of a row, with the outcome that it takes from its order. */
export const listedFields = {
  ...getTableColumns(r),
  outcome: sql<RowOutcome | null>`coalesce(r.outcome, o.outcome)`,
  order_id: makeNullable(o.order_id),
  user_id: makeNullable(o.user_id),
  undo_outcome: makeNullable(o.undo_outcome),
  undo_reason: makeNullable(o.undo_reason),
}

export type ListedRow = RowOf<typeof listedFields> & { headers: Headers; format: FileFormat | null }

export async function loadHeaders(db: Database, importId: string): Promise<Headers> {
  const columns = await db.all(
    sql<{ source_index: number; source_column: string }>`select source_index, source_column from import_columns
      where import_id = ${importId}`,
  )
  return new Map(columns.map(({ source_index, source_column }) => [source_index, source_column]))
}

export const addColumnNames = (problems: readonly ImportProblem[], headers: Headers): z.input<typeof RowProblem>[] =>
  problems.map(({ row, column, target_field, code, message, value }) => ({
    row,
    column: column === null ? null : (headers.get(column) ?? null),
    target_field,
    code,
    message,
    value,
  }))

/** Fills in stored problems. Those from staging have no line, so they get the line of their row. */
export const toProblems = (storedWarnings: readonly StoredWarning[], line: number): ImportProblem[] =>
  storedWarnings.map(({ row = line, column = null, target_field = null, code, message, value = null }) => ({
    row,
    column,
    target_field,
    code,
    message,
    value,
  }))
