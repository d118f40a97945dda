import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import { selectRowNumbers } from '../background/staged.ts'

const externalId = sql`json_extract(r.data, '$.values."order.external_id"')`

interface FirstTicket {
  code: string
  row_number: number
  file_line: number
  group_key: string
}

/** Finds the first row with each ticket code whose ticket is not cancelled. */
export async function findFirstTickets(
  db: Database,
  importId: string,
  codes: readonly string[],
): Promise<Map<string, FirstTicket>> {
  const rows = await db.all(
    // The condition of the index is repeated literally.
    sql<FirstTicket>`select wanted.value as code, r.row_number, r.file_line, r.group_key
      from json_each(${JSON.stringify(codes)}) as wanted cross join import_rows r
        on r.import_id = ${importId} and r.row_number = (select s.row_number from import_rows s
          where s.import_id = ${importId} and s.group_key is not null
            and json_extract(s.data, '$.values."item.vendor_code"') = wanted.value
            and json_extract(s.data, '$.values."item.vendor_code"') is not null
            and 'cancelled' not in (coalesce(json_extract(s.data, '$.values."item.status"'), ''),
              coalesce(json_extract(s.data, '$.values."order.status"'), ''))
          order by s.row_number limit 1)`,
  )
  return new Map(rows.map((row) => [row.code, row]))
}

interface FirstRow {
  external_id: string
  row_number: number
  file_line: number
  group_key: string
}

/** Finds the first row with each external id, for files that are not grouped by it. */
export async function findFirstRows(
  db: Database,
  importId: string,
  ids: readonly string[],
): Promise<Map<string, FirstRow>> {
  const columns = sql`wanted.value as external_id, r.row_number, r.file_line, r.group_key`
  // The partial index of external ids leaves out rows whose key equals the id, so a second select reads these. Its
  // condition is repeated literally, so that SQLite uses it.
  const rows = await db.all(
    sql<FirstRow>`with wanted as (select value from json_each(${JSON.stringify(ids)}))
      select ${columns} from wanted cross join import_rows r
        on r.import_id = ${importId} and ${externalId} = wanted.value and r.group_key <> ${externalId}
        and r.row_number = (select min(s.row_number) from import_rows s where s.import_id = ${importId}
          and json_extract(s.data, '$.values."order.external_id"') = wanted.value
          and s.group_key <> json_extract(s.data, '$.values."order.external_id"'))
      union all
      select r.group_key as external_id, r.row_number, r.file_line, r.group_key from import_rows r
        where r.import_id = ${importId} and r.group_key = ${externalId}
          and r.row_number in ${selectRowNumbers(importId, sql`(select value from wanted)`)}
      order by row_number desc`,
  )
  return new Map(rows.map((row) => [row.external_id, row]))
}
