import { and, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { refuseUnlessAll, refuseUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select } from '../../db/select.ts'
import { mayAt, type RoleCode, listRolesAt } from '../../domain/accounts/access.ts'
import { doesNotExist, fieldError, permissionDenied } from '../../domain/errors.ts'

/** Refuses an unknown organisation, and an edition of another one. */
export async function checkTenant(ctx: Ctx, organizationId: string, editionId: string | null): Promise<void> {
  const found = await ctx.db.first(
    select({ edition_id: editions.id })
      .from(organizations)
      .leftJoin(editions, and(eq(editions.id, editionId ?? ''), eq(editions.organization_id, organizations.id)))
      .where(eq(organizations.id, organizationId)),
  )
  if (!found) throw doesNotExist('organization_id')
  if (editionId !== null && found.edition_id === null) throw doesNotExist('edition_id')
}

/** As `checkTenant`, inside the transaction that writes: it costs no round trip of its own. */
export function tenantExists(organizationId: string, editionId: string | null): Statement {
  const organization = sql`exists (select 1 from organizations where id = ${organizationId})`
  const edition = sql`exists (select 1 from editions where id = ${editionId} and organization_id = ${organizationId})`
  return refuseUnlessAll(
    { condition: organization, code: 'unknown_organization' },
    ...(editionId === null ? [] : [{ condition: edition, code: 'unknown_edition' } as const]),
  )
}

/** Moving a row to another edition of its organisation takes one of these roles there too. */
export async function checkMove(
  ctx: Ctx,
  roles: readonly RoleCode[],
  organizationId: string,
  editionId: string | null,
): Promise<void> {
  const tenant = { organization_id: organizationId, editions: editionId === null ? [] : [editionId] }
  const isOpen = ctx.caller.is_superuser || listRolesAt(ctx.caller, tenant).length > 0
  if (editionId !== null && !isOpen) throw doesNotExist('edition_id')
  if (!mayAt(ctx.caller, roles, tenant))
    throw permissionDenied(roles, [
      fieldError(['edition_id'], 'permission_denied', 'Your role does not include this organisation or edition.'),
    ])
  await checkTenant(ctx, organizationId, editionId)
}

/**
 * For the commit of everything that changes what an edition owns: the batch is refused with `edition_archived` when one
 * of the editions is archived at that moment. Costs one statement, and nothing where no edition is named.
 */
export function openEditions(...editionIds: readonly (string | null | undefined)[]): Statement[] {
  const named = [...new Set(editionIds.filter((id) => typeof id === 'string'))]
  if (named.length === 0) return []
  const ids = sql.join(
    named.map((id) => sql`${id}`),
    sql`, `,
  )
  const archived = sql`exists (select 1 from editions where id in (${ids}) and is_archived = 1)`
  return [refuseUnless(sql`not ${archived}`, 'edition_archived')]
}
