import { titles } from '../problem.ts'
import type { Document, DocumentedResponse, Media, Parameter, Reference } from './shapes.ts'

interface SharingOperation {
  operationId?: string
  description?: string
  parameters?: (Parameter | Reference)[]
  responses: Record<string, DocumentedResponse | Reference>
}

/** Moves what operations repeat to `components`, which halves the size of the document. */
export function shareComponents(document: Document): void {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation: SharingOperation) => ({ path, operation })),
  )
  const events = Object.entries(document.webhooks).flatMap(([path, methods]) =>
    Object.values(methods).map((operation: SharingOperation) => ({ path, operation })),
  )
  document.components['examples'] = shareExamples(operations.map(({ operation }) => operation))
  document.components['responses'] = shareResponses(operations.map(({ operation }) => operation))
  document.components['parameters'] = shareParameters([...operations, ...events])
}

const otherTitles: Readonly<Record<string, string>> = { 204: 'No content', 304: 'Not modified' }

const isShared = (status: string): boolean => Number(status) >= 400 || status in otherTitles

const buildComponentName = (status: string, { headers = {} }: DocumentedResponse): string => {
  const title = titles[Number(status)] ?? otherTitles[status] ?? status
  const name = title.replaceAll(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase())
  return 'Idempotency-Replayed' in headers ? `${name}OnWrite` : name
}

const parseCodes = ({ description }: DocumentedResponse): string[] =>
  [...description.matchAll(/`(\w+)`/g)].map(([, code = '']) => code)

const quote = (code: string): string => `\`${code}\``

interface Use {
  operation: SharingOperation
  status: string
  response: DocumentedResponse
}

/**
 * Each status has one component for reads and one for writes. The component lists the codes that all of these
 * operations can return, and the description of an operation lists its other codes.
 */
function shareResponses(operations: readonly SharingOperation[]): Record<string, DocumentedResponse> {
  const uses = operations.flatMap((operation) =>
    Object.entries(operation.responses).flatMap(([status, response]): Use[] =>
      isShared(status) && !('$ref' in response) ? [{ operation, status, response }] : [],
    ),
  )
  const components: Record<string, DocumentedResponse> = {}
  const otherCodes = new Map<SharingOperation, string[]>()
  for (const [name, sharing] of Map.groupBy(uses, ({ status, response }) => buildComponentName(status, response))) {
    const [first, ...others] = sharing.map(({ response }) => response)
    if (!first) continue
    const common = others.reduce(
      (codes, other) => codes.intersection(new Set(parseCodes(other))),
      new Set(parseCodes(first)),
    )
    const description = [...common].map(quote).join(', ') || 'The description of the operation lists the codes.'
    for (const { operation, status, response } of sharing) {
      const codes = Number(status) < 400 ? [] : parseCodes(response).filter((code) => !common.has(code))
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
function shareExamples(operations: readonly SharingOperation[]): Record<string, { value: unknown }> {
  const uses = operations.flatMap(({ operationId = '', responses }) =>
    Object.values(responses).flatMap((response) => {
      const media = 'content' in response ? response.content?.['application/json'] : undefined
      return media?.example !== undefined && getSchemaName(media) ? [{ operationId, media }] : []
    }),
  )
  const components: Record<string, { value: unknown }> = {}
  for (const [name, sharing] of Map.groupBy(uses, ({ media }) => getSchemaName(media))) {
    const best = sharing.find(({ operationId }) => operationId.startsWith('get')) ?? sharing[0]
    if (!best || sharing.length < 2) continue
    components[name] = { value: best.media.example }
    for (const { media } of sharing) {
      media.examples = { resource: { $ref: `#/components/examples/${name}` } }
      delete media.example
    }
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
function shareParameters(
  operations: readonly { path: string; operation: SharingOperation }[],
): Record<string, Parameter> {
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
  for (const [name, named] of Map.groupBy(uses, (use) => use.name)) {
    const variants = [...Map.groupBy(named, ({ parameter }) => JSON.stringify(parameter)).values()]
    const [mostFrequent = []] = variants.toSorted((one, other) => other.length - one.length)
    const [first] = mostFrequent
    if (!first || mostFrequent.length < 2) continue
    components[name] = first.parameter
    for (const { parameters, index } of mostFrequent) parameters[index] = { $ref: `#/components/parameters/${name}` }
  }
  return components
}
