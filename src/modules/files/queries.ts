import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { containsFolded } from '../../db/contains.ts'
import type { SortKey } from '../../db/lists/list-source.ts'
import { ofOwners } from '../../db/lists/page-statement.ts'
import { paginate } from '../../db/lists/paginate.ts'
import { areCountable } from '../../db/lists/spans/count-spans.ts'
import { bySpans } from '../../db/lists/spans/start-of-spans.ts'
import { valuesOfIndex } from '../../db/lists/values-of-index.ts'
import { files } from '../../db/schema/files/files.ts'
import { fromFlag, fromJson, type RowOf, select } from '../../db/select.ts'
import {
  editionVisibility,
  inList,
  seesOrganization,
  type Visibility,
  visible,
  visibleIn,
} from '../../db/visibility.ts'
import { reachOf, type Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { isFileType } from '../../domain/files/types.ts'
import { type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import type { FileFilters, FileOrdering } from './contract.ts'
import { type FileUse, isUsed, usesOf } from './references.ts'
import { fileSpans } from './spans.ts'

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
  /** What refers to the file, as far as the caller sees it. To merge what nothing says costs a row for each kind of it. */
  used_by: fromJson<FileUse[]>(sql`iif(${isUsed(sql`${files.id}`)}, ${usesOf(ctx, sql`${files.id}`)}, '[]')`),
})

export type FileRow = RowOf<ReturnType<typeof columns>>

/** Those of files that lists are counted by. */
interface FileFacets {
  /** The only editions whose files are listed. */
  editions: readonly string[] | undefined
  purpose: string | undefined
  mime_type: string | undefined
}

/** A query of the organisation whose files are listed; null where there may be several. */
function organizationOf(ctx: Ctx, { organization_id, edition_id }: FileFilters): SQL | string | null {
  if (edition_id === undefined) {
    const reach = reachOf(ctx.caller)
    const isOfOne = !reach.all && reach.organizations.length === 1 && reach.editions.length === 0
    return organization_id ?? (isOfOne ? (reach.organizations[0] ?? null) : null)
  }
  const asked = { organization_id, edition_id }
  return sql`select organization_id as id from editions where id = ${edition_id}
    and ${organization_id === undefined ? sql`1` : sql`organization_id = ${organization_id}`}
    and ${visibleIn(ctx.caller, editionVisibility, asked)}`
}

function facetsOf({ caller }: Ctx, { organization_id, edition_id, purpose, mime_type }: FileFilters): FileFacets {
  const reach = reachOf(caller)
  const isWhole = organization_id === undefined || seesOrganization(caller, organization_id)
  const seen = reach.all || isWhole ? undefined : reach.editions.flatMap((grant) => grant.edition_id ?? [])
  return { editions: edition_id === undefined ? seen : [edition_id], purpose, mime_type }
}

/** As an index has it. Files of the whole organisation have `-`. */
const kind = sql`coalesce(files.edition_id, '-') || ' ' || files.purpose || ' ' || files.mime_type`

/** The kinds of these files that the organisation has. */
function kindsOf(ofOrganization: SQL, { editions, purpose, mime_type }: FileFacets): SQL {
  const kinds = valuesOfIndex({
    from: sql`files indexed by files_by_kind`,
    value: kind,
    where: [ofOrganization],
    begin: editions?.length === 1 ? editions[0] : undefined,
  })
  return sql`${kinds}
    ${editions === undefined ? sql`` : sql`and ${inList(sql`substr(id, 1, instr(id, ' ') - 1)`, editions)}`}
    ${purpose === undefined ? sql`` : sql`and instr(id, ${` ${purpose} `})`}
    ${mime_type === undefined ? sql`` : sql`and substr(id, instr(substr(id, instr(id, ' ') + 1), ' ') + instr(id, ' ') + 1) = ${mime_type}`}`
}

/** How the files of one organisation are found and counted. */
function servedBy(ctx: Ctx, filters: FileFilters, sort: readonly SortKey[]) {
  const { is_used, search } = filters
  const scopes = organizationOf(ctx, filters)
  if (scopes === null) return null
  const facets = facetsOf(ctx, filters)
  const { editions, purpose, mime_type } = facets
  const ofOrganization = sql`files.organization_id = ${typeof scopes === 'string' ? scopes : sql`(${scopes})`}`
  const isOfAll = editions === undefined && purpose === undefined && mime_type === undefined
  const isByCreation = sort.length === 1 && sort[0]?.by === fileSpans.key
  const owners = { column: sql`(${kind})`, ids: kindsOf(ofOrganization, facets), isOrdered: isByCreation }
  const found = isOfAll ? {} : { index: sql`files_by_kind`, owners }
  const isCounted =
    is_used === undefined &&
    search === undefined &&
    (typeof scopes !== 'string' || editions !== undefined || seesOrganization(ctx.caller, scopes)) &&
    areCountable([purpose, ...(editions ?? [])]) &&
    (mime_type === undefined || isFileType(mime_type))
  const counted = isCounted && {
    scopes,
    facets: (editions ?? [undefined]).map((edition) => [edition, purpose, mime_type]),
    where: [ofOrganization, ...ofOwners(found)],
    ...found,
  }
  return { ...found, where: [ofOrganization], ...bySpans(fileSpans, counted || null, sort) }
}

function conditions({ is_used, search }: FileFilters): SQL[] {
  const used = isUsed(sql`files.id`)
  return [
    ...(is_used === undefined ? [] : [is_used ? used : sql`not ${used}`]),
    ...(search ? [containsFolded(sql`files.search`, search)] : []),
  ]
}

export function listFiles(
  ctx: Ctx,
  page: PageRequest,
  ordering: FileOrdering,
  filters: FileFilters,
): Promise<Page<FileRow>> {
  const { purpose, mime_type } = filters
  const sort = sortBy(ordering, '-created', {
    created: fileSpans.key,
    modified: sql`files.modified_at`,
    name: sql`files.name`,
    size: sql`files.size`,
  })
  const served = servedBy(ctx, filters, sort) ?? {
    where: [
      visible(ctx.caller, fileVisibility),
      ...(purpose ? [eq(files.purpose, purpose)] : []),
      ...(mime_type ? [eq(files.mime_type, mime_type)] : []),
    ],
  }
  return paginate(ctx.db, page, {
    ...served,
    from: sql`files`,
    key: sql`files.id`,
    where: [...served.where, ...conditions(filters)],
    sort,
    columns: columns(ctx),
    joins: sql`join files on files.id = page.key`,
  })
}

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
