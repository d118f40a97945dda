import { and, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select } from '../../db/select.ts'
import { getActingReach, editionVisibility, buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import { type FieldError, invalid } from '../../domain/errors.ts'
import type { SegmentTenant } from './calculation/audience.ts'

export interface TenantInput {
  organization_id?: string | undefined
  edition_id?: string | undefined
}

/** The names of the parts of a request: pointers in a body, names in a query. */
type Naming = (name: keyof TenantInput | null, code: string, detail: string) => FieldError

/** The whole of an organisation is seen by its own roles alone. */
const organizationVisibility = {
  ...buildVisibility(sql`${organizations.id}`, sql`${organizations.id}`),
  inEditions: () => sql`0`,
}

/** The editions of the organisation in which a caller has a role, where the caller has none in the organisation. */
function editionsSeen(ctx: Ctx, organizationId: string): string[] {
  const reach = getActingReach(ctx.caller)
  if (reach.all) return []
  return reach.editions.flatMap(({ organization_id, edition_id }) =>
    organization_id === organizationId && edition_id !== null ? [edition_id] : [],
  )
}

/**
 * The organisation or editions whose people and values are requested. For a caller without a role in the organisation,
 * `organization_id` alone means the editions in which the caller has a role. A hidden one answers like a missing one.
 */
export async function findTenant(
  ctx: Ctx,
  { organization_id, edition_id }: TenantInput,
  naming: Naming,
): Promise<SegmentTenant> {
  const unknown = (name: keyof TenantInput) => invalid(naming(name, 'does_not_exist', 'Object does not exist.'))
  if (edition_id !== undefined) {
    const edition = await ctx.db.first(
      select({ organization_id: editions.organization_id })
        .from(editions)
        .where(and(eq(editions.id, edition_id), isVisibleTo(ctx.caller, editionVisibility))),
    )
    if (organization_id !== undefined && edition && edition.organization_id !== organization_id)
      throw unknown('organization_id')
    if (!edition) throw unknown('edition_id')
    return { organization_id: edition.organization_id, edition_id }
  }
  if (organization_id === undefined)
    throw invalid(naming(null, 'required_filter', 'Give organization_id or edition_id.'))
  const seen = editionsSeen(ctx, organization_id)
  if (seen.length) return { organization_id, edition_id: null, editions: seen }
  const found = await ctx.db.first(
    select({ id: organizations.id })
      .from(organizations)
      .where(and(eq(organizations.id, organization_id), isVisibleTo(ctx.caller, organizationVisibility))),
  )
  if (!found) throw unknown('organization_id')
  return { organization_id, edition_id: null }
}
