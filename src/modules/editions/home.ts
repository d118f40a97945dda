import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { refuseUnlessAll } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { mayAt, type RoleCode, rolesAt } from '../../domain/access.ts'
import { doesNotExist, fieldError, permissionDenied } from '../../domain/errors.ts'

/** What stands at an edition stands in the edition's organisation too. */
export async function checkHome(ctx: Ctx, organizationId: string, editionId: string | null): Promise<void> {
  const home = await ctx.db.first(sql<{ edition_id: string | null }>`select editions.id as edition_id
    from organizations left join editions on editions.id = ${editionId} and editions.organization_id = organizations.id
    where organizations.id = ${organizationId}`)
  if (!home) throw doesNotExist('organization_id')
  if (editionId !== null && home.edition_id === null) throw doesNotExist('edition_id')
}

/** As `checkHome`, inside the transaction that writes: it costs no round trip of its own. */
export function homeStands(organizationId: string, editionId: string | null): Statement {
  const organization = sql`exists (select 1 from organizations where id = ${organizationId})`
  const edition = sql`exists (select 1 from editions where id = ${editionId} and organization_id = ${organizationId})`
  return refuseUnlessAll(
    { condition: organization, code: 'unknown_organization' },
    ...(editionId === null ? [] : [{ condition: edition, code: 'unknown_edition' } as const]),
  )
}

/** Whoever moves something inside its organisation has one of these roles at its new place too. */
export async function checkMove(
  ctx: Ctx,
  roles: readonly RoleCode[],
  organizationId: string,
  editionId: string | null,
): Promise<void> {
  const place = { organization_id: organizationId, editions: editionId === null ? [] : [editionId] }
  const isOpen = ctx.caller.is_superuser || rolesAt(ctx.caller, place).length > 0
  if (editionId !== null && !isOpen) throw doesNotExist('edition_id')
  if (!mayAt(ctx.caller, roles, place))
    throw permissionDenied(roles, [fieldError(['edition_id'], 'permission_denied', 'Your role does not reach there.')])
  await checkHome(ctx, organizationId, editionId)
}
