import type { Schema } from '../../api'
import { roles } from '../../generated/roles'
import { loadWords } from '../../words'

const t = await loadWords('auditLog')
type Entry = Schema['AuditEntry']

/** The code of a resource's kind as a word. */
export const nameType = (type: string): string => (t.types as Record<string, string>)[type] ?? type

/** The first word of an operation id, which says what was done. */
export const readVerb = (action: string): string => /^[a-z]+/.exec(action)?.[0] ?? ''

/** Describes an action, such as "Segment: changed". */
export function describeAction(action: string, type: string | null): string {
  if (action === 'rejectAccessToken') return t.refusedToken
  const verb = (t.verbs as Record<string, string>)[readVerb(action)]
  if (verb === undefined) return action
  return type === null ? `${action}: ${verb}` : `${nameType(type)}: ${verb}`
}

/** The operations that write entries, for the filter. */
export const actionOptions = Object.fromEntries(
  [...Object.entries(roles).flatMap(([operation, { isWrite }]) => (isWrite ? [operation] : [])), 'rejectAccessToken']
    .toSorted()
    .map((operation) => [operation, operation]),
)

export function nameActor({ id, email, first_name, last_name, is_superuser }: Entry['actor']): string {
  const name = `${first_name} ${last_name}`.trim()
  if (is_superuser) return t.superuser
  if (id === 'system') return t.system
  return name || email || t.customer
}
