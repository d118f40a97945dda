import { eq, getTableColumns, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import type { NoFilters } from '../../db/lists/filters.ts'
import type { Owners } from '../../db/lists/list-source.ts'
import { ofOwners } from '../../db/lists/page-statement.ts'
import { paginate } from '../../db/lists/paginate.ts'
import { areCountable, countOfSpans, type SpannedRows } from '../../db/lists/spans/count-spans.ts'
import { bySpans } from '../../db/lists/spans/start-of-spans.ts'
import { valuesOfIndex } from '../../db/lists/values-of-index.ts'
import { auditLog } from '../../db/schema/audit-log.ts'
import { accounts, members } from '../../db/schema/organizations.ts'
import type { RowOf } from '../../db/select.ts'
import { seesOrganization, visibilityOf, visibleIn } from '../../db/visibility.ts'
import { invalid, parameterError } from '../../domain/errors.ts'
import { firstIdAt } from '../../domain/ids.ts'
import { type OrderBy, type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import type { AuditFilters } from './contract.ts'
import { entrySpans, resourceSpans, scopeOfResource } from './spans.ts'

const columns = getTableColumns(auditLog)
const { key } = entrySpans

/** The actor may be no account, and no member any more. */
const actorFields = {
  email: sql<string | null>`${accounts.email}`,
  member_id: sql<string | null>`${members.id}`,
  first_name: sql<string | null>`${members.first_name}`,
  last_name: sql<string | null>`${members.last_name}`,
}

const ofActors = sql`left join ${accounts} on ${accounts.id} = ${columns.actor_id}
  left join ${members} on ${members.id} = (select min(id) from members as own
    where own.account_id = audit_log.actor_id and own.organization_id = audit_log.organization_id)`

const fields = { ...columns, ...actorFields }

export type AuditRow = RowOf<typeof fields>

/** Filters of which indexes have the entries, and the others. */
type IndexFilters = Pick<AuditFilters, 'actor_id' | 'action' | 'resource_type' | 'resource_id'>
type TimeFilters = Omit<AuditFilters, keyof IndexFilters>

const auditVisibility = visibilityOf(sql`${columns.organization_id}`, sql`null`)

const ofFacets = ({ actor_id, action, resource_type }: AuditFilters): SQL[] => [
  ...(actor_id === undefined ? [] : [eq(columns.actor_id, actor_id)]),
  ...(action === undefined ? [] : [eq(columns.action, action)]),
  ...(resource_type === undefined ? [] : [eq(columns.resource_type, resource_type)]),
]

function conditions(ctx: Ctx, filters: TimeFilters, organizationId: string): SQL[] {
  const { organization_id, created_after, created_before, ...unnamed } = filters
  unnamed satisfies NoFilters
  return [
    eq(columns.organization_id, organizationId),
    visibleIn(ctx.caller, auditVisibility, { organization_id }),
    ...(created_after === undefined ? [] : [gte(columns.id, firstIdAt('audit_entry', created_after))]),
    ...(created_before === undefined ? [] : [lt(columns.id, firstIdAt('audit_entry', created_before))]),
  ]
}

/** As indexes have it. Entries without a kind have `-`, which is the name of none. */
const kindAndAction = sql`coalesce(${columns.resource_type}, '-') || ' ' || ${columns.action}`

/**
 * The kinds with their actions that the entries of an organisation, or of an actor in it, have and that are asked for. An
 * index leads from one to the next.
 */
function kindsAndActions(filters: AuditFilters, organizationId: string, index: SQL): SQL {
  const { actor_id, action, resource_type } = filters
  const values = valuesOfIndex({
    from: sql`${auditLog} indexed by ${index}`,
    value: kindAndAction,
    where: [eq(columns.organization_id, organizationId), ...ofFacets({ actor_id })],
    begin: resource_type,
  })
  return sql`${values} ${resource_type === '-' ? sql`and 0` : sql``}
    ${action === undefined ? sql`` : sql`and substr(id, instr(id, ' ') + 1) = ${action}`}`
}

interface FoundEntries {
  /** Conditions on what entries are counted by. */
  facets: readonly SQL[]
  /** The index that has the entries of each owner in their order. */
  index?: SQL
  owners?: Owners
}

const ofResource = ({ resource_id }: AuditFilters): SQL[] =>
  resource_id === undefined ? [] : [eq(columns.resource_id, resource_id)]

function foundByResource(filters: AuditFilters, organizationId: string): FoundEntries {
  const facets = [eq(columns.organization_id, organizationId), ...ofResource(filters), ...ofFacets(filters)]
  return { facets, index: sql`audit_log_of_resource` }
}

function foundByFacets(filters: AuditFilters, organizationId: string): FoundEntries {
  const { actor_id } = filters
  const index = actor_id === undefined ? sql`audit_log_of_action` : sql`audit_log_of_actor`
  const owners = {
    column: sql`(${kindAndAction})`,
    ids: kindsAndActions(filters, organizationId, index),
    isOrdered: true,
  }
  return { index, owners, facets: [...ofFacets({ actor_id }), ...ofResource(filters)] }
}

/** Entries are counted in spans: those of an organisation, or of a resource. */
const spansOf = ({ resource_id }: AuditFilters) => (resource_id === undefined ? entrySpans : resourceSpans)

function countedOf(
  ctx: Ctx,
  filters: Omit<AuditFilters, 'organization_id'>,
  organizationId: string,
  { owners, index, facets: where }: FoundEntries,
): SpannedRows | null {
  const { actor_id, action, resource_type, resource_id, created_after, created_before, ...unnamed } = filters
  unnamed satisfies NoFilters
  const facets = [actor_id, action, resource_type]
  if (!areCountable(facets) || !seesOrganization(ctx.caller, organizationId)) return null
  const others = [...ofFacets(filters), ...ofResource(filters)]
  return {
    scopes: resource_id === undefined ? organizationId : scopeOfResource(organizationId, resource_id),
    facets: [facets],
    where: [...where, ...ofOwners({ owners })],
    index,
    byKey: owners && [eq(columns.organization_id, organizationId), ...others.map((other) => sql`+${other}`)],
    from: created_after,
    until: created_before,
  }
}

/** A resource with no more entries is looked through for those of an actor, an action or a kind. */
const fewEntries = 1000

/**
 * How entries of a resource that are also of an actor, an action or a kind are found. No index has both. Of a resource with
 * many entries, they are looked for among the fewer: those of the resource, or the others of the organisation.
 */
async function foundByFewer(ctx: Ctx, filters: AuditFilters, organizationId: string): Promise<FoundEntries> {
  const byResource = foundByResource(filters, organizationId)
  const { actor_id: _actor, action: _action, resource_type: _type, ...resource } = filters
  const { resource_id: _resource, ...facets } = filters
  const counts = [
    { asked: resource, found: foundByResource(resource, organizationId) },
    { asked: filters, found: byResource },
    { asked: facets, found: foundByFacets(facets, organizationId) },
  ].flatMap(({ asked, found }) => {
    const counted = countedOf(ctx, asked, organizationId, found)
    return counted ? [countOfSpans(spansOf(asked), counted).statement] : []
  })
  if (counts.length < 3) return byResource
  const [ofResources = 0, matching = 0, ofOthers = 0] = (await ctx.db.batch(counts)).map(([row]) => row?.n ?? 0)
  if (matching === 0) return { ...byResource, facets: [...byResource.facets, sql`0`] }
  return ofResources > fewEntries && ofOthers < ofResources ? foundByFacets(filters, organizationId) : byResource
}

function foundBy(ctx: Ctx, filters: AuditFilters, organizationId: string): FoundEntries | Promise<FoundEntries> {
  const { actor_id, action, resource_type, resource_id, ...unnamed }: IndexFilters = filters
  unnamed satisfies NoFilters
  const haveFacets = actor_id !== undefined || action !== undefined || resource_type !== undefined
  if (resource_id === undefined) return haveFacets ? foundByFacets(filters, organizationId) : { facets: [] }
  return haveFacets ? foundByFewer(ctx, filters, organizationId) : foundByResource(filters, organizationId)
}

export async function listEntries(
  ctx: Ctx,
  page: PageRequest,
  ordering: readonly OrderBy<'created'>[],
  filters: AuditFilters,
): Promise<Page<AuditRow>> {
  if (filters.organization_id === undefined && !ctx.caller.is_superuser)
    throw invalid(parameterError('organization_id', 'required', 'The organisation is needed.'))
  const organizationId = filters.organization_id ?? ''
  const sort = sortBy(ordering, '-created', { created: key })
  const found = await foundBy(ctx, filters, organizationId)
  return paginate(ctx.db, page, {
    from: sql`${auditLog}`,
    index: found.index,
    key,
    where: [...conditions(ctx, filters, organizationId), ...found.facets],
    owners: found.owners,
    sort,
    columns: fields,
    ...bySpans(spansOf(filters), countedOf(ctx, filters, organizationId, found), sort),
    joins: sql`join ${auditLog} on ${columns.organization_id} = ${organizationId} and ${columns.id} = page.key ${ofActors}`,
    read: { table: sql`${auditLog}`, joins: ofActors },
  })
}
