import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import {
  containsContact,
  eraseContacts,
  eraseEntries,
  type ErasedContacts,
  listSpellings,
} from '../../../domain/erasure.ts'
import { isRecord, readJson } from '../../../domain/text/json.ts'

interface MappingRow {
  key: string
  /** The values of `columns`. */
  texts: string
}

/** The treatment of a text that contains an address of the person. */
type Treatment = 'remove_row' | 'clear' | 'replace' | 'remove_entries'

interface MappingTable {
  name: string
  /** Tells the rows of the table apart. */
  key: SQL
  isOfOrganization: (organizationId: string) => SQL
  columns: Readonly<Record<string, Treatment>>
}

const isOfImport = (organizationId: string) =>
  sql`import_id in (select id from data_imports where organization_id = ${organizationId})`
const isOfOrganization = (organizationId: string) => sql`organization_id = ${organizationId}`

const tables: readonly MappingTable[] = [
  {
    name: 'import_constants',
    key: sql`import_id || ' ' || target_field`,
    isOfOrganization: isOfImport,
    columns: { value: 'remove_row' },
  },
  {
    name: 'import_columns',
    key: sql`id`,
    isOfOrganization: isOfImport,
    columns: { source_column: 'replace', default_value: 'clear', value_map: 'remove_entries' },
  },
  {
    name: 'import_header_history',
    key: sql`owner_id || ' ' || kind || ' ' || external_source || ' ' || header_key`,
    isOfOrganization,
    columns: { header_key: 'remove_row', default_value: 'clear', value_map: 'remove_entries' },
  },
  {
    name: 'import_source_history',
    key: sql`owner_id || ' ' || kind || ' ' || external_source`,
    isOfOrganization,
    columns: { constants: 'remove_entries' },
  },
  { name: 'data_imports', key: sql`id`, isOfOrganization, columns: { error_message: 'replace', format: 'replace' } },
]

/** The columns that `eraseInMappings` searches. */
export const mappingColumns: readonly string[] = tables.flatMap(({ name, columns }) =>
  Object.keys(columns).map((column) => `${name}.${column}`),
)

const rowsPerStep = 200

/** Returns the text without the person's addresses: null if nothing of it may stay. */
function eraseText(treatment: Treatment, text: string, contacts: ErasedContacts): string | null {
  if (treatment === 'remove_entries') return JSON.stringify(eraseEntries(readJson(text, isRecord), contacts))
  if (treatment === 'replace') return eraseContacts(text, contacts)
  return containsContact(text, contacts) ? null : text
}

/** Builds the statements that erase the person in a row. A row that changed since it was read stays for the next pass. */
function buildRowErasure({ name, key, columns }: MappingTable, row: MappingRow, contacts: ErasedContacts): Statement[] {
  const texts = JSON.parse(row.texts) as (string | null)[]
  const table = sql.raw(name)
  return Object.entries(columns).flatMap(([columnName, treatment], index) => {
    const text = texts[index] ?? null
    const erasedText = text === null ? null : eraseText(treatment, text, contacts)
    if (erasedText === text) return []
    const column = sql.raw(columnName)
    const isUnchanged = sql`${key} = ${row.key} and ${column} = ${text}`
    return treatment === 'remove_row'
      ? [sql`delete from ${table} where ${isUnchanged}`]
      : [sql`update ${table} set ${column} = ${erasedText} where ${isUnchanged}`]
  })
}

const selectRows = (
  { name, key, isOfOrganization: isOfIt, columns }: MappingTable,
  page: { after: string; spellings: string; organizationId: string },
) => {
  const names = Object.keys(columns).map((column) => sql.raw(column))
  const hasSpelling = names.map((column) => sql`instr(lower(${column}), spelling.value) > 0`)
  return sql<MappingRow>`select ${key} as key, json_array(${sql.join(names, sql`, `)}) as texts from ${sql.raw(name)}
    where ${isOfIt(page.organizationId)} and ${key} > ${page.after}
      and exists (select 1 from json_each(${page.spellings}) as spelling where ${sql.join(hasSpelling, sql` or `)})
    order by 1 limit ${rowsPerStep}`
}

/**
 * Removes the person's addresses from the next mappings of the organisation's imports, also from what later imports
 * would take over. Returns where to continue: null at the end.
 */
export async function eraseInMappings(
  { db }: Pick<JobCtx, 'db'>,
  organizationId: string,
  contacts: ErasedContacts,
  cursor: string,
): Promise<string | null> {
  const [index, after] = cursor === '' ? [0, ''] : (JSON.parse(cursor) as [number, string])
  const table = tables[index]
  if (!table) return null
  const spellings = JSON.stringify(listSpellings(contacts))
  const rows = await db.all(selectRows(table, { after, spellings, organizationId }))
  const statements = rows.flatMap((row) => buildRowErasure(table, row, contacts))
  if (statements.length > 0) await db.batch(statements)
  const last = rows.at(-1)
  return JSON.stringify(last && rows.length === rowsPerStep ? [index, last.key] : [index + 1, ''])
}
