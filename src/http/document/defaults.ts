import type { Document } from './shapes.ts'

interface SchemaWithDefault {
  default?: unknown
  description?: string
}

const isEmpty = (value: unknown): boolean =>
  value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)

const formatDefault = (value: unknown): string =>
  isEmpty(value) ? 'empty' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``

function describePart(part: unknown): void {
  if (typeof part !== 'object' || part === null) return
  for (const [key, child] of Object.entries(part)) if (key !== 'example' && key !== 'examples') describePart(child)
  // A field may be called `default`; the keyword stands beside the others of a schema.
  if (!('default' in part) || !['type', 'enum', 'anyOf', 'oneOf', '$ref'].some((keyword) => keyword in part)) return
  const schema = part as SchemaWithDefault
  const { default: value } = schema
  delete schema.default
  // The generator sets the keyword of extended schemas to undefined.
  if (value === undefined) return
  const sentence = `Default: ${formatDefault(value)}.`
  schema.description = [schema.description, sentence].filter(Boolean).join(' ')
}

/**
 * Says the defaults of bodies in their descriptions, because generators of typed clients require fields that have a
 * `default`. Parameters keep theirs.
 */
export function describeDefaults(document: Document): void {
  for (const methods of Object.values(document.paths))
    for (const { requestBody } of Object.values(methods)) describePart(requestBody)
  describePart(document.components['schemas'])
}
