/** The parts of an OpenAPI document that are completed after the schemas are generated. */

export interface Reference {
  $ref: string
}

interface SchemaObject {
  type?: string | string[]
  enum?: unknown[]
  format?: string
  example?: unknown
  maxLength?: number
  pattern?: string
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header' | 'cookie'
  required?: boolean
  allowEmptyValue?: boolean
  description?: string
  schema: SchemaObject
  example?: unknown
}

interface Media {
  schema?: unknown
  example?: unknown
}

interface DocumentedAnswer {
  description: string
  headers?: Record<string, Reference>
  content?: Record<string, Media>
}

export interface Documented {
  operationId?: string
  parameters?: Parameter[]
  responses: Record<string, DocumentedAnswer>
}

export interface Document {
  info: { license?: { name: string; identifier: string } }
  tags?: { name: string; description?: string }[]
  paths: Record<string, Record<string, Documented>>
  components: { headers?: Record<string, unknown> } & Record<string, unknown>
}
