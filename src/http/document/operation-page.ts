import type { Operation } from '../operations/operation.ts'
import { buildErrorPath } from '../problem.ts'
import type { DocumentedResponse, Media, Parameter, Reference } from './shapes.ts'

interface DocumentedCall {
  description?: string
  parameters?: (Parameter | Reference)[]
  requestBody?: { required?: boolean; description?: string; content: Record<string, Media> }
  responses: Record<string, DocumentedResponse | Reference>
}

/** The parts of the OpenAPI document that the page of an operation shows. */
export interface OperationDocument {
  paths: Record<string, Record<string, DocumentedCall>>
  components: Record<string, Record<string, unknown>>
}

interface PageOptions {
  /** Makes a public URL of a path. */
  address: (path: string) => string
  /** Leaves out the schema of the answer. Its example stays. */
  isBrief?: boolean
}

/** The path of the page of an operation. */
export const buildOperationPath = (id: string): string => `/docs/operations/${id}.md`

function resolve<Part extends object>(document: OperationDocument, part: Part | Reference): Part {
  if (!('$ref' in part)) return part
  const [, , group = '', name = ''] = part.$ref.split('/')
  return document.components[group]?.[name] as Part
}

const block = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``

/** Collects the names of the schemas to which a value refers, also through other schemas. */
function collectSchemas(document: OperationDocument, value: unknown, names = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return names
  for (const [key, child] of Object.entries(value)) {
    if (key !== '$ref' || typeof child !== 'string') {
      collectSchemas(document, child, names)
      continue
    }
    const name = child.replace('#/components/schemas/', '')
    if (names.has(name) || name === child) continue
    names.add(name)
    collectSchemas(document, document.components['schemas']?.[name], names)
  }
  return names
}

function describeSchema(schema: Parameter['schema'] & { default?: unknown }): string {
  const { type, enum: values, format, pattern, default: defaultValue } = schema
  return [
    [type ?? 'string'].flat().join(' or '),
    ...(values ? [`one of ${values.map((value) => `\`${String(value)}\``).join(', ')}`] : []),
    ...(format && format !== 'int32' ? [format] : []),
    ...(pattern ? [`pattern \`${pattern}\``] : []),
    ...(defaultValue === undefined ? [] : [`default \`${JSON.stringify(defaultValue)}\``]),
  ].join(', ')
}

const describeParameter = ({ name, in: place, required, description, schema }: Parameter): string =>
  `- \`${name}\` (${place}, ${required ? 'required' : 'optional'}; ${describeSchema(schema)})${description ? `: ${description.replaceAll('\n', ' ')}` : ''}`

const getExample = (document: OperationDocument, { example, examples }: Media): unknown =>
  example ?? (examples?.['resource'] && resolve<{ value: unknown }>(document, examples['resource']).value)

const accessTexts = {
  free: '',
  confirm: ' It needs `confirm: true` after the person for whom the agent acts has agreed.',
  none: '',
} as const satisfies Record<Operation['agentAccess'], string>

const exampleValues: Readonly<Record<string, string>> = { number: '1' }

function buildExampleInput(
  parameters: readonly Parameter[],
  body: unknown,
): { path?: object; query?: object; body?: unknown } {
  const pick = (place: Parameter['in']) =>
    parameters.flatMap(({ name, in: where, required, schema, example }) => {
      if (where !== place || !required) return []
      const value = example ?? schema.example ?? schema.enum?.[0] ?? exampleValues[name]
      return [[name, value ?? `…`] as const]
    })
  const [path, query] = [pick('path'), pick('query')]
  return {
    ...(path.length ? { path: Object.fromEntries(path) } : {}),
    ...(query.length ? { query: Object.fromEntries(query) } : {}),
    ...(body === undefined ? {} : { body }),
  }
}

function describeMcpCall(operation: Operation, parameters: readonly Parameter[], body: unknown): string[] {
  const { id, agentAccess, scope, stream, file } = operation
  if (agentAccess === 'none' || stream || file?.type === 'text/event-stream')
    return ['## Call over MCP', 'This operation cannot be called over MCP. Call it over HTTP.']
  const input = buildExampleInput(parameters, body)
  const example = {
    id,
    ...(Object.keys(input).length ? { input } : {}),
    ...(scope === 'write' ? { idempotency_key: '6f1d2c3b-8a9e-4f00-9d6b-0c1a2b3c4d5e' } : {}),
    ...(agentAccess === 'confirm' ? { confirm: true } : {}),
  }
  return ['## Call over MCP', `Arguments of \`call_operation\`.${accessTexts[agentAccess]}`, block(example)]
}

function describeBody(document: OperationDocument, { requestBody }: DocumentedCall): string[] {
  if (!requestBody) return []
  const parts = Object.entries(requestBody.content).flatMap(([type, media]) => {
    const example = getExample(document, media)
    return [
      `\`${type}\`${requestBody.required ? '' : ', optional'}`,
      block(media.schema),
      ...(example === undefined ? [] : ['Example:', block(example)]),
    ]
  })
  return ['## Request body', ...(requestBody.description ? [requestBody.description] : []), ...parts]
}

function describeResponse(
  document: OperationDocument,
  operation: Operation,
  { response, isBrief }: { response: DocumentedResponse; isBrief: boolean },
): string[] {
  const parts = Object.entries(response.content ?? {}).flatMap(([type, media]) => {
    const example = getExample(document, media)
    return [
      `\`${type}\``,
      ...(isBrief || operation.file ? [] : [block(media.schema)]),
      ...(example === undefined
        ? []
        : ['Example:', typeof example === 'string' ? `\`\`\`\n${example}\n\`\`\`` : block(example)]),
    ]
  })
  return [`## Answer: ${operation.status}`, ...(parts.length ? parts : ['It has no body.'])]
}

function describeErrors({ route }: Operation, address: (path: string) => string): string[] {
  const lines = Object.entries(route.responses).flatMap(([status, response]) => {
    const description = 'description' in response ? (response.description ?? '') : ''
    const codes = Number(status) < 400 ? [] : [...description.matchAll(/`(\w+)`/g)].map(([, code = '']) => code)
    return codes.map((code) => `- ${status} [\`${code}\`](${address(`${buildErrorPath(code)}.md`)})`)
  })
  return ['## Errors', lines.join('\n')]
}

/** The page of an operation in Markdown, made from the OpenAPI document. */
export function describeOperation(
  operation: Operation,
  document: OperationDocument,
  { address, isBrief = false }: PageOptions,
): string {
  const { id, method, path, summary, tag, scope, isPublic } = operation
  const call = document.paths[path]?.[method]
  if (!call) throw new Error(`${id} is not in the document.`)
  const parameters = (call.parameters ?? []).map((parameter) => resolve<Parameter>(document, parameter))
  const response = resolve<DocumentedResponse>(document, call.responses[operation.status] ?? { description: '' })
  const bodyMedia = call.requestBody?.content['application/json']
  const bodyExample = bodyMedia && getExample(document, bodyMedia)
  const shownSchemas = [call.requestBody?.content, isBrief || operation.file ? null : response.content]
  const schemas = [...collectSchemas(document, shownSchemas)].map(
    (name) => `### ${name}\n\n${block(document.components['schemas']?.[name])}`,
  )
  return `${[
    `# ${id}`,
    `${summary}. Group: ${tag}.`,
    `\`${method.toUpperCase()} ${path}\``,
    call.description ?? '',
    ...(isPublic ? [] : [`The token needs the scope \`${scope}\`.`]),
    ...(parameters.length ? ['## Parameters', parameters.map(describeParameter).join('\n')] : []),
    ...describeBody(document, call),
    ...describeMcpCall(operation, parameters, bodyExample),
    ...describeResponse(document, operation, { response, isBrief }),
    ...(isBrief ? [] : describeErrors(operation, address)),
    ...(schemas.length ? ['## Schemas', ...schemas] : []),
  ]
    .filter((part) => part !== '')
    .join('\n\n')}\n`
}
