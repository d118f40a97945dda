import type { Ctx } from '../../context.ts'
import { actAs, mayAnywhere, mayAt, type Tenant, listRolesAt } from '../../domain/accounts/access.ts'
import { AppError, doesNotExist, permissionDenied } from '../../domain/errors.ts'
import type { Operation } from './operation.ts'

/** The resource of a path and its tenant; null when the look-up itself has checked the caller. */
export interface Located {
  tenant: Tenant | null
  /** The alternative for a caller whose role is not enough. */
  instead?: string | undefined
}

/**
 * The context of an operation once its path is judged: ids in its body and rows of its lists are looked up through its
 * own roles, so that another role of the caller elsewhere opens nothing.
 */
export const restrictToRoles = <Context extends Ctx>(ctx: Context, { roles }: Operation): Context => ({
  ...ctx,
  caller: actAs(ctx.caller, roles),
})

/** The caller's rights in any tenant. */
export function checkPermission(ctx: Ctx, operation: Operation): void {
  const { scope } = operation
  if (!ctx.caller.scopes.includes(scope))
    throw new AppError(
      'insufficient_scope',
      `This token may not ${scope}. Use or make a token with the scope \`${scope}\`.`,
      {
        extra: { required_scope: scope },
      },
    )
  if (!mayAnywhere(ctx.caller, operation.roles)) throw permissionDenied(operation.roles)
}

export function checkPermissionOn(ctx: Ctx, operation: Operation, loaded: Located | undefined): void {
  if (loaded?.tenant && !mayAt(ctx.caller, operation.roles, loaded.tenant))
    throw permissionDenied(operation.roles, [], loaded.instead)
}

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
