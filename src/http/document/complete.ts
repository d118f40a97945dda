import type { Operation } from '../operations/operation.ts'
import { shareComponents } from './components.ts'
import { describeDefaults } from './defaults.ts'
import recordedExamples from './examples.json' with { type: 'json' }
import { hasETag, headers, addHeaders } from './headers.ts'
import { completeParameters } from './parameters.ts'
import type { Document, DocumentedOperation } from './shapes.ts'

const problem = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }

/** `npm run examples` records them from real responses. */
const examples: Readonly<Record<string, unknown>> = recordedExamples

function addExample({ id, status }: Operation, { responses }: DocumentedOperation): void {
  const media = responses[status]?.content?.['application/json']
  if (media && Object.hasOwn(examples, id)) media.example ??= examples[id]
}

function addCommonResponses(operation: Operation, { responses }: DocumentedOperation): void {
  if (operation.method === 'get' && hasETag(operation))
    responses['304'] = { description: 'The resource still has an ETag from `If-None-Match`.' }
  responses['405'] = { description: '`method_not_allowed`', content: problem }
}

interface NumberSchema {
  name?: unknown
  type?: unknown
  format?: string
}

/**
 * All whole numbers fit into 32 bits. Clients that are generated for 64 bits use BigInt. Only `page_size` has no limit,
 * because larger values are clamped.
 */
function addFormats(part: unknown): void {
  if (typeof part !== 'object' || part === null) return
  const schema = part as NumberSchema
  if (schema.name === 'page_size') return
  if ([schema.type].flat().includes('integer')) schema.format ??= 'int32'
  for (const child of Object.values(part)) addFormats(child)
}

/** Adds what the generator does not know: headers, examples, and responses that every operation can send. */
export function completeDocument(generatedDocument: object, operations: readonly Operation[]): void {
  const document = generatedDocument as Document
  for (const operation of operations) {
    const documentedOperation = document.paths[operation.path]?.[operation.method]
    if (!documentedOperation) continue
    // The document states `security` once for all operations that need a token.
    if (!operation.isPublic) delete documentedOperation.security
    completeParameters(operation, documentedOperation)
    addCommonResponses(operation, documentedOperation)
    addExample(operation, documentedOperation)
    addHeaders(operation, documentedOperation)
  }
  document.components['headers'] = headers
  addFormats(document)
  describeDefaults(document)
  shareComponents(document)
  document.info.license = { name: 'MIT', identifier: 'MIT' }
}
