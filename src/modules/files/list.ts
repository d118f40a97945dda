import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { containsFolded } from '../../db/search.ts'
import { buildOrderBy, maxIndexedOffset, maxSortedOffset, paginate } from '../../db/paginate.ts'
import { inList } from '../../db/conditions.ts'
import { listReachedOrganizations, isVisibleIn } from '../../db/visibility.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { FileFilters, FileOrdering } from './contract.ts'
import { buildFileColumns, type FileRow, fileVisibility, toFileRow } from './queries.ts'
import { isUsed } from './references.ts'

/** Lists files. SQLite sorts orderings other than by creation from the same index. */
export async function listFiles(
  ctx: Ctx,
  page: PageRequest,
  ordering: FileOrdering,
  filters: FileFilters,
): Promise<Page<FileRow>> {
  const scope = buildScope(ctx, filters)
  const isIndexed = scope.isOneOrganization && ordering.every(({ name }) => name === 'created')
  const result = await paginate(ctx.db, page, {
    from: sql`files indexed by files_of_organization`,
    where: [scope.where, isVisibleIn(ctx.caller, fileVisibility, filters), ...buildConditions(filters)],
    orderBy: buildOrderBy(ordering, '-created', {
      created: sql`files.created_at`,
      modified: sql`files.modified_at`,
      name: sql`files.name_key`,
      size: sql`files.size`,
    }),
    id: sql`files.id`,
    columns: buildFileColumns(ctx),
    joins: sql`join files on files.id = page.id`,
    maxOffset: isIndexed ? maxIndexedOffset : maxSortedOffset,
  })
  return { ...result, rows: result.rows.map(toFileRow) }
}

/** The organisations to list. SQLite uses the order of the index only within a single one. */
function buildScope(
  { caller }: Ctx,
  { organization_id, edition_id }: FileFilters,
): { where: SQL; isOneOrganization: boolean } {
  const selectOne = (id: SQL | string) => ({ where: sql`files.organization_id = ${id}`, isOneOrganization: true })
  if (organization_id !== undefined) return selectOne(organization_id)
  if (edition_id !== undefined) return selectOne(sql`(select organization_id from editions where id = ${edition_id})`)
  const ids = listReachedOrganizations(caller)
  const [onlyId, ...others] = ids ?? []
  if (onlyId !== undefined && others.length === 0) return selectOne(onlyId)
  const organizations = ids ? inList(sql`files.organization_id`, ids) : sql`1`
  return { where: organizations, isOneOrganization: false }
}

function buildConditions({ edition_id, purpose, mime_type, is_used, search }: FileFilters): SQL[] {
  const used = isUsed(sql`files.id`)
  const conditions = [
    edition_id === undefined ? null : sql`files.edition_id = ${edition_id}`,
    purpose === undefined ? null : sql`files.purpose = ${purpose}`,
    mime_type === undefined ? null : sql`files.mime_type = ${mime_type}`,
    is_used === undefined ? null : is_used ? used : sql`not ${used}`,
    search ? containsFolded(sql`files.search`, search) : null,
  ]
  return conditions.filter((condition) => condition !== null)
}
