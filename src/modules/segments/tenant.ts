import { and, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select } from '../../db/select.ts'
import { getActingReach, editionVisibility, buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import { type FieldError, invalid } from '../../domain/errors.ts'
import type { ExpressionPlace } from './calculation/audience.ts'

export interface TenantInput {
  organization_id?: string | undefined
  edition_id?: string | undefined
}

/** Builds an error about a field of the body or a parameter of the query. */
type ErrorBuilder = (name: keyof TenantInput | null, code: string, detail: string) => FieldError

/** Only roles of the organisation see all of it; roles of an edition do not. */
const organizationVisibility = {
  ...buildVisibility(sql`${organizations.id}`, sql`${organizations.id}`),
  inEditions: () => sql`0`,
}

/** The editions where the caller has a role. Empty for a caller who sees everything. */
function listVisibleEditions(ctx: Ctx, organizationId: string): string[] {
  const reach = getActingReach(ctx.caller)
  if (reach.all) return []
  return reach.editions.flatMap(({ organization_id, edition_id }) =>
    organization_id === organizationId && edition_id !== null ? [edition_id] : [],
  )
}

/**
 * Finds the organisation or editions of a request. For a caller without a role in the organisation,
 * `organization_id` means the editions where the caller has a role. An organisation or edition that the caller
 * cannot see counts as missing.
 */
export async function findSegmentTenant(
  ctx: Ctx,
  { organization_id, edition_id }: TenantInput,
  buildFieldError: ErrorBuilder,
): Promise<ExpressionPlace> {
  const buildUnknown = (name: keyof TenantInput) =>
    invalid(buildFieldError(name, 'does_not_exist', 'Object does not exist.'))
  if (edition_id !== undefined) {
    const edition = await ctx.db.first(
      select({ organization_id: editions.organization_id, timezone: editions.timezone })
        .from(editions)
        .where(and(eq(editions.id, edition_id), isVisibleTo(ctx.caller, editionVisibility))),
    )
    if (organization_id !== undefined && edition && edition.organization_id !== organization_id)
      throw buildUnknown('organization_id')
    if (!edition) throw buildUnknown('edition_id')
    return { organization_id: edition.organization_id, edition_id, edition_timezone: edition.timezone }
  }
  if (organization_id === undefined)
    throw invalid(buildFieldError(null, 'required_filter', 'Set `organization_id` or `edition_id`.'))
  const visibleEditions = listVisibleEditions(ctx, organization_id)
  if (visibleEditions.length)
    return { organization_id, edition_id: null, edition_timezone: null, editions: visibleEditions }
  const organization = await ctx.db.first(
    select({ id: organizations.id })
      .from(organizations)
      .where(and(eq(organizations.id, organization_id), isVisibleTo(ctx.caller, organizationVisibility))),
  )
  if (!organization) throw buildUnknown('organization_id')
  return { organization_id, edition_id: null, edition_timezone: null }
}
