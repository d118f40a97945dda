import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Database, Statement } from '../../../db/database.ts'
import {
  importColumns,
  importConstants,
  importHeaderHistory,
  importSourceHistory,
} from '../../../db/schema/data-imports.ts'
import { select } from '../../../db/select.ts'
import { inList } from '../../../db/visibility.ts'
import { splitIntoParameters } from '../../../db/write.ts'
import {
  defaultOptions,
  readOptions,
  rememberedOptions,
  type RememberedOption,
  type StoredOptions,
} from '../../../domain/data-imports/data-imports.ts'
import { buildHeaderKeys, isIdKey, type RememberedColumn } from '../../../domain/data-imports/mapping/index.ts'
import type { ImportRow } from '../background/steps.ts'
import { getImportSource } from '../run/setting.ts'

/** The stored target of a column that the user ignored. */
const ignoredTarget = ''

/** A date that the user gave to orders without one is not remembered, because the next file has other orders. */
const dateTarget = 'order.created'

/** What an organisation decided in its last import of a source. */
export interface SourceMemory {
  columns: readonly RememberedColumn[]
  /** Keys of headers that were left out. */
  left_out: ReadonlySet<string>
  constants: Readonly<Record<string, string>>
  options: StoredOptions
}

/** Two files come from the same system if this share of all their headers is in both. */
const leastShared = 0.7

/**
 * The share for lists without ids, so that one renamed header of a short list does not import its rows again. Orders of
 * such lists are found by their content, so lists that are taken for one another do not mix up their orders.
 */
const leastSharedOfLists = 0.5

/** Columns that a report of errors adds to its file. */
const reportHeader = /^_/

export const listSourceHeaders = (names: readonly string[]): string[] =>
  buildHeaderKeys(names.filter((name) => !reportHeader.test(name)))

/** Finds the source of the organisation's last import whose file had about the same headers. */
export async function findSourceByHeaders(
  db: Database,
  organizationId: string,
  headers: readonly string[],
): Promise<string | null> {
  const sources = await db.all(
    sql<{ external_source: string; stored: number; shared: number; has_ids: number }>`select external_source,
        count(*) as stored, sum(${inList(sql`header_key`, headers)}) as shared,
        max(coalesce(target_field, '') = 'order.external_id') or exists (select 1 from import_source_history as source
          where source.organization_id = ${organizationId} and source.external_source = columns.external_source
            and source.options ->> 'group_by' = 'email') as has_ids
      from import_header_history as columns where organization_id = ${organizationId}
      group by external_source having shared > 0 order by max(used_at) desc`,
  )
  const rated = sources.map((one) => ({ ...one, share: one.shared / (one.stored + headers.length - one.shared) }))
  const hasIds = headers.some(isIdKey)
  const [best] = rated
    .filter(({ share, has_ids }) => share >= (hasIds || has_ids ? leastShared : leastSharedOfLists))
    .toSorted((one, other) => other.share - one.share)
  return best?.external_source ?? null
}

export async function loadSourceMemory(
  db: Database,
  organizationId: string,
  source: string,
): Promise<SourceMemory | null> {
  const [headers, [stored]] = await db.batch([
    select(getTableColumns(importHeaderHistory))
      .from(importHeaderHistory)
      .where(
        and(eq(importHeaderHistory.organization_id, organizationId), eq(importHeaderHistory.external_source, source)),
      ),
    select(getTableColumns(importSourceHistory))
      .from(importSourceHistory)
      .where(
        and(eq(importSourceHistory.organization_id, organizationId), eq(importSourceHistory.external_source, source)),
      ),
  ])
  if (!stored) return null
  return {
    columns: headers.flatMap(({ target_field, ...column }) => (target_field ? [{ ...column, target_field }] : [])),
    left_out: new Set(headers.flatMap((one) => (one.target_field === ignoredTarget ? [one.header_key] : []))),
    constants: stored.constants,
    options: stored.options,
  }
}

/**
 * Loads the last target of each header in any source of the organisation, for files of a source that is new. Null for
 * headers that were left out.
 */
export async function loadHeaderHistory(
  db: Database,
  organizationId: string,
  headers: readonly string[],
): Promise<Map<string, string | null>> {
  const rows = await db.all(
    sql<{ header_key: string; target_field: string }>`select header_key, target_field from import_header_history
      where organization_id = ${organizationId} and target_field is not null
        and ${inList(sql`header_key`, headers.filter(Boolean))} order by used_at`,
  )
  return new Map(
    rows.map(({ header_key, target_field }) => [header_key, target_field === ignoredTarget ? null : target_field]),
  )
}

/** Adds the remembered options where the import still has the defaults, and names them. */
export function recallOptions(options: StoredOptions, memory: SourceMemory | null) {
  const current = readOptions(options)
  const names = rememberedOptions.filter(
    (name) => memory?.options[name] !== undefined && current[name] === defaultOptions[name],
  )
  const recalled = Object.fromEntries(names.map((name) => [name, memory?.options[name]]))
  return { options: readOptions({ ...current, ...recalled }), names }
}

function pickRemembered(options: StoredOptions): StoredOptions {
  const current = readOptions(options)
  const changed = rememberedOptions.filter((name: RememberedOption) => current[name] !== defaultOptions[name])
  return Object.fromEntries(changed.map((name) => [name, current[name]]))
}

/** Remembers all decisions for the next file of this source. The start of an import commits this. */
export async function buildHistoryStatements(db: Database, row: ImportRow, now: number): Promise<Statement[]> {
  const [columns, constants] = await db.batch([
    select(getTableColumns(importColumns))
      .from(importColumns)
      .where(eq(importColumns.import_id, row.id))
      .orderBy(importColumns.source_index),
    select(getTableColumns(importConstants)).from(importConstants).where(eq(importConstants.import_id, row.id)),
  ])
  const source = getImportSource(row)
  const keys = buildHeaderKeys(columns.map(({ source_column }) => source_column))
  const decisions = columns.flatMap((column, index) =>
    reportHeader.test(column.source_column)
      ? []
      : JSON.stringify([
          keys[index],
          column.is_ignored ? ignoredTarget : column.target_field,
          column.target_position,
          column.target_field === dateTarget ? null : column.default_value,
          JSON.stringify(column.transform),
          column.value_map && JSON.stringify(column.value_map),
        ]),
  )
  const constantValues = Object.fromEntries(
    constants.flatMap(({ target_field, value }) => (target_field === dateTarget ? [] : [[target_field, value]])),
  )
  return [
    sql`delete from import_header_history
      where organization_id = ${row.organization_id} and external_source = ${source}`,
    ...splitIntoParameters(decisions).map(
      (part) => sql`insert into import_header_history (organization_id, external_source, header_key, target_field,
          target_position, default_value, transform, value_map, used_at)
        select ${row.organization_id}, ${source}, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
          value ->> 5, ${now}
        from json_each(${`[${part.join(',')}]`})`,
    ),
    sql`insert into import_source_history (organization_id, external_source, constants, options, used_at)
      values (${row.organization_id}, ${source}, ${JSON.stringify(constantValues)},
        ${JSON.stringify(pickRemembered(row.options))}, ${now})
      on conflict (organization_id, external_source) do update set constants = excluded.constants,
        options = excluded.options, used_at = excluded.used_at`,
  ]
}
