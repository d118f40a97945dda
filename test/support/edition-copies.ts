import { sql } from 'drizzle-orm'
import { db } from './seeding/rows.ts'

export type Row = Record<string, string | number | null>

export const whereEdition = (table: string, id: string): Promise<Row[]> =>
  db.all(sql<Row>`select * from ${sql.raw(table)} where edition_id = ${id} order by id`)

export const listChildren = (table: string, id: string): Promise<Row[]> =>
  db.all(sql<Row>`select * from ${sql.raw(table)}
    where product_id in (select id from products where edition_id = ${id}) order by id`)

/** Reads all rows that an edition owns, by table and in the order of their creation. */
export async function loadContents(id: string): Promise<Record<string, Row[]>> {
  const contents: Record<string, Row[]> = {}
  for (const table of ['categories', 'products', 'locations', 'triggers', 'consents', 'pass_designs', 'email_messages'])
    contents[table] = await whereEdition(table, id)
  for (const table of ['variants', 'options']) contents[table] = await listChildren(table, id)
  contents['product_aliases'] = await db.all(sql<Row>`select * from product_aliases
    where edition_id = ${id} order by name_folded`)
  contents['consent_versions'] = await db.all(sql<Row>`select consent_versions.* from consent_versions
    join consents on consents.id = consent_id where edition_id = ${id} order by consent_id, consent_versions.version`)
  return contents
}

/** Replaces ids by names such as `products 0`, so that a copy equals its source. */
export function nameIds(contents: Record<string, Row[]>): Record<string, Row[]> {
  const names = new Map<string, string>()
  for (const [table, rows] of Object.entries(contents))
    for (const [index, row] of rows.entries()) if (row['id']) names.set(String(row['id']), `${table} ${index}`)
  const rename = (row: Row): Row =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, names.get(String(value)) ?? value]))
  return Object.fromEntries(Object.entries(contents).map(([table, rows]) => [table, rows.map(rename)]))
}

/** Columns whose values a copy does not share with its source, in any table. */
const ownColumns = ['edition_id', 'created_at', 'modified_at', 'version']
const omitColumns = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)))
export const omitOwnColumns = (rows: Row[] | undefined, names: readonly string[] = []): Row[] =>
  (rows ?? []).map((row) => omitColumns(row, [...ownColumns, ...names]))
