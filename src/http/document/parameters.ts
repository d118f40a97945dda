import { findIdPrefix } from '../../domain/ids.ts'
import type { Operation } from '../operations/operation.ts'
import { hasETag } from './headers.ts'
import type { Documented, Parameter } from './shapes.ts'

/** Parameters that mean the same in every group; a contract may describe them otherwise. */
const meanings: Readonly<Record<string, string>> = {
  created_after: 'Only what was made at this time or later.',
  created_before: 'Only what was made before this time.',
  delivery_id: 'The delivery.',
  domain_id: 'The sender domain.',
  edition_id: 'Only what belongs to this edition.',
  event_id: 'Only what belongs to this event.',
  member_id: 'The membership.',
  organization_id: 'Only what belongs to this organisation.',
  search: 'Part of the name. Neither case nor accents matter.',
  transaction_id: 'Only the order with this transaction.',
  user_id: 'The customer.',
}

const resources: Readonly<Record<string, string>> = {
  campaigns: 'campaign',
  editions: 'edition',
  'email-messages': 'e-mail message',
  files: 'file',
  orders: 'order',
  organizations: 'organisation',
  purchases: 'purchase',
  segments: 'segment',
  tokens: 'access token',
  uploads: 'upload',
  user: 'customer',
  webhooks: 'webhook endpoint',
}

/** `/v1/campaigns/{id}/stats` names a campaign by its `id`. */
function namedBy(path: string, name: string): string {
  const parts = path.split('/')
  const collection = parts[parts.indexOf(`{${name}}`) - 1] ?? ''
  const resource = resources[collection]
  return resource ? `The ${resource}.` : (meanings[name] ?? 'The resource.')
}

const filteredBy = ({ name, schema }: Parameter): string =>
  meanings[name] ??
  (schema.type === 'boolean'
    ? `Only what has \`${name}\` as this says.`
    : `Only what has this \`${name}\`${schema.enum ? '' : ', exactly'}.`)

/** The length of the longest id. A longer one is answered with 404. */
const maxIdLength = 64

const ifNoneMatch: Parameter = {
  name: 'if-none-match',
  in: 'header',
  required: false,
  description: 'ETags that the client has: 304 without a body when the resource is still as one of them says.',
  schema: { type: 'string', example: '"0aR3xU1nV0xJ8mYk2bq1Sg"' },
}

/** The rules of `parseQuery` for every parameter: an id has the right kind, and an empty value is no filter. */
function withQueryRules(parameter: Parameter): void {
  const prefix = findIdPrefix(parameter.name)
  if (prefix) parameter.schema.pattern ??= `^${prefix}_`
  if (!parameter.required) parameter.allowEmptyValue = true
}

export function withParameters(operation: Operation, documented: Documented): void {
  const parameters = documented.parameters ?? []
  for (const parameter of parameters) {
    const isInPath = parameter.in === 'path'
    parameter.description ??= isInPath ? namedBy(operation.path, parameter.name) : filteredBy(parameter)
    if (isInPath) parameter.schema.maxLength ??= maxIdLength
    if (parameter.in === 'query') withQueryRules(parameter)
  }
  if (operation.method === 'get' && hasETag(operation)) parameters.push(ifNoneMatch)
  if (parameters.length) documented.parameters = parameters
}
