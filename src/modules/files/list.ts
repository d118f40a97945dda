import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import { buildConditions, contains, equals, type FilterTable } from '../../db/filters.ts'
import { buildOrderBy, maxIndexedOffset, maxSortedOffset, paginate } from '../../db/paginate.ts'
import { files } from '../../db/schema/files.ts'
import { listReachedOrganizations, isVisibleIn } from '../../db/visibility.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { FileQuery } from './contract.ts'
import { buildFileColumns, type FileRow, fileVisibility, toFileRow } from './queries.ts'
import { isUsed } from './references.ts'

const filters: FilterTable<Omit<FileQuery, 'organization_id'>> = {
  edition_id: equals(files.edition_id),
  purpose: equals(files.purpose),
  mime_type: equals(files.mime_type),
  is_used: (value) => (value ? isUsed(sql`files.id`) : sql`not ${isUsed(sql`files.id`)}`),
  search: contains(files.search),
}

const sortColumns = {
  created: sql`files.created_at`,
  modified: sql`files.modified_at`,
  name: sql`files.name_key`,
  size: sql`files.size`,
}

/** Lists files. SQLite sorts orderings other than by creation from the same index. */
export async function listFiles(ctx: Ctx, page: PageRequest, query: FileQuery): Promise<Page<FileRow>> {
  const scope = buildScope(ctx, query)
  const isIndexed = scope.isOneOrganization && query.ordering.every(({ name }) => name === 'created')
  const result = await paginate(ctx.db, page, {
    from: sql`files indexed by files_of_organization`,
    where: [scope.where, isVisibleIn(ctx.caller, fileVisibility, query), ...buildConditions(filters, query)],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
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
  { organization_id, edition_id }: FileQuery,
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
