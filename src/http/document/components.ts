import { titles } from '../problem.ts'
import type { Document, DocumentedAnswer, Media, Parameter, Reference } from './shapes.ts'

interface SharingOperation {
  operationId?: string
  description?: string
  parameters?: (Parameter | Reference)[]
  responses: Record<string, DocumentedAnswer | Reference>
}

/** Moves what operations repeat to `components`. Without this, the document is twice as large. */
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

const nameOf = (status: string, { headers = {} }: DocumentedAnswer): string => {
  const title = titles[Number(status)] ?? otherTitles[status] ?? status
  const name = title.replaceAll(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase())
  return 'Idempotency-Replayed' in headers ? `${name}OnWrite` : name
}

const codesIn = ({ description }: DocumentedAnswer): string[] =>
  [...description.matchAll(/`(\w+)`/g)].map(([, code = '']) => code)

const quote = (code: string): string => `\`${code}\``

interface Use {
  operation: SharingOperation
  status: string
  answer: DocumentedAnswer
}

/**
 * Each status has one component for reads and one for writes. It lists the codes that all of these operations can answer.
 * The description of an operation lists its other codes.
 */
function shareResponses(operations: readonly SharingOperation[]): Record<string, DocumentedAnswer> {
  const uses = operations.flatMap((operation) =>
    Object.entries(operation.responses).flatMap(([status, answer]): Use[] =>
      isShared(status) && !('$ref' in answer) ? [{ operation, status, answer }] : [],
    ),
  )
  const components: Record<string, DocumentedAnswer> = {}
  const otherCodes = new Map<SharingOperation, string[]>()
  for (const [name, sharing] of Map.groupBy(uses, ({ status, answer }) => nameOf(status, answer))) {
    const [first, ...others] = sharing.map(({ answer }) => answer)
    if (!first) continue
    const common = others.reduce((codes, one) => codes.intersection(new Set(codesIn(one))), new Set(codesIn(first)))
    const description = [...common].map(quote).join(', ') || 'The description of the operation lists the codes.'
    for (const { operation, status, answer } of sharing) {
      const codes = Number(status) < 400 ? [] : codesIn(answer).filter((code) => !common.has(code))
      otherCodes.set(operation, [...(otherCodes.get(operation) ?? []), ...codes])
      operation.responses[status] = { $ref: `#/components/responses/${name}` }
    }
    components[name] = codesIn(first).length ? { ...first, description } : first
  }
  for (const [operation, codes] of otherCodes)
    if (codes.length) operation.description = `${operation.description}\n\nErrors: ${codes.map(quote).join(', ')}.`
  return components
}

const schemaName = ({ schema }: Media): string =>
  typeof schema === 'object' && schema !== null && '$ref' in schema ? (String(schema.$ref).split('/').at(-1) ?? '') : ''

/** Operations that answer the same resource share one example of it, which is that of its `get` operation if it has one. */
function shareExamples(operations: readonly SharingOperation[]): Record<string, { value: unknown }> {
  const uses = operations.flatMap(({ operationId = '', responses }) =>
    Object.values(responses).flatMap((answer) => {
      const media = 'content' in answer ? answer.content?.['application/json'] : undefined
      return media?.example !== undefined && schemaName(media) ? [{ operationId, media }] : []
    }),
  )
  const components: Record<string, { value: unknown }> = {}
  for (const [name, sharing] of Map.groupBy(uses, ({ media }) => schemaName(media))) {
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

/** `/v1/campaigns/{id}/stats` names a campaign by its `campaigns.id`. */
function parameterName(path: string, { name, in: place }: Parameter): string {
  if (place !== 'path') return name
  const parts = path.split('/')
  return `${parts[parts.indexOf(`{${name}}`) - 1]}.${name}`
}

/** Of parameters with one name, the most frequent one becomes a component. */
function shareParameters(
  operations: readonly { path: string; operation: SharingOperation }[],
): Record<string, Parameter> {
  const uses = operations.flatMap(({ path, operation: { parameters = [] } }) =>
    parameters.flatMap((parameter, index) =>
      '$ref' in parameter ? [] : [{ parameters, index, parameter, name: parameterName(path, parameter) }],
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
    const [most = []] = variants.toSorted((one, other) => other.length - one.length)
    const [first] = most
    if (!first || most.length < 2) continue
    components[name] = first.parameter
    for (const { parameters, index } of most) parameters[index] = { $ref: `#/components/parameters/${name}` }
  }
  return components
}
