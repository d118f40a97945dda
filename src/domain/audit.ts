/** The change of one field. Hidden fields have no values. */
export type AuditChange = { field: string; before: unknown; after: unknown } | { field: string; is_hidden: true }

/** What an entry contains besides the caller, the time and the request. */
export interface AuditEntry {
  action: string
  organization_id: string | null
  edition_id: string | null
  resource_type: string | null
  resource_id: string | null
  changes: readonly AuditChange[]
}

export type Representation = Readonly<Record<string, unknown>>

/** The actor in entries about background work. */
export const systemActor = 'system'

/** The action of an entry about a token that was used after its end. */
export const refusedTokenAction = 'rejectAccessToken'
/** Such uses of one token are recorded this often. */
export const refusedTokenIntervalMs = 3_600_000

const secrets = [
  'add_url',
  'token',
  'secret',
  'previous_secret',
  'signature',
  'merchant_account_extra_parameters',
  'api_key',
  'webhook_secret',
]
/** Fields with answers of receivers, and with the outcome of each order of an import. */
const reports = ['attempt_log', 'results']
const messageContents = ['blocks', 'subject', 'sms_body', 'html', 'payload']

/** Translations of a content are next to it, as `subject_translations`. */
const isHidden = (field: string): boolean =>
  secrets.includes(field) ||
  reports.includes(field) ||
  messageContents.some((name) => field === name || field.startsWith(`${name}_`))

/** Values that are longer as JSON are left out, because the log is no copy of the data. */
const maxValueLength = 2000

/** Whether the field differs after every change. */
const isNoise = (field: string): boolean => field === 'modified'

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (typeof value === 'object' && !Object.keys(value).length)

/** The value as JSON, without its hidden fields. */
const jsonOf = (value: unknown): string =>
  JSON.stringify(value ?? null, (name, inner: unknown) => (isHidden(name) ? undefined : inner))

function changeOf(field: string, before: unknown, after: unknown): AuditChange {
  const [old, next] = [jsonOf(before), jsonOf(after)]
  if (isHidden(field) || old.length + next.length > maxValueLength) return { field, is_hidden: true }
  return { field, before: JSON.parse(old), after: JSON.parse(next) }
}

/** The top-level fields in which two representations differ; nothing counts as a representation of empty fields. */
export function listChanges(before: Representation | null, after: Representation | null): AuditChange[] {
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...fields].flatMap((field) => {
    const [old, next] = [before?.[field], after?.[field]]
    const isSame = (isEmpty(old) && isEmpty(next)) || JSON.stringify(old) === JSON.stringify(next)
    return isSame || isNoise(field) ? [] : [changeOf(field, old, next)]
  })
}
