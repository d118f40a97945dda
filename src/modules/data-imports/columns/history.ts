import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import { inList } from '../../../db/conditions.ts'
import type { Database, Statement } from '../../../db/database.ts'
import {
  importColumns,
  importConstants,
  importHeaderHistory,
  importSourceHistory,
} from '../../../db/schema/data-imports.ts'
import { select } from '../../../db/select.ts'
import { splitIntoParameters } from '../../../db/write.ts'
import {
  defaultOptions,
  readOptions,
  rememberedOptions,
  type RememberedOption,
  type StoredOptions,
} from '../../../domain/data-imports/data-imports.ts'
import type { ImportKind } from '../../../domain/data-imports/import-kinds.ts'
import { buildHeaderKeys, isIdKey, type RememberedColumn } from '../../../domain/data-imports/mapping/index.ts'
import type { ImportRow } from '../background/steps.ts'
import { getImportSource } from '../run/setting.ts'

/** The stored target of a column that the user ignored. */
const ignoredTarget = ''

/** A date that the user gave to orders without one is not remembered, because the next file has other orders. */
const dateTarget = 'order.created'

/** Other orders have other payments. */
const paymentTarget = 'order.payment_reference'

/**
 * Owners of the memory that an import may use: its edition, and the organisation if a role of the organisation began
 * the reading. The first one that remembers something wins.
 */
const listMemoryOwners = ({
  edition_id,
  organization_id,
  uses_organization_memory,
}: Pick<ImportRow, 'edition_id' | 'organization_id' | 'uses_organization_memory'>): string[] =>
  uses_organization_memory ? [edition_id, organization_id] : [edition_id]

/** Imports of orders and of customers remember nothing for each other. */
interface Memory {
  owners: readonly string[]
  kind: ImportKind
}

export const getMemory = (row: ImportRow): Memory => ({ owners: listMemoryOwners(row), kind: row.kind })

/** Decisions of an owner in its last import of a source. */
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

/** Finds the source of the owner's last import whose file had about the same headers. */
async function findSourceOfOwner(
  db: Database,
  owner: string,
  kind: ImportKind,
  headers: readonly string[],
): Promise<string | null> {
  const sources = await db.all(
    sql<{
      external_source: string
      stored_count: number
      shared_count: number
      has_ids: number
    }>`select external_source,
        count(*) as stored_count, sum(${inList(sql`header_key`, headers)}) as shared_count,
        max(coalesce(target_field, '') = 'order.external_id') or exists (select 1 from import_source_history as source
          where source.owner_id = ${owner} and source.kind = ${kind} and source.external_source = columns.external_source
            and source.options ->> 'group_by' = 'email') as has_ids
      from import_header_history as columns where owner_id = ${owner} and kind = ${kind}
      group by external_source having shared_count > 0 order by max(used_at) desc`,
  )
  const ratedSources = sources.map((one) => ({
    ...one,
    share: one.shared_count / (one.stored_count + headers.length - one.shared_count),
  }))
  const hasIds = headers.some(isIdKey)
  const [bestSource] = ratedSources
    .filter(({ share, has_ids }) => share >= (hasIds || has_ids ? leastShared : leastSharedOfLists))
    .toSorted((one, other) => other.share - one.share)
  return bestSource?.external_source ?? null
}

/** The first result of an owner that is not null. */
async function findFirst<Result>(
  owners: readonly string[],
  find: (owner: string) => Promise<Result | null>,
): Promise<Result | null> {
  for (const owner of owners) {
    const result = await find(owner)
    if (result !== null) return result
  }
  return null
}

export const findSourceByHeaders = (
  db: Database,
  { owners, kind }: Memory,
  headers: readonly string[],
): Promise<string | null> => findFirst(owners, (owner) => findSourceOfOwner(db, owner, kind, headers))

async function loadMemoryOfOwner(
  db: Database,
  owner: string,
  kind: ImportKind,
  source: string,
): Promise<SourceMemory | null> {
  const isOfSource = (table: typeof importHeaderHistory | typeof importSourceHistory) =>
    and(eq(table.owner_id, owner), eq(table.kind, kind), eq(table.external_source, source))
  const [headers, [sourceHistory]] = await db.batch([
    select(getTableColumns(importHeaderHistory)).from(importHeaderHistory).where(isOfSource(importHeaderHistory)),
    select(getTableColumns(importSourceHistory)).from(importSourceHistory).where(isOfSource(importSourceHistory)),
  ])
  if (!sourceHistory) return null
  return {
    columns: headers.flatMap(({ target_field, ...column }) => (target_field ? [{ ...column, target_field }] : [])),
    left_out: new Set(headers.flatMap((one) => (one.target_field === ignoredTarget ? [one.header_key] : []))),
    constants: sourceHistory.constants,
    options: sourceHistory.options,
  }
}

export const loadSourceMemory = (
  db: Database,
  { owners, kind }: Memory,
  source: string,
): Promise<SourceMemory | null> => findFirst(owners, (owner) => loadMemoryOfOwner(db, owner, kind, source))

/**
 * Loads the last target of each header in any source of the owners, for files of a source that is new. Null for headers
 * that were left out.
 */
export async function loadHeaderHistory(
  db: Database,
  { owners, kind }: Memory,
  headers: readonly string[],
): Promise<Map<string, string | null>> {
  const rows = await db.all(
    sql<{ header_key: string; target_field: string }>`select header_key, target_field from import_header_history
      where ${inList(sql`owner_id`, owners)} and kind = ${kind} and target_field is not null
        and ${inList(sql`header_key`, headers.filter(Boolean))} order by owner_id = ${owners[0] ?? ''}, used_at`,
  )
  return new Map(
    rows.map(({ header_key, target_field }) => [header_key, target_field === ignoredTarget ? null : target_field]),
  )
}

/** Adds the remembered options where the import still has the defaults, and names them. */
export function recallOptions(options: StoredOptions, memory: SourceMemory | null) {
  const currentOptions = readOptions(options)
  const names = rememberedOptions.filter(
    (name) => memory?.options[name] !== undefined && currentOptions[name] === defaultOptions[name],
  )
  const recalledOptions = Object.fromEntries(names.map((name) => [name, memory?.options[name]]))
  return { options: readOptions({ ...currentOptions, ...recalledOptions }), names }
}

function pickRemembered(options: StoredOptions): StoredOptions {
  const currentOptions = readOptions(options)
  const changedNames = rememberedOptions.filter(
    (name: RememberedOption) => currentOptions[name] !== defaultOptions[name],
  )
  return Object.fromEntries(changedNames.map((name) => [name, currentOptions[name]]))
}

interface Decisions {
  columns: readonly (typeof importColumns.$inferSelect)[]
  constants: readonly (typeof importConstants.$inferSelect)[]
}

/** Decides whether the value of blank or missing cells may be taken for other orders of the owner. */
const canRepeatValue = (target: string | null, isOrganization: boolean): boolean =>
  target !== dateTarget &&
  target !== paymentTarget &&
  // People of one edition were not asked for the consent of another one.
  !(isOrganization && target?.startsWith('consent.'))

function buildMemoryStatements(row: ImportRow, owner: string, now: number, { columns, constants }: Decisions) {
  const { kind } = row
  const source = getImportSource(row)
  const isOrganization = owner === row.organization_id
  const keys = buildHeaderKeys(columns.map(({ source_column }) => source_column))
  const decisions = columns.flatMap((column, index) =>
    reportHeader.test(column.source_column)
      ? []
      : JSON.stringify([
          keys[index],
          column.is_ignored ? ignoredTarget : column.target_field,
          column.target_position,
          canRepeatValue(column.target_field, isOrganization) ? column.default_value : null,
          JSON.stringify(column.transform),
          column.value_map && JSON.stringify(column.value_map),
        ]),
  )
  const constantValues = Object.fromEntries(
    constants.flatMap(({ target_field, value }) =>
      canRepeatValue(target_field, isOrganization) ? [[target_field, value]] : [],
    ),
  )
  return [
    sql`delete from import_header_history where owner_id = ${owner} and kind = ${kind}
      and external_source = ${source}`,
    ...splitIntoParameters(decisions).map(
      (part) => sql`insert into import_header_history (owner_id, organization_id, kind, external_source,
          header_key, target_field, target_position, default_value, transform, value_map, used_at)
        select ${owner}, ${row.organization_id}, ${kind}, ${source}, value ->> 0, value ->> 1, value ->> 2, value ->> 3,
          value ->> 4, value ->> 5, ${now}
        from json_each(${`[${part.join(',')}]`})`,
    ),
    sql`insert into import_source_history (owner_id, organization_id, kind, external_source, constants, options,
        used_at)
      values (${owner}, ${row.organization_id}, ${kind}, ${source}, ${JSON.stringify(constantValues)},
        ${JSON.stringify(pickRemembered(row.options))}, ${now})
      on conflict (owner_id, kind, external_source) do update set constants = excluded.constants,
        options = excluded.options, used_at = excluded.used_at`,
  ]
}

/**
 * Remembers which products of the file the user chose, for the next file of the edition, and for this one if its columns
 * are read again.
 */
export const buildProductMemory = (row: ImportRow, now: number): Statement =>
  sql`insert into import_product_history (edition_id, product_key, action, product_id, variant_id, location_id,
      option_ids, used_at)
    select ${row.edition_id}, product_key, action, product_id, variant_id, location_id, option_ids, ${now}
    from import_products where import_id = ${row.id} and action is not null and not is_suggested
    on conflict (edition_id, product_key) do update set action = excluded.action, product_id = excluded.product_id,
      variant_id = excluded.variant_id, location_id = excluded.location_id, option_ids = excluded.option_ids,
      used_at = excluded.used_at`

/**
 * Remembers all decisions for the next file of this source. The start of an import commits this. `isOfOrganization` is
 * true if whoever starts it has a role of the organisation.
 */
export async function buildHistoryStatements(
  db: Database,
  row: ImportRow,
  isOfOrganization: boolean,
  now: number,
): Promise<Statement[]> {
  const [columns, constants] = await db.batch([
    select(getTableColumns(importColumns))
      .from(importColumns)
      .where(eq(importColumns.import_id, row.id))
      .orderBy(importColumns.source_index),
    select(getTableColumns(importConstants)).from(importConstants).where(eq(importConstants.import_id, row.id)),
  ])
  const owners = listMemoryOwners({ ...row, uses_organization_memory: isOfOrganization })
  return [
    ...owners.flatMap((owner) => buildMemoryStatements(row, owner, now, { columns, constants })),
    buildProductMemory(row, now),
  ]
}
