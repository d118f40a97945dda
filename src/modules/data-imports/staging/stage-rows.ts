import { type FileSource, readBytes, type RowFault } from '@ecms/table-reader'
import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import { importRows } from '../../../db/schema/data-imports.ts'
import { insertAll, splitIntoParameters } from '../../../db/write.ts'
import { countRows, readOptions } from '../../../domain/data-imports/data-imports.ts'
import {
  canonicalRangeLength,
  type IndexedRow as CanonicalRow,
  readCanonical,
} from '../../../domain/data-imports/files/canonical.ts'
import { describeRowFault } from '../../../domain/data-imports/files/faults.ts'
import type { RowsPosition } from '../../../domain/data-imports/import-position.ts'
import {
  buildContentKey,
  countTuples,
  decideRow,
  type DecidedRow,
  getGroupKey,
  isLeftOut,
  type RowGrouping,
  numberRow,
  type PreparedMappings,
  readOccurrence,
  readProduct,
  type ProductTuple,
  type StagedValues,
  type StoredError,
  type StoredWarning,
} from '../../../domain/data-imports/mapping/index.ts'
import { buildSortKey } from '../../../domain/text/fold.ts'
import { buildGroupStatements, pickStagedValues } from '../background/staged.ts'
import { commitStep, type ImportRow } from '../background/steps.ts'
import { openCanonical, getFormat } from '../mapping/source.ts'
import { loadReadingPlace, decideGrouping, loadMapping, prepareState } from '../mapping/state.ts'

interface Staged {
  row: Required<typeof importRows.$inferInsert>
  tuple: ProductTuple | null
}

interface Reading {
  preparedMappings: PreparedMappings
  group_by: RowGrouping
}

export const placeRow = (row: CanonicalRow, id: string, number: number) => ({
  import_id: id,
  row_number: number,
  file_line: row.line,
  byte_offset: row.offset,
  byte_length: row.length,
})

function ignoreRow(place: ReturnType<typeof placeRow>, warning: StoredWarning): Staged {
  const row = { ...place, group_key: null, data: { values: {} }, errors: [], warnings: [warning] }
  return { row: { ...row, outcome: 'ignored' }, tuple: null }
}

const toError = (fault: RowFault): StoredError => ({
  column: fault.column - 1,
  target_field: null,
  code: fault.code === 'too_many_cells' ? 'column_count' : fault.code,
  message: describeRowFault(fault),
  value: null,
})

const keyTarget: Record<RowGrouping, string> = {
  external_id: 'order.external_id',
  email: 'customer.email',
  row: 'order.external_id',
  contact: 'customer.email',
}

const missingKeys: Record<RowGrouping, string> = {
  external_id: 'The row has no order id.',
  email: 'The row has no e-mail address.',
  row: 'The row has no order id.',
  contact: 'The row has neither an e-mail address nor a phone number.',
}

const buildMissingKeyError = (group_by: RowGrouping): StoredError => ({
  column: null,
  target_field: keyTarget[group_by],
  code: 'missing_required',
  message: missingKeys[group_by],
  value: null,
})

interface KeyedRow {
  row: CanonicalRow
  place: ReturnType<typeof placeRow>
  /** Null for a row that is not data. */
  mappedRow: DecidedRow | null
  key: string | null
}

export function stageRow({ row, place, mappedRow, key }: KeyedRow, group_by: RowGrouping): Staged {
  if (row.kind === 'header') return ignoreRow(place, { code: 'header_row', message: 'This row repeats the header.' })
  if (row.kind === 'total') return ignoreRow(place, { code: 'total_row', message: 'This row contains totals.' })
  if (row.kind === 'note') return ignoreRow(place, { code: 'note_row', message: 'This row is a note below the table.' })
  if (!mappedRow || mappedRow.is_ignored)
    return ignoreRow(place, { code: 'ignored_by_value_map', message: 'The value map excludes this row.' })
  // Cells behind a fault may belong to other columns, so only the fault is reported.
  const rowErrors: StoredError[] = row.fault ? [toError(row.fault)] : [...mappedRow.errors]
  const target = keyTarget[group_by]
  const isReported = rowErrors.some(({ target_field }) => target_field === target)
  const errors = key === null && !isReported && !row.fault ? [...rowErrors, buildMissingKeyError(group_by)] : rowErrors
  const data = row.fault ? { values: {} } : pickStagedValues(mappedRow)
  const outcome = key === null ? ('error' as const) : null
  return {
    row: { ...place, group_key: key, data, errors, warnings: [], outcome },
    tuple: row.fault || key === null ? null : readProduct(mappedRow.values),
  }
}

/** The position of a product is its first row. */
function buildProductStatements(job: JobCtx, id: string, rows: readonly Staged[]): Statement[] {
  const tuples = rows.flatMap(({ row, tuple }) => (tuple ? [{ ...tuple, row_number: row.row_number }] : []))
  const data = [...countTuples(tuples)].map(([key, { row_number, product, variant, location, options, rows: count }]) =>
    JSON.stringify([
      row_number,
      job.newId('import_product'),
      key,
      product,
      buildSortKey(product),
      variant,
      location,
      JSON.stringify(options),
      count,
    ]),
  )
  return splitIntoParameters(data).map(
    (part) => sql`insert into import_products
        (import_id, position, id, product_key, product, name_key, variant, location, options, rows_count)
      select ${id}, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
        value ->> 7, value ->> 8
      from json_each(${`[${part.join(',')}]`}) where true
      on conflict (import_id, product_key) do update set rows_count = rows_count + excluded.rows_count`,
  )
}

async function loadReading(job: JobCtx, row: ImportRow): Promise<Reading> {
  const state = await loadMapping(job.db, row.id, await loadReadingPlace(job.db, row), readOptions(row.options))
  return { preparedMappings: prepareState(state, job.now()), group_by: decideGrouping(state) }
}

/** A row with content has the largest number among the keys that begin with its key. */
async function countEqualRows(job: JobCtx, importId: string, keys: readonly string[]): Promise<Map<string, number>> {
  const rows = await job.db.all(
    sql<{ content_key: string; last_key: string | null }>`select value as content_key, (
        select max(group_key) from import_orders where import_id = ${importId}
          and group_key > value || '-' and group_key < value || '.') as last_key
      from json_each(${JSON.stringify([...new Set(keys)])})`,
  )
  return new Map(
    rows.flatMap(({ content_key, last_key }) =>
      last_key === null ? [] : [[content_key, readOccurrence(last_key)] as const],
    ),
  )
}

/** A longer row is read by itself. */
const bytesPerStep = 262_144

async function readNextRows(file: FileSource, offset: number): Promise<CanonicalRow[]> {
  for (const length of [bytesPerStep, canonicalRangeLength]) {
    const bytes = await readBytes(file, offset, length)
    const rows = readCanonical(bytes, offset, offset + bytes.byteLength >= file.size)
    if (rows.length > 0) return rows
  }
  return []
}

const isInvalid = (errors: readonly StoredError[], { values }: StagedValues): boolean =>
  errors.some((error) => !isLeftOut(error, values['customer.email'] !== undefined))

/** Each row without a common key is an order with a key from its content. */
async function buildRowKeys(
  job: JobCtx,
  importId: string,
  decidedRows: readonly (DecidedRow | null)[],
): Promise<(string | null)[]> {
  const contentKeys = decidedRows.map((row) => (row && !row.is_ignored ? buildContentKey(row) : null))
  const counts = await countEqualRows(
    job,
    importId,
    contentKeys.filter((key) => key !== null),
  )
  return decidedRows.map((row, index) => {
    const contentKey = contentKeys[index]
    return row && contentKey ? numberRow(row, contentKey, counts) : null
  })
}

async function countOrders(job: JobCtx, row: ImportRow): Promise<ImportRow | null> {
  const orders = await job.db.first(
    sql<{ count: number }>`select count(*) as count from import_orders where import_id = ${row.id}`,
  )
  return commitStep(job, row, {
    position: { stage: 'products', progress: 0.99 },
    changes: { total_orders: orders?.count ?? 0 },
  })
}

export async function rowsStep(job: JobCtx, row: ImportRow, position: RowsPosition): Promise<ImportRow | null> {
  const file = openCanonical(job, getFormat(row))
  if (position.offset >= file.size) return countOrders(job, row)
  const canonical = await readNextRows(file, position.offset)
  const last = canonical.at(-1)
  if (!last) throw new Error('The canonical copy has a range without a row.')
  const reading = await loadReading(job, row)
  const { preparedMappings, group_by } = reading
  const mappedRows = canonical.map((one) =>
    one.kind === 'data'
      ? decideRow(preparedMappings.readers, one.cells, preparedMappings.total_reader, one.filledColumns)
      : null,
  )
  const keys =
    group_by === 'row'
      ? await buildRowKeys(job, row.id, mappedRows)
      : mappedRows.map((one) => one && getGroupKey(one, group_by))
  const rows = canonical.map((one, index) => {
    const place = placeRow(one, row.id, position.row + index + 1)
    return stageRow({ row: one, place, mappedRow: mappedRows[index] ?? null, key: keys[index] ?? null }, group_by)
  })
  const invalidCount = rows.filter(({ row: { errors, data } }) => isInvalid(errors, data)).length
  const ignoredCount = rows.filter((one) => one.row.outcome === 'ignored').length
  const offset = last.offset + last.length
  return commitStep(job, row, {
    position: {
      stage: 'grouped-rows',
      offset,
      row: position.row + rows.length,
      progress: Math.floor((99 * offset) / file.size) / 100,
    },
    changes: {
      invalid_rows: row.invalid_rows + invalidCount,
      valid_rows: row.valid_rows + rows.length - invalidCount - ignoredCount,
      row_counts: countRows(row.row_counts, {
        ignored: ignoredCount,
        error: rows.filter((one) => one.row.outcome === 'error').length,
      }),
    },
    statements: [
      ...insertAll(
        importRows,
        rows.map((one) => one.row),
      ),
      ...buildGroupStatements(
        row.id,
        rows.map((one) => one.row),
      ),
      ...buildProductStatements(job, row.id, rows),
    ],
  })
}
