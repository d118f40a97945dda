import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { type Standing, standing, visible } from '../../db/visibility.ts'

interface FileReference {
  table: string
  /** Holds the id of a file. */
  column: string
  /** Type of what refers to the file, as answers name it. */
  type: string
  name: SQL
  standing: Standing
}

/** Every column of the database through which something uses a file. */
export const fileReferences: readonly FileReference[] = [
  {
    table: 'editions',
    column: 'meta_image_id',
    type: 'edition',
    name: sql`editions.full_name`,
    standing: standing(sql`editions.organization_id`, sql`editions.id`),
  },
  {
    table: 'data_imports',
    column: 'file_id',
    type: 'data_import',
    name: sql`data_imports.name`,
    standing: standing(sql`data_imports.organization_id`, sql`data_imports.edition_id`),
  },
]

export interface FileUse {
  type: string
  id: string
  name: string
  field: string
}

export const mostUses = 20

const columnOf = ({ table, column }: FileReference): SQL => sql.raw(`${table}.${column}`)

/** True for a file that something refers to. */
export const isUsed = (file: SQL): SQL =>
  sql`(${sql.join(
    fileReferences.map((one) => sql`exists (select 1 from ${sql.raw(one.table)} where ${columnOf(one)} = ${file})`),
    sql` or `,
  )})`

/** What of it the caller sees, as a JSON array. */
export const usesOf = (ctx: Ctx, file: SQL): SQL => {
  const parts = fileReferences.map(
    (one) => sql`select ${one.type} as type, ${sql.raw(`${one.table}.id`)} as id, ${one.name} as name,
      ${one.column} as field from ${sql.raw(one.table)}
      where ${columnOf(one)} = ${file} and ${visible(ctx.caller, one.standing)}`,
  )
  return sql`(select json_group_array(json_object('type', type, 'id', id, 'name', name, 'field', field)) from
    (select * from (${sql.join(parts, sql` union all `)}) order by type, id limit ${sql.raw(String(mostUses))}))`
}
