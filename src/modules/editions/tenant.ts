import { and, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { refuseUnlessAll, refuseUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select } from '../../db/select.ts'
import { mayAt, type RoleCode, listRolesAt } from '../../domain/accounts/access.ts'
import { doesNotExist, fieldError, permissionDenied } from '../../domain/errors.ts'

/** Throws if the organisation does not exist, or the edition does not belong to it. */
export async function checkTenant(ctx: Ctx, organizationId: string, editionId: string | null): Promise<void> {
  const row = await ctx.db.first(
    select({ edition_id: editions.id })
      .from(organizations)
      .leftJoin(editions, and(eq(editions.id, editionId ?? ''), eq(editions.organization_id, organizations.id)))
      .where(eq(organizations.id, organizationId)),
  )
  if (!row) throw doesNotExist('organization_id')
  if (editionId !== null && row.edition_id === null) throw doesNotExist('edition_id')
}

/** Does the same as `checkTenant` inside the transaction, without a round trip of its own. */
export function requireTenant(organizationId: string, editionId: string | null): Statement {
  const organization = sql`exists (select 1 from organizations where id = ${organizationId})`
  const edition = sql`exists (select 1 from editions where id = ${editionId} and organization_id = ${organizationId})`
  return refuseUnlessAll(
    { condition: organization, code: 'unknown_organization' },
    ...(editionId === null ? [] : [{ condition: edition, code: 'unknown_edition' } as const]),
  )
}

/** Checks that the caller has one of the roles in the edition to which a row moves. */
export async function checkMove(
  ctx: Ctx,
  roles: readonly RoleCode[],
  organizationId: string,
  editionId: string | null,
): Promise<void> {
  const tenant = { organization_id: organizationId, editions: editionId === null ? [] : [editionId] }
  const isReached = ctx.caller.is_superuser || listRolesAt(ctx.caller, tenant).length > 0
  if (editionId !== null && !isReached) throw doesNotExist('edition_id')
  if (!mayAt(ctx.caller, roles, tenant))
    throw permissionDenied(roles, [
      fieldError(
        ['edition_id'],
        'permission_denied',
        'You do not have the required role in this organisation or edition.',
      ),
    ])
  await checkTenant(ctx, organizationId, editionId)
}

/** Aborts the batch with `edition_archived` if one of the editions is archived. Every change inside an edition needs it. */
export function openEditions(...editionIds: readonly (string | null | undefined)[]): Statement[] {
  const uniqueIds = [...new Set(editionIds.filter((id) => typeof id === 'string'))]
  if (uniqueIds.length === 0) return []
  const ids = sql.join(
    uniqueIds.map((id) => sql`${id}`),
    sql`, `,
  )
  const isAnyArchived = sql`exists (select 1 from editions where id in (${ids}) and is_archived = 1)`
  return [refuseUnless(sql`not ${isAnyArchived}`, 'edition_archived')]
}
