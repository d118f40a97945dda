import type { Document, DocumentedResponse, Media, Parameter, Reference } from './shapes.ts'

interface SharingOperation {
  operationId?: string
  description?: string
  /** Only public operations have it. */
  security?: unknown
  parameters?: (Parameter | Reference)[]
  responses: Record<string, DocumentedResponse | Reference>
}

/** Moves what operations repeat to `components`, which halves the size of the document. */
export function shareComponents(document: Document): void {
  const operations = listOperations(document.paths)
  document.components['examples'] = shareExamples(operations)
  document.components['responses'] = { ...shareStatuses(operations), ...shareResources(operations) }
  document.components['parameters'] = shareParameters([...operations, ...listOperations(document.webhooks)])
}

interface PathOperation {
  path: string
  operation: SharingOperation
}

const listOperations = (paths: Document['paths']): PathOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation: SharingOperation) => ({ path, operation })),
  )

/** Statuses whose responses differ only in their error codes. */
const isShared = (status: string): boolean => Number(status) >= 400 || status === '204' || status === '304'

const isOfWrite = ({ headers = {} }: DocumentedResponse): boolean => 'Idempotency-Replayed' in headers

const parseCodes = ({ description }: DocumentedResponse): string[] =>
  [...description.matchAll(/`(\w+)`/g)].map(([, code = '']) => code)

const quote = (code: string): string => `\`${code}\``

interface Use {
  operation: SharingOperation
  status: string
  response: DocumentedResponse
}

/** Statuses with codes about the caller, which public operations lack. */
const callerStatuses: readonly string[] = ['401', '403', '503']

const buildGroupName = ({ operation, status, response }: Use): string =>
  `${operation.security && callerStatuses.includes(status) ? 'Public' : ''}${isOfWrite(response) ? 'Write' : 'Read'}${status}`

/**
 * Shares one response for each status of reads, of writes, and of public operations. It lists the codes that all of these
 * operations can return, and the description of an operation lists its other codes.
 */
function shareStatuses(operations: readonly PathOperation[]): Record<string, DocumentedResponse> {
  const uses = operations.flatMap(({ operation }) =>
    Object.entries(operation.responses).flatMap(([status, response]): Use[] =>
      isShared(status) && !('$ref' in response) ? [{ operation, status, response }] : [],
    ),
  )
  const groups = Map.groupBy(uses, buildGroupName)
  const components: Record<string, DocumentedResponse> = {}
  const otherCodes = new Map<SharingOperation, string[]>()
  for (const [name, groupUses] of groups) {
    const [first, ...others] = groupUses.map(({ response }) => response)
    if (!first) continue
    const commonCodes = others.reduce(
      (codes, other) => codes.intersection(new Set(parseCodes(other))),
      new Set(parseCodes(first)),
    )
    const description = [...commonCodes].map(quote).join(', ') || 'The description of the operation lists the codes.'
    for (const { operation, status, response } of groupUses) {
      const codes = Number(status) < 400 ? [] : parseCodes(response).filter((code) => !commonCodes.has(code))
      otherCodes.set(operation, [...(otherCodes.get(operation) ?? []), ...codes])
      operation.responses[status] = { $ref: `#/components/responses/${name}` }
    }
    components[name] = parseCodes(first).length ? { ...first, description } : first
  }
  for (const [operation, codes] of otherCodes)
    if (codes.length) operation.description = `${operation.description}\n\nErrors: ${codes.map(quote).join(', ')}.`
  return components
}

const getSchemaName = ({ schema }: Media): string =>
  typeof schema === 'object' && schema !== null && '$ref' in schema ? (String(schema.$ref).split('/').at(-1) ?? '') : ''

/** Operations that return the same resource share one example, preferably the one of its `get` operation. */
function shareExamples(operations: readonly PathOperation[]): Record<string, { value: unknown }> {
  const uses = operations.flatMap(({ operation: { operationId = '', responses } }) =>
    Object.values(responses).flatMap((response) => {
      const media = 'content' in response ? response.content?.['application/json'] : undefined
      return media?.example !== undefined && getSchemaName(media) ? [{ operationId, media }] : []
    }),
  )
  const components: Record<string, { value: unknown }> = {}
  for (const [name, groupUses] of Map.groupBy(uses, ({ media }) => getSchemaName(media))) {
    const bestUse = groupUses.find(({ operationId }) => operationId.startsWith('get')) ?? groupUses[0]
    if (!bestUse || groupUses.length < 2) continue
    components[name] = { value: bestUse.media.example }
    for (const { media } of groupUses) {
      media.examples = { resource: { $ref: `#/components/examples/${name}` } }
      delete media.example
    }
  }
  return components
}

/** Operations that return the same resource with the same headers share one response. */
function shareResources(operations: readonly PathOperation[]): Record<string, DocumentedResponse> {
  const uses = operations.flatMap(({ operation: { responses } }) =>
    Object.entries(responses).flatMap(([status, response]) => {
      const media = 'content' in response ? response.content?.['application/json'] : undefined
      const schema = media && getSchemaName(media)
      return schema && !('$ref' in response) ? [{ responses, status, response, schema }] : []
    }),
  )
  const components: Record<string, DocumentedResponse> = {}
  for (const groupUses of Map.groupBy(uses, ({ response }) => JSON.stringify(response)).values()) {
    const [first] = groupUses
    if (!first || groupUses.length < 2) continue
    const suffix = first.status === '201' ? 'Created' : isOfWrite(first.response) ? 'Changed' : ''
    const name = `${first.schema}${suffix}`
    components[name] = first.response
    for (const { responses, status } of groupUses) responses[status] = { $ref: `#/components/responses/${name}` }
  }
  return components
}

/** `campaigns.id` for `id` in `/v1/campaigns/{id}/stats`, because `id` alone names parameters of many resources. */
function buildParameterName(path: string, { name, in: place }: Parameter): string {
  if (place !== 'path') return name
  const parts = path.split('/')
  return `${parts[parts.indexOf(`{${name}}`) - 1]}.${name}`
}

/** If parameters with one name differ, only the most frequent one becomes a component. */
function shareParameters(operations: readonly PathOperation[]): Record<string, Parameter> {
  const uses = operations.flatMap(({ path, operation: { parameters = [] } }) =>
    parameters.flatMap((parameter, index) =>
      '$ref' in parameter ? [] : [{ parameters, index, parameter, name: buildParameterName(path, parameter) }],
    ),
  )
  for (const { parameter } of uses) {
    // The schemas of parameters repeat their descriptions, and `false` is the default of `required`.
    delete parameter.schema.description
    if (!parameter.required) delete parameter.required
  }
  const components: Record<string, Parameter> = {}
  for (const [name, groupUses] of Map.groupBy(uses, (use) => use.name)) {
    const variants = [...Map.groupBy(groupUses, ({ parameter }) => JSON.stringify(parameter)).values()]
    const [mostFrequent = []] = variants.toSorted((one, other) => other.length - one.length)
    const [first] = mostFrequent
    if (!first || mostFrequent.length < 2) continue
    components[name] = first.parameter
    for (const { parameters, index } of mostFrequent) parameters[index] = { $ref: `#/components/parameters/${name}` }
  }
  return components
}
