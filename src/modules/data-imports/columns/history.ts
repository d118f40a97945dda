import { eq, sql } from 'drizzle-orm'
import type { Database, Statement } from '../../../db/database.ts'
import { importColumns } from '../../../db/schema/data-imports.ts'
import { select } from '../../../db/select.ts'
import { inList } from '../../../db/visibility.ts'
import { buildHeaderKey } from '../../../domain/data-imports/mapping/index.ts'
import type { ImportRow } from '../background/steps.ts'
import type { ColumnRow } from '../mapping/state.ts'

/** The stored target of a column that the user ignored. */
const ignoredTarget = ''

/** Loads the targets that the organisation chose last for these headers; null for headers that it ignored. */
export async function loadHeaderHistory(
  db: Database,
  organizationId: string,
  columns: readonly Pick<ColumnRow, 'source_column'>[],
): Promise<Map<string, string | null>> {
  const keys = [...new Set(columns.map(({ source_column }) => buildHeaderKey(source_column)))].filter(Boolean)
  const rows = await db.all(
    sql<{ header_key: string; target_field: string }>`select header_key, target_field from import_header_history
      where organization_id = ${organizationId} and ${inList(sql`header_key`, keys)}`,
  )
  return new Map(
    rows.map(({ header_key, target_field }) => [header_key, target_field === ignoredTarget ? null : target_field]),
  )
}

/**
 * Remembers the mapping for the organisation's next file with the same headers. The start of an import commits this.
 */
export async function buildHistoryStatements(
  db: Database,
  row: Pick<ImportRow, 'id' | 'organization_id'>,
  now: number,
): Promise<Statement[]> {
  const columns = await db.all(
    select({
      source_column: importColumns.source_column,
      target_field: importColumns.target_field,
      is_ignored: importColumns.is_ignored,
    })
      .from(importColumns)
      .where(eq(importColumns.import_id, row.id)),
  )
  const decisions = columns.flatMap(({ source_column, target_field, is_ignored }) => {
    const key = buildHeaderKey(source_column)
    const isUndecided = key === '' || (target_field === null && !is_ignored)
    return isUndecided ? [] : [[key, target_field ?? ignoredTarget] as const]
  })
  // Two columns with the same header are ambiguous.
  const counts = Map.groupBy(decisions, ([key]) => key)
  const unambiguous = decisions.filter(([key]) => counts.get(key)?.length === 1)
  return [
    sql`insert into import_header_history (organization_id, header_key, target_field, used_at)
      select ${row.organization_id}, value ->> 0, value ->> 1, ${now} from json_each(${JSON.stringify(unambiguous)}) where true
      on conflict (organization_id, header_key) do update set target_field = excluded.target_field,
        used_at = excluded.used_at`,
  ]
}
