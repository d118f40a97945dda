import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { containsFolded } from '../../db/contains.ts'
import { sortedFilters, type NoFilters } from '../../db/lists/filters.ts'
import { idKeys, type ListState } from '../../db/lists/list-hits.ts'
import type { ListSource, OldSortKey } from '../../db/lists/list-source.ts'
import { isFarPage, longSkip } from '../../db/lists/page-by-number.ts'
import { paginate } from '../../db/lists/paginate.ts'
import { paginateKept } from '../../db/lists/paginate-kept.ts'
import { areCountable, countOfSpans } from '../../db/lists/spans/count-spans.ts'
import { queryOf } from '../../db/lists/spans/rows-of-spans.ts'
import { bySpans } from '../../db/lists/spans/start-of-spans.ts'
import { behind, valuesOfIndex } from '../../db/lists/values-of-index.ts'
import { files } from '../../db/schema/files/files.ts'
import { fromJson, type RowOf, select } from '../../db/select.ts'
import {
  actingReach,
  editionVisibility,
  inList,
  inOnlyOrganization,
  seesOrganization,
  type Visibility,
  visible,
  visibleIn,
} from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { isFileType } from '../../domain/files/types.ts'
import { type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import type { FileFilters, FileOrdering } from './contract.ts'
import { type FileUse, isUsed, usesOf } from './references.ts'
import { fileSpans } from './spans.ts'

export type StoredFile = typeof files.$inferSelect

/** The index of an organisation's files serves those of its editions too. */
export const fileVisibility: Visibility = {
  inOrganizations: (ids) => inList(sql`files.organization_id`, ids),
  inEditions: (ids) => sql`(files.organization_id in (select organization_id from editions
    where ${inList(sql`editions.id`, ids)}) and ${inList(sql`files.edition_id`, ids)})`,
}

const columns = (ctx: Ctx) => ({
  ...getTableColumns(files),
  /** What refers to the file, as far as the caller sees it; null where nothing does. To merge nothing costs a row for each kind of it. */
  uses: fromJson<FileUse[] | null>(sql`iif(${isUsed(sql`${files.id}`)}, ${usesOf(ctx, sql`${files.id}`)}, 'null')`),
})

const fileRow = ({ uses, ...file }: RowOf<ReturnType<typeof columns>>) => ({
  ...file,
  is_used: uses !== null,
  used_by: uses ?? [],
})

export type FileRow = ReturnType<typeof fileRow>

/** Those of files that lists are counted by. */
interface FileFacets {
  /** The only editions whose files are listed. */
  editions: readonly string[] | undefined
  purpose: string | undefined
  mime_type: string | undefined
}

/** A query of the organisation whose files are listed; null where there may be several. */
function organizationOf(ctx: Ctx, { organization_id, edition_id }: FileFilters): SQL | string | null {
  if (edition_id === undefined) return organization_id ?? null
  const asked = { organization_id, edition_id }
  return sql`select organization_id as id from editions where id = ${edition_id}
    and ${organization_id === undefined ? sql`1` : sql`organization_id = ${organization_id}`}
    and ${visibleIn(ctx.caller, editionVisibility, asked)}`
}

/** Filters of which indexes have the files in groups, and the others. */
type GroupFilters = Pick<FileFilters, 'organization_id' | 'edition_id' | 'purpose' | 'mime_type'>
type ComparedFilters = Omit<FileFilters, keyof GroupFilters>

function facetsOf({ caller }: Ctx, filters: GroupFilters): FileFacets {
  const { organization_id, edition_id, purpose, mime_type, ...unnamed } = filters
  unnamed satisfies NoFilters
  const reach = actingReach(caller)
  const isWhole = organization_id === undefined || seesOrganization(caller, organization_id)
  const seen = reach.all || isWhole ? undefined : reach.editions.flatMap((grant) => grant.edition_id ?? [])
  return { editions: edition_id === undefined ? seen : [edition_id], purpose, mime_type }
}

/** As indexes have it. Files of the whole organisation have `-`. */
const place = sql`coalesce(files.edition_id, '-')`

const keys = {
  created: fileSpans.key,
  modified: sql`files.modified_at`,
  name: sql`files.name`,
  size: sql`files.size`,
} satisfies Record<FileOrdering[number]['name'], SQL>

/** An index that has the files of each group in an order. */
interface FileIndex {
  key: SQL
  index: SQL
  /** What a group has in common, its words behind spaces. */
  group: SQL
  hasType: boolean
}

const byKind = { group: sql`${place} || ' ' || files.purpose || ' ' || files.mime_type`, hasType: true }
const byPurpose = { group: sql`${place} || ' ' || files.purpose`, hasType: false }
const byCreation: FileIndex = { key: keys.created, index: sql`files_by_kind`, ...byKind }
const indexes: readonly FileIndex[] = [
  byCreation,
  { key: keys.modified, index: sql`files_by_modified`, ...byPurpose },
  { key: keys.name, index: sql`files_by_name`, ...byPurpose },
  { key: keys.size, index: sql`files_by_size`, ...byPurpose },
]

/** A kind without its last word. */
const beforeType = (kind: SQL): SQL => sql`rtrim(${kind}, replace(${kind}, ' ', ''))`

/** Where the next kind of these files begins: others of an edition, and of a purpose, are passed. Behind a space comes `!`. */
const nextKind =
  ({ purpose, mime_type }: FileFacets) =>
  (id: SQL): SQL => {
    const edition = sql`substr(${id}, 1, instr(${id}, ' ') - 1)`
    const before = beforeType(id)
    const ofType = sql`${before} || ${mime_type}`
    const inPurpose =
      mime_type === undefined ? behind(id) : sql`iif(${id} < ${ofType}, ${ofType}, rtrim(${before}) || '!')`
    if (purpose === undefined) return inPurpose
    const ofPurpose = sql`${edition} || ${` ${purpose} `}`
    return sql`case when ${id} < ${ofPurpose} then ${ofPurpose} when ${id} > ${edition} || ${` ${purpose}!`} then ${edition} || '!'
      else ${inPurpose} end`
  }

/** The groups of an index that the organisation has, of these files. */
function groupsOf({ index, group, hasType }: FileIndex, ofOrganization: SQL, facets: FileFacets): SQL {
  const { editions, purpose, mime_type } = facets
  const groups = valuesOfIndex({
    from: sql`files indexed by ${index}`,
    value: group,
    where: [ofOrganization],
    begin: editions?.length === 1 ? editions[0] : undefined,
    nextFrom: hasType ? nextKind(facets) : undefined,
  })
  return sql`${groups}
    ${editions === undefined ? sql`` : sql`and ${inList(sql`substr(id, 1, instr(id, ' ') - 1)`, editions)}`}
    ${purpose === undefined ? sql`` : sql`and instr(id || ' ', ${` ${purpose} `})`}
    ${mime_type === undefined ? sql`` : sql`and ${beforeType(sql`id`)} || ${mime_type} = id`}`
}

const conditionsOf = ({ editions, purpose, mime_type }: FileFacets): SQL[] => [
  ...(editions === undefined ? [] : [inList(sql`files.edition_id`, editions)]),
  ...(purpose === undefined ? [] : [sql`files.purpose = ${purpose}`]),
  ...(mime_type === undefined ? [] : [sql`files.mime_type = ${mime_type}`]),
]

/** How the files of one organisation are found and counted. */
function servedBy(ctx: Ctx, filters: FileFilters, sort: readonly OldSortKey[]) {
  const { organization_id, edition_id, purpose, mime_type, is_used, search, ...unnamed } = filters
  unnamed satisfies NoFilters
  const scopes = organizationOf(ctx, { organization_id, edition_id })
  if (scopes === null) return null
  const facets = facetsOf(ctx, { organization_id, edition_id, purpose, mime_type })
  const { editions } = facets
  const ofOrganization = sql`files.organization_id = ${typeof scopes === 'string' ? scopes : sql`(${scopes})`}`
  const isOfAll = editions === undefined && purpose === undefined && mime_type === undefined
  const [first, ...rest] = sort
  const inOrder = rest.length > 0 ? undefined : indexes.find(({ key }) => key === first?.by)
  const serving = inOrder && (inOrder.hasType || mime_type === undefined) ? inOrder : undefined
  const groupedBy = (found: FileIndex) => ({
    index: found.index,
    owners: {
      column: sql`(${found.group})`,
      ids: groupsOf(found, ofOrganization, facets),
      isOrdered: found === serving,
    },
  })
  const found = isOfAll && serving === byCreation ? {} : groupedBy(serving ?? byCreation)
  const isListedWhole = is_used === undefined && search === undefined
  const isCounted =
    isListedWhole &&
    (typeof scopes !== 'string' || editions !== undefined || seesOrganization(ctx.caller, scopes)) &&
    areCountable([purpose, ...(editions ?? [])]) &&
    (mime_type === undefined || isFileType(mime_type))
  const inSpans = {
    scopes,
    facets: (editions ?? [undefined]).map((edition) => [edition, purpose, mime_type]),
    where: [ofOrganization, ...conditionsOf(facets)],
    index: sql`files_by_created`,
  }
  return {
    scopes,
    /** Whether an index has all files of the list, and no others, in its order. */
    isServed: isListedWhole && serving !== undefined,
    source: { ...found, where: [ofOrganization], ...bySpans(fileSpans, isCounted ? inSpans : null, sort) },
  }
}

function conditions({ is_used, search, ...unnamed }: ComparedFilters): SQL[] {
  unnamed satisfies NoFilters
  const used = isUsed(sql`files.id`)
  return [
    ...(is_used === undefined ? [] : [is_used ? used : sql`not ${used}`]),
    ...(search ? [containsFolded(sql`files.search`, search)] : []),
  ]
}

/** The state in which files of an organisation are found and kept: each change of a file, or of what refers to one, is one of it. */
function stateOf(
  ctx: Ctx,
  scopes: SQL | string,
  { filters, ordering }: { filters: FileFilters; ordering: FileOrdering },
): ListState {
  const reach = actingReach(ctx.caller)
  const reached = reach.all ? null : [reach.organizations, reach.editions.map((grant) => grant.edition_id)]
  const ids = queryOf(scopes)
  const ofOrganization = sql`files.organization_id = (${ids})`
  const all = { scopes, facets: [[undefined, undefined, undefined]], where: [ofOrganization] }
  return {
    asked: ['files', reached, sortedFilters(filters), ordering],
    keys: idKeys,
    version: sql`coalesce((select file_changes from organization_storage where organization_id = (${ids})), 0)`,
    rows: sql`(${countOfSpans(fileSpans, all).statement})`,
    keepsOrder: true,
    now: ctx.now,
    afterCommit: ctx.afterCommit,
  }
}

/** Whether so many files stand before and behind a page that they are not passed one by one. */
async function isDeep({ db }: Ctx, request: PageRequest, count: ListSource['count']): Promise<boolean> {
  if (!isFarPage(request)) return false
  const total = typeof count === 'object' && count ? ((await db.first(count.statement))?.n ?? 0) : Infinity
  const skipped = (request.page - 1) * request.size
  return Math.min(skipped, total - skipped) > longSkip
}

export async function listFiles(
  ctx: Ctx,
  page: PageRequest,
  ordering: FileOrdering,
  asked: FileFilters,
): Promise<Page<FileRow>> {
  const filters = inOnlyOrganization(ctx.caller, asked)
  const { purpose, mime_type } = filters
  const sort = sortBy(ordering, '-created', keys)
  const served = servedBy(ctx, filters, sort)
  const { source: found } = served ?? {
    source: {
      where: [visible(ctx.caller, fileVisibility), ...conditionsOf({ editions: undefined, purpose, mime_type })],
    },
  }
  const source: ListSource<ReturnType<typeof columns>> = {
    ...found,
    from: sql`files`,
    key: sql`files.id`,
    where: [...found.where, ...conditions(filters)],
    sort,
    columns: columns(ctx),
    joins: sql`join files on files.id = page.key`,
  }
  const isWalked = !served || (served.isServed && (source.startOf || !(await isDeep(ctx, page, source.count))))
  const listed = isWalked
    ? await paginate(ctx.db, page, source)
    : await paginateKept(ctx.db, page, {
        source,
        state: stateOf(ctx, served.scopes, { filters, ordering }),
      })
  return { ...listed, rows: listed.rows.map(fileRow) }
}

export async function findFile(ctx: Ctx, id: string): Promise<FileRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select(columns(ctx))
      .from(files)
      .where(and(eq(files.id, id), visible(ctx.caller, fileVisibility))),
  )
  if (!row) throw notFound()
  const { organization_id, edition_id } = row
  return { ...fileRow(row), tenant: { organization_id, editions: edition_id === null ? [] : [edition_id] } }
}
