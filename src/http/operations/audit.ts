import type { Ctx } from '../../context.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { listChanges, type AuditEntry, type Representation } from '../../domain/audit.ts'
import { findIdKind } from '../../domain/ids.ts'
import type { Operation } from './operation.ts'

/** The facts of a write for its audit entry, as far as they are known when it commits. */
export interface AuditedWrite {
  /** The row that the path names. */
  loaded: unknown
  tenant: Tenant | null | undefined
  target: { organization_id: string; edition_id?: string | null | undefined } | undefined
  /** The resource as it was, and as it is now; null where it is not there. */
  before: Representation | null
  after: Representation | null
}

const textIn = (value: unknown, name: string): string | null => {
  const found = typeof value === 'object' && value !== null ? (value as Representation)[name] : undefined
  return typeof found === 'string' && found !== '' ? found : null
}

/** The id of a parent, which representations show as `organization_id` or as `organization: {id}`. */
const parentIn = (value: Representation | null, name: 'organization' | 'edition'): string | null =>
  textIn(value, `${name}_id`) ?? textIn(value?.[name], 'id')

function organizationOf({ loaded, tenant, target, before, after }: AuditedWrite): string | null {
  const own = [textIn(after, 'id'), textIn(before, 'id')].find((id) => id !== null && findIdKind(id) === 'organization')
  return (
    own ??
    parentIn(after, 'organization') ??
    tenant?.organization_id ??
    target?.organization_id ??
    parentIn(before, 'organization') ??
    textIn(loaded, 'organization_id')
  )
}

function editionOf({ loaded, tenant, target, before, after }: AuditedWrite): string | null {
  const own = [textIn(after, 'id'), textIn(before, 'id')].find((id) => id !== null && findIdKind(id) === 'edition')
  const only = tenant && tenant.editions !== 'any' && tenant.editions.length === 1 ? tenant.editions[0] : undefined
  return (
    own ??
    parentIn(after, 'edition') ??
    target?.edition_id ??
    parentIn(before, 'edition') ??
    textIn(loaded, 'edition_id') ??
    only ??
    null
  )
}

/** The statement that records the write; none for an update that changes nothing. */
export function buildAuditStatements(
  ctx: Ctx,
  operation: Operation,
  write: AuditedWrite,
): ReturnType<Ctx['recordAudit']>[] {
  const changes = listChanges(write.before, write.after)
  if (operation.method === 'patch' && changes.length === 0) return []
  const isNew = operation.status === 201
  const resource_id = isNew ? textIn(write.after, 'id') : (textIn(write.loaded, 'id') ?? textIn(write.after, 'id'))
  const entry: AuditEntry = {
    action: operation.id,
    organization_id: organizationOf(write),
    edition_id: editionOf(write),
    resource_type: resource_id && findIdKind(resource_id),
    resource_id,
    changes,
  }
  return [ctx.recordAudit(entry)]
}
