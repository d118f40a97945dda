import type { Ctx } from '../../context.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { listChanges, type NewAuditEntry, type Representation } from '../../domain/audit.ts'
import { findIdKind } from '../../domain/ids.ts'
import type { Operation } from './operation.ts'

/** Facts about a write that are known when it commits. */
export interface AuditedWrite {
  /** The row of the resource in the path. */
  resource: unknown
  tenant: Tenant | null | undefined
  target: { organization_id: string; edition_id?: string | null | undefined } | undefined
  /** The resource before and after the write. Null: it does not exist then. */
  before: Representation | null
  after: Representation | null
}

const readText = (value: unknown, name: string): string | null => {
  const text = typeof value === 'object' && value !== null ? (value as Representation)[name] : undefined
  return typeof text === 'string' && text !== '' ? text : null
}

/** The id of a parent, which a representation has as `organization_id` or as `organization: {id}`. */
const readParentId = (value: Representation | null, name: 'organization' | 'edition'): string | null =>
  readText(value, `${name}_id`) ?? readText(value?.[name], 'id')

function findOrganizationId({ resource, tenant, target, before, after }: AuditedWrite): string | null {
  const ownId = [readText(after, 'id'), readText(before, 'id')].find(
    (id) => id !== null && findIdKind(id) === 'organization',
  )
  return (
    ownId ??
    readParentId(after, 'organization') ??
    tenant?.organization_id ??
    target?.organization_id ??
    readParentId(before, 'organization') ??
    readText(resource, 'organization_id')
  )
}

function findEditionId({ resource, tenant, target, before, after }: AuditedWrite): string | null {
  const ownId = [readText(after, 'id'), readText(before, 'id')].find(
    (id) => id !== null && findIdKind(id) === 'edition',
  )
  const onlyEditionId =
    tenant && tenant.editions !== 'any' && tenant.editions.length === 1 ? tenant.editions[0] : undefined
  return (
    ownId ??
    readParentId(after, 'edition') ??
    target?.edition_id ??
    readParentId(before, 'edition') ??
    readText(resource, 'edition_id') ??
    onlyEditionId ??
    null
  )
}

/** The statement that writes the audit entry, or none if an update changed nothing. */
export function buildAuditStatements(
  ctx: Ctx,
  operation: Operation,
  write: AuditedWrite,
): ReturnType<Ctx['recordAudit']>[] {
  const changes = listChanges(write.before, write.after)
  if (operation.method === 'patch' && changes.length === 0) return []
  const isNew = operation.status === 201
  const resource_id = isNew
    ? readText(write.after, 'id')
    : (readText(write.resource, 'id') ?? readText(write.after, 'id'))
  const entry: NewAuditEntry = {
    action: operation.id,
    organization_id: findOrganizationId(write),
    edition_id: findEditionId(write),
    resource_type: resource_id && findIdKind(resource_id),
    resource_id,
    changes,
  }
  return [ctx.recordAudit(entry)]
}
