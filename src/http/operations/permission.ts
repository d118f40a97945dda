import type { Ctx } from '../../context.ts'
import { actAs, mayAnywhere, mayAt, type Tenant, listRolesAt } from '../../domain/accounts/access.ts'
import { AppError, doesNotExist, permissionDenied } from '../../domain/errors.ts'
import type { Operation } from './operation.ts'

/** A resource that `load` has found. `tenant` is null when `load` itself has checked whether the caller may go on. */
export interface Located {
  tenant: Tenant | null
  /** Tells a caller without the required role what else to do. */
  instead?: string | undefined
}

/**
 * Limits the context to the roles of the operation. Ids in the body and rows of lists are then looked up only through these,
 * so that another role of the caller in another tenant gives no access.
 */
export const restrictToRoles = <Context extends Ctx>(ctx: Context, { roles }: Operation): Context => ({
  ...ctx,
  caller: actAs(ctx.caller, roles),
})

/** Checks the token's scope, and that the caller has a required role in any tenant. */
export function checkPermission(ctx: Ctx, operation: Operation): void {
  const { scope } = operation
  if (operation.isPublic) return
  if (!ctx.caller.scopes.includes(scope))
    throw new AppError(
      'insufficient_scope',
      `This token does not have the scope \`${scope}\`. Use a token that has it.`,
      {
        extra: { required_scope: scope },
      },
    )
  if (!mayAnywhere(ctx.caller, operation.roles)) throw permissionDenied(operation.roles)
}

/** Checks that the caller has a required role where the loaded resource belongs. */
export function checkPermissionOn(ctx: Ctx, operation: Operation, resource: Located | undefined): void {
  if (resource?.tenant && !mayAt(ctx.caller, operation.roles, resource.tenant))
    throw permissionDenied(operation.roles, [], resource.instead)
}

/** Checks that the caller has a required role in the organisation or edition that the body names. */
export function checkTarget(
  ctx: Ctx,
  operation: Operation,
  target: { organization_id: string; edition_id?: string | null | undefined },
) {
  const { organization_id, edition_id } = target
  const tenant: Tenant = { organization_id, editions: edition_id ? [edition_id] : [] }
  if (mayAt(ctx.caller, operation.roles, tenant)) return
  if (!listRolesAt(ctx.caller, { organization_id, editions: 'any' }).length) throw doesNotExist('organization_id')
  if (edition_id && !listRolesAt(ctx.caller, tenant).length) throw doesNotExist('edition_id')
  throw permissionDenied(operation.roles)
}
