/** Types of the parts of an OpenAPI document that `completeDocument` changes. */

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

export interface DocumentedResponse {
  description: string
  headers?: Record<string, Reference>
  content?: Record<string, Media>
}

export interface DocumentedOperation {
  security?: unknown
  operationId?: string
  parameters?: Parameter[]
  requestBody?: unknown
  responses: Record<string, DocumentedResponse>
}

export interface Document {
  info: { license?: { name: string; identifier: string } }
  tags?: { name: string; description?: string }[]
  paths: Record<string, Record<string, DocumentedOperation>>
  webhooks: Record<string, Record<string, DocumentedOperation>>
  components: Record<string, unknown>
}
