import { findIdPrefix } from '../../domain/ids.ts'
import type { Operation } from '../operations/operation.ts'
import { hasETag } from './headers.ts'
import type { DocumentedOperation, Parameter } from './shapes.ts'

/** Descriptions of parameters that have the same meaning in every group. The one in a contract takes precedence. */
const commonDescriptions: Readonly<Record<string, string>> = {
  created_after: 'Only items that were created at or after this time.',
  created_before: 'Only items that were created before this time.',
  delivery_id: 'The id of the delivery.',
  domain_id: 'The id of the sender domain.',
  edition_id: 'Only items of this edition.',
  event_id: 'Only items of this event.',
  member_id: 'The id of the member.',
  organization_id: 'Only items of this organisation.',
  search: 'A part of the name, without regard to case and accents.',
  transaction_id: 'Only the order of this transaction.',
  user_id: 'The id of the customer.',
}

const resources: Readonly<Record<string, string>> = {
  campaigns: 'campaign',
  categories: 'category',
  editions: 'edition',
  'email-messages': 'e-mail message',
  'fee-rules': 'fee rule',
  files: 'file',
  locations: 'location',
  orders: 'order',
  organizations: 'organisation',
  'pass-designs': 'pass design',
  purchases: 'purchase',
  segments: 'segment',
  tokens: 'access token',
  uploads: 'upload',
  user: 'customer',
  webhooks: 'webhook endpoint',
}

/** In `/v1/campaigns/{id}/stats`, `id` is the id of a campaign. */
function describePathParameter(path: string, name: string): string {
  const parts = path.split('/')
  const collection = parts[parts.indexOf(`{${name}}`) - 1] ?? ''
  const resource = resources[collection]
  return resource ? `The id of the ${resource}.` : (commonDescriptions[name] ?? 'The id of the resource.')
}

const describeFilter = ({ name, schema }: Parameter): string =>
  commonDescriptions[name] ??
  (schema.type === 'boolean'
    ? `True: only items for which \`${name}\` is true. False: only items for which it is false.`
    : `Only items with ${schema.enum ? 'this' : 'exactly this'} \`${name}\`.`)

/** No id is longer, so a longer one gets 404. */
const maxIdLength = 64

const ifNoneMatch: Parameter = {
  name: 'if-none-match',
  in: 'header',
  required: false,
  description: 'ETags of states that you have. You get 304 without a body if the resource still has one of them.',
  schema: { type: 'string', example: '"0aR3xU1nV0xJ8mYk2bq1Sg"' },
}

/** Documents rules of `parseQuery`: an id must have the right prefix, and an empty value does not filter. */
function addQueryRules(parameter: Parameter): void {
  const prefix = findIdPrefix(parameter.name)
  if (prefix) parameter.schema.pattern ??= `^${prefix}_`
  if (!parameter.required) parameter.allowEmptyValue = true
}

export function completeParameters(operation: Operation, documentedParameters: DocumentedOperation): void {
  const parameters = documentedParameters.parameters ?? []
  for (const parameter of parameters) {
    const isInPath = parameter.in === 'path'
    parameter.description ??= isInPath
      ? describePathParameter(operation.path, parameter.name)
      : describeFilter(parameter)
    if (isInPath) parameter.schema.maxLength ??= maxIdLength
    if (parameter.in === 'query') addQueryRules(parameter)
  }
  if (operation.method === 'get' && hasETag(operation)) parameters.push(ifNoneMatch)
  if (parameters.length) documentedParameters.parameters = parameters
}
