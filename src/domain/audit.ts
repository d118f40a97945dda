import { hourMs } from './time/instants.ts'

/** The change of one field. A hidden field has no values. */
export type AuditChange = { field: string; before: unknown; after: unknown } | { field: string; is_hidden: true }

/** An audit entry without its caller, time and request. */
export interface NewAuditEntry {
  action: string
  organization_id: string | null
  edition_id: string | null
  resource_type: string | null
  resource_id: string | null
  changes: readonly AuditChange[]
}

/** A resource as the API returns it. */
export type Representation = Readonly<Record<string, unknown>>

/** The actor in entries about background work. */
export const systemActor = 'system'

/** The action of an entry about the use of an expired or revoked token. */
export const refusedTokenAction = 'rejectAccessToken'
/** Uses of one expired token are recorded at most this often. */
export const refusedTokenIntervalMs = hourMs

const secrets = [
  'add_url',
  'sign_in_url',
  'token',
  'secret',
  'previous_secret',
  'signature',
  'merchant_account_extra_parameters',
  'api_key',
  'webhook_secret',
]
/** Logs of webhook receivers, and the outcome of each order of an import. */
const reports = ['attempt_log', 'results']
/** Suppressed addresses, and the texts about them, may belong to nobody whose erasure would remove them here. */
const addresses = ['address', 'csv', 'detail']
const messageContents = ['blocks', 'subject', 'preheader', 'sms_body', 'html', 'payload']

/** The translations of a field have its name as prefix, as in `subject_translations`. */
const isHidden = (field: string): boolean =>
  secrets.includes(field) ||
  reports.includes(field) ||
  addresses.includes(field) ||
  messageContents.some((name) => field === name || field.startsWith(`${name}_`))

/** Longer values are left out, because the audit log is not a copy of the data. */
const maxValueLength = 2000

/** `modified` differs after every change and says nothing, and allowed actions follow from other fields and the caller. */
const isIgnored = (field: string): boolean => field === 'modified' || field === 'allowed_actions'

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (typeof value === 'object' && !Object.keys(value).length)

/** The JSON of a value without its hidden fields. */
const toJson = (value: unknown): string =>
  JSON.stringify(value ?? null, (name, member: unknown) => (isHidden(name) ? undefined : member))

function describeChange(field: string, before: unknown, after: unknown): AuditChange {
  const [oldJson, newJson] = [toJson(before), toJson(after)]
  if (isHidden(field) || oldJson.length + newJson.length > maxValueLength) return { field, is_hidden: true }
  return { field, before: JSON.parse(oldJson), after: JSON.parse(newJson) }
}

/** The top-level fields in which two representations differ. Null stands for a resource that does not exist. */
export function listChanges(before: Representation | null, after: Representation | null): AuditChange[] {
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...fields].flatMap((field) => {
    const [oldValue, newValue] = [before?.[field], after?.[field]]
    const isSame = (isEmpty(oldValue) && isEmpty(newValue)) || JSON.stringify(oldValue) === JSON.stringify(newValue)
    return isSame || isIgnored(field) ? [] : [describeChange(field, oldValue, newValue)]
  })
}
