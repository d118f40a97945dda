import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { containsFolded } from '../../db/contains.ts'
import { paginate } from '../../db/paginate.ts'
import type { consents, consentStats } from '../../db/schema/consents.ts'
import { inList, type Visibility, visible, visibleIn } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import type { Language } from '../../domain/languages.ts'
import { type OrderBy, type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import { type EditionSummaryRow, editionSummaryColumns } from '../editions/index.ts'
import { type OrganizationSummaryRow, organizationSummaryColumns } from '../organizations/index.ts'
import type { Nullable } from '../../domain/nullable.ts'

export type DefinitionRow = typeof consents.$inferSelect

type Stats = Omit<typeof consentStats.$inferSelect, 'consent_id'>

/** A definition with its counts, organisation and edition; the columns of an edition are null for one of the whole organisation. */
export type ConsentRow = Omit<DefinitionRow, 'organization_id' | 'edition_id'> &
  OrganizationSummaryRow &
  Nullable<EditionSummaryRow> &
  Stats & { default_language: Language | null }

/** Edition roles see the definitions of the organisation too, which are offered in their editions. */
const definitionVisibility: Visibility = {
  inOrganizations: (ids) => inList(sql`consents.organization_id`, ids),
  inEditions: (ids) => sql`(${inList(sql`consents.edition_id`, ids)} or (consents.edition_id is null
    and consents.organization_id in (select organization_id from editions where ${inList(sql`editions.id`, ids)})))`,
}

const columns = sql`consents.*, consent_stats.records, consent_stats.given, consent_stats.skipped,
  consent_stats.withdrawn, consent_stats.expired, ${organizationSummaryColumns}, ${editionSummaryColumns},
  editions.default_language`

const consentJoins = sql`join consent_stats on consent_stats.consent_id = consents.id
  join organizations on organizations.id = consents.organization_id
  left join editions on editions.id = consents.edition_id`

interface ConsentFilters {
  organization_id?: string | undefined
  edition_id?: string | undefined
  type?: string | undefined
  is_active?: boolean | undefined
  search?: string | undefined
}

type Ordering = readonly OrderBy<'created' | 'modified' | 'name' | 'position'>[]

function conditions(ctx: Ctx, filters: ConsentFilters): SQL[] {
  const { organization_id, edition_id, type, is_active, search } = filters
  return [
    visibleIn(ctx.caller, definitionVisibility, filters),
    ...(organization_id ? [sql`consents.organization_id = ${organization_id}`] : []),
    ...(edition_id ? [sql`consents.edition_id = ${edition_id}`] : []),
    ...(type ? [sql`consents.type = ${type}`] : []),
    ...(is_active === undefined ? [] : [sql`consents.is_active = ${is_active ? 1 : 0}`]),
    ...(search ? [containsFolded(sql`consents.search`, search)] : []),
  ]
}

export const listConsents = (
  ctx: Ctx,
  page: PageRequest,
  ordering: Ordering,
  filters: ConsentFilters,
): Promise<Page<ConsentRow>> =>
  paginate<ConsentRow>(ctx.db, page, {
    from: sql`consents`,
    key: sql`consents.id`,
    where: conditions(ctx, filters),
    sort: sortBy(ordering, '-created', {
      created: sql`consents.created_at`,
      modified: sql`consents.modified_at`,
      name: sql`consents.name`,
      position: sql`consents.position`,
    }),
    columns,
    joins: sql`join consents on consents.id = page.key ${consentJoins}`,
  })

/** A definition that the caller sees. Its tenant decides who may change it: the organisation's needs its roles. */
export async function findConsent(ctx: Ctx, id: string): Promise<ConsentRow & { tenant: Tenant }> {
  const row = await ctx.db.first(sql<ConsentRow>`select ${columns} from consents ${consentJoins}
    where consents.id = ${id} and ${visible(ctx.caller, definitionVisibility)}`)
  if (!row) throw notFound()
  const { organization_id, edition_id } = row
  return { ...row, tenant: { organization_id, editions: edition_id === null ? [] : [edition_id] } }
}

/** As `findConsent`, for reading: all roles of the organisation and of its editions may read it. */
export const findReadable = async (ctx: Ctx, id: string): Promise<ConsentRow & { tenant: null }> => ({
  ...(await findConsent(ctx, id)),
  tenant: null,
})

export interface TenantSummary extends OrganizationSummaryRow, Nullable<EditionSummaryRow> {
  default_language: Language | null
}

/** The organisation, and the edition if one is named, that a definition is to belong to; undefined where one is not there. */
export const findTenant = (
  ctx: Ctx,
  organizationId: string,
  editionId: string | null,
): Promise<TenantSummary | undefined> =>
  ctx.db
    .first(sql<TenantSummary>`select ${organizationSummaryColumns}, ${editionSummaryColumns}, editions.default_language
    from organizations left join editions on editions.id = ${editionId} and editions.organization_id = organizations.id
    where organizations.id = ${organizationId}`)
