import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { containsFolded } from '../../db/contains.ts'
import { paginate } from '../../db/lists/paginate.ts'
import { files } from '../../db/schema/files/files.ts'
import { fromFlag, fromJson, type RowOf, select } from '../../db/select.ts'
import { inList, type Visibility, visible, visibleIn } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import type { FileFilters, FileOrdering } from './contract.ts'
import { type FileUse, isUsed, usesOf } from './references.ts'

export type StoredFile = typeof files.$inferSelect

/** The index of an organisation's files serves those of its editions too. */
const fileVisibility: Visibility = {
  inOrganizations: (ids) => inList(sql`files.organization_id`, ids),
  inEditions: (ids) => sql`(files.organization_id in (select organization_id from editions
    where ${inList(sql`editions.id`, ids)}) and ${inList(sql`files.edition_id`, ids)})`,
}

const columns = (ctx: Ctx) => ({
  ...getTableColumns(files),
  is_used: fromFlag(isUsed(sql`${files.id}`)),
  /** What refers to the file, as far as the caller sees it. */
  used_by: fromJson<FileUse[]>(usesOf(ctx, sql`${files.id}`)),
})

export type FileRow = RowOf<ReturnType<typeof columns>>

function conditions(ctx: Ctx, filters: FileFilters): SQL[] {
  const { organization_id, edition_id, purpose, mime_type, is_used, search } = filters
  const used = isUsed(sql`files.id`)
  return [
    visibleIn(ctx.caller, fileVisibility, filters),
    ...(organization_id ? [eq(files.organization_id, organization_id)] : []),
    ...(edition_id
      ? [
          sql`files.organization_id = (select organization_id from editions where editions.id = ${edition_id})
            and files.edition_id = ${edition_id}`,
        ]
      : []),
    ...(purpose ? [eq(files.purpose, purpose)] : []),
    ...(mime_type ? [eq(files.mime_type, mime_type)] : []),
    ...(is_used === undefined ? [] : [is_used ? used : sql`not ${used}`]),
    ...(search ? [containsFolded(sql`files.search`, search)] : []),
  ]
}

export const listFiles = (
  ctx: Ctx,
  page: PageRequest,
  ordering: FileOrdering,
  filters: FileFilters,
): Promise<Page<FileRow>> =>
  paginate(ctx.db, page, {
    from: sql`files`,
    key: sql`files.id`,
    where: conditions(ctx, filters),
    sort: sortBy(ordering, '-created', {
      created: sql`files.created_at`,
      modified: sql`files.modified_at`,
      name: sql`files.name`,
      size: sql`files.size`,
    }),
    columns: columns(ctx),
    joins: sql`join files on files.id = page.key`,
  })

export async function findFile(ctx: Ctx, id: string): Promise<FileRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select(columns(ctx))
      .from(files)
      .where(and(eq(files.id, id), visible(ctx.caller, fileVisibility))),
  )
  if (!row) throw notFound()
  const { organization_id, edition_id } = row
  return { ...row, tenant: { organization_id, editions: edition_id === null ? [] : [edition_id] } }
}
