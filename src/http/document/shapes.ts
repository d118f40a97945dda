/** The parts of an OpenAPI document that are completed after the schemas are generated. */

export interface Reference {
  $ref: string
}

interface SchemaObject {
  description?: string
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

export interface Media {
  schema?: unknown
  example?: unknown
  examples?: Record<string, Reference>
}

export interface DocumentedAnswer {
  description: string
  headers?: Record<string, Reference>
  content?: Record<string, Media>
}

export interface Documented {
  security?: unknown
  operationId?: string
  parameters?: Parameter[]
  responses: Record<string, DocumentedAnswer>
}

export interface Document {
  info: { license?: { name: string; identifier: string } }
  tags?: { name: string; description?: string }[]
  paths: Record<string, Record<string, Documented>>
  webhooks: Record<string, Record<string, Documented>>
  components: Record<string, unknown>
}
