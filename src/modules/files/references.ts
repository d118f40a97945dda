import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import { editionVisibility, type Visibility, buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import { type RoleCode, managers } from '../../domain/accounts/access.ts'

interface FileReference {
  table: string
  /** The column with the id of the file. It needs an index. */
  column: string
  /** The type and the field under which responses name the use. */
  type: string
  field: string
  /** Joins the table of the resource, if `table` only holds pairs of ids. */
  join?: SQL
  id: SQL
  name: SQL
  visibility: Visibility
  /** The roles that can read the resource, if not all can. */
  readers?: readonly RoleCode[]
}

/** All columns that refer to files. */
export const fileReferences: readonly FileReference[] = [
  {
    table: 'editions',
    column: 'meta_image_id',
    type: 'edition',
    field: 'meta_image_id',
    id: sql`editions.id`,
    name: sql`editions.full_name`,
    visibility: editionVisibility,
  },
  {
    table: 'organizations',
    column: 'avatar_file_id',
    type: 'organization',
    field: 'avatar_file_id',
    id: sql`organizations.id`,
    name: sql`organizations.name`,
    visibility: {
      inOrganizations: (ids) => inList(sql`organizations.id`, ids),
      inEditions: (ids) =>
        sql`organizations.id in (select organization_id from editions where ${inList(sql`editions.id`, ids)})`,
    },
  },
  {
    table: 'product_images',
    column: 'file_id',
    type: 'product',
    field: 'images',
    join: sql`join products on products.id = product_images.product_id`,
    id: sql`products.id`,
    name: sql`products.name`,
    visibility: buildVisibility(sql`products.organization_id`, sql`products.edition_id`),
  },
  {
    table: 'pass_designs',
    column: 'logo_image_id',
    type: 'pass_design',
    field: 'logo_image_id',
    id: sql`pass_designs.id`,
    name: sql`pass_designs.name`,
    visibility: buildVisibility(sql`pass_designs.organization_id`, sql`pass_designs.edition_id`),
  },
  {
    table: 'email_message_images',
    column: 'file_id',
    type: 'email_message',
    field: 'blocks',
    join: sql`join email_messages on email_messages.id = email_message_images.message_id`,
    id: sql`email_messages.id`,
    name: sql`email_messages.title`,
    visibility: {
      inOrganizations: (ids) => inList(sql`email_messages.organization_id`, ids),
      // Edition roles may see the organisation's templates.
      inEditions: (ids) => sql`(${inList(sql`email_messages.edition_id`, ids)} or (email_messages.edition_id is null
        and email_messages.organization_id in
          (select organization_id from editions where ${inList(sql`editions.id`, ids)})))`,
    },
  },
  {
    table: 'data_imports',
    column: 'file_id',
    type: 'data_import',
    field: 'file_id',
    id: sql`data_imports.id`,
    name: sql`data_imports.name`,
    visibility: buildVisibility(sql`data_imports.organization_id`, sql`data_imports.edition_id`),
    readers: managers,
  },
]

export interface FileUse {
  type: string
  id: string
  name: string
  field: string
}

const maxUses = 20

const buildColumn = ({ table, column }: FileReference): SQL => sql.raw(`${table}.${column}`)

/** True for a file that something uses. */
export const isUsed = (file: SQL): SQL =>
  sql`(${sql.join(
    fileReferences.map(
      (reference) => sql`exists (select 1 from ${sql.raw(reference.table)} where ${buildColumn(reference)} = ${file})`,
    ),
    sql` or `,
  )})`

/** D1 allows this many terms in one compound select. */
const maxCompoundTerms = 5

/** Joins any number of selects by `union all`, in nested groups. */
function unite(selects: readonly SQL[]): SQL {
  const terms = sql.join(selects.slice(0, maxCompoundTerms - 1), sql` union all `)
  const rest = selects.slice(maxCompoundTerms - 1)
  return rest.length === 0 ? terms : sql`${terms} union all select * from (${unite(rest)})`
}

/** The uses of a file that the caller may see, as a JSON array. */
export const listFileUses = (ctx: Ctx, file: SQL): SQL => {
  const parts = fileReferences.map(
    (reference) => sql`select ${reference.type} as type, ${reference.id} as id, ${reference.name} as name,
        ${reference.field} as field
      from ${sql.raw(reference.table)} ${reference.join ?? sql``}
      where ${buildColumn(reference)} = ${file}
        and ${isVisibleTo(ctx.caller, reference.visibility, reference.readers)}`,
  )
  return sql`(select json_group_array(json_object('type', type, 'id', id, 'name', name, 'field', field)) from
    (select * from (${unite(parts)}) order by type, id limit ${sql.raw(String(maxUses))}))`
}
