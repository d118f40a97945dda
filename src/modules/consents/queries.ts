import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import { consents, consentStats } from '../../db/schema/consents.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select, type Nullable } from '../../db/select.ts'
import { type Visibility, isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import type { Language } from '../../domain/languages.ts'
import { type EditionSummaryRow, editionSummaryFields } from '../editions/index.ts'
import { type OrganizationSummaryRow, organizationSummaryFields } from '../organizations/index.ts'

export type DefinitionRow = typeof consents.$inferSelect

const { consent_id: _, ...stats } = getTableColumns(consentStats)

type Stats = Omit<typeof consentStats.$inferSelect, 'consent_id'>

/**
 * A definition with its counts, organisation and edition. Edition columns are null when the whole organisation owns it.
 */
export type ConsentRow = Omit<DefinitionRow, 'organization_id' | 'edition_id'> &
  OrganizationSummaryRow &
  Nullable<EditionSummaryRow> &
  Stats & { default_language: Language | null }

/** Edition roles also see the organisation's definitions, which apply in their editions. */
export const definitionVisibility: Visibility = {
  inOrganizations: (ids) => inList(sql`consents.organization_id`, ids),
  inEditions: (ids) => sql`(${inList(sql`consents.edition_id`, ids)} or (consents.edition_id is null
    and consents.organization_id in (select organization_id from editions where ${inList(sql`editions.id`, ids)})))`,
}

const tenantFields = {
  ...organizationSummaryFields,
  ...editionSummaryFields,
  default_language: sql<Language | null>`${editions.default_language}`,
}

/** The definition's columns come last, so that its ids win over those of a missing edition. */
export const definitionColumns = { ...tenantFields, ...stats, ...getTableColumns(consents) }

/** Finds a definition with the tenant that decides who may change it. */
export async function findConsent(ctx: Ctx, id: string): Promise<ConsentRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select(definitionColumns)
      .from(consents)
      .innerJoin(consentStats, eq(consentStats.consent_id, consents.id))
      .innerJoin(organizations, eq(organizations.id, consents.organization_id))
      .leftJoin(editions, eq(editions.id, consents.edition_id))
      .where(and(eq(consents.id, id), isVisibleTo(ctx.caller, definitionVisibility))),
  )
  if (!row) throw notFound()
  const { organization_id, edition_id } = row
  return { ...row, tenant: { organization_id, editions: edition_id === null ? [] : [edition_id] } }
}

/** Finds a definition to read, which every role of the organisation and of its editions may. */
export const findReadableConsent = async (ctx: Ctx, id: string): Promise<ConsentRow & { tenant: null }> => ({
  ...(await findConsent(ctx, id)),
  tenant: null,
})

export interface TenantSummary extends OrganizationSummaryRow, Nullable<EditionSummaryRow> {
  default_language: Language | null
}

/** Finds the organisation and the edition of a new definition. Edition columns are null when the edition is unknown. */
export const findConsentTenant = (
  ctx: Ctx,
  organizationId: string,
  editionId: string | null,
): Promise<TenantSummary | undefined> =>
  ctx.db.first(
    select(tenantFields)
      .from(organizations)
      .leftJoin(editions, and(eq(editions.id, editionId ?? ''), eq(editions.organization_id, organizations.id)))
      .where(eq(organizations.id, organizationId)),
  )

/** Lists which of these ids are no definitions of exactly this organisation or edition. */
export async function listForeignConsents(
  { db }: Pick<Ctx, 'db'>,
  { organization_id, edition_id }: { organization_id: string; edition_id: string | null },
  ids: readonly string[],
): Promise<string[]> {
  const rows = await db.all(sql<{ id: string }>`select value as id from json_each(${JSON.stringify(ids)})
    where not exists (select 1 from consents where consents.id = value
      and consents.organization_id = ${organization_id} and consents.edition_id is ${edition_id})
    order by key`)
  return rows.map(({ id }) => id)
}
