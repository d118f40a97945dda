import { createRoute, type RouteConfig, z } from '@hono/zod-openapi'
import type { RoleCode, TokenScope } from '../../domain/accounts/access.ts'
import { type ErrorCode, errorStatus } from '../../domain/errors.ts'
import { IdParams } from '../fields.ts'
import { Problem } from '../problem.ts'

export const tags = [
  'Auth',
  'Organizations',
  'Editions',
  'Catalogue',
  'Orders',
  'Purchases',
  'User',
  'Refunds',
  'Files',
  'Data Imports',
  'Campaigns',
  'Consents',
  'Email Messages',
  'Segments',
  'Webhooks',
  'Audit Log',
  'System',
] as const

/**
 * The way in which an agent that acts for a person can call the operation over MCP: freely, after the person has confirmed
 * the call, or never.
 */
export type AgentAccess = 'free' | 'confirm' | 'none'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

const NoParams = z.object({})

export interface Operation<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> {
  id: string
  tag: (typeof tags)[number]
  method: Method
  /** With placeholders as in OpenAPI: `/v1/editions/{id}`. */
  path: string
  summary: string
  /** The roles that can call it. Empty: only the superuser of the platform, or everybody if it is public. */
  roles: readonly RoleCode[]
  /** True if it is called without a token. Tokens are ignored, and so is an Idempotency-Key, which needs a caller. */
  isPublic: boolean
  status: 200 | 201 | 204
  /** The scope that a token needs. */
  scope: TokenScope
  agentAccess: AgentAccess
  params: Params
  query: Query
  body: Body | null
  response: Response | null
  /** The file in the request body. */
  stream: StreamBody | null
  /** The file that the operation returns instead of JSON. */
  file: FileResponse | null
  route: RouteConfig
}

/** A request body that is stored while it is received. */
export interface StreamBody {
  /** The media types of a body that is the file itself. */
  types: readonly string[]
  /** A form can send the file as its part `file`, together with the fields of `body`. */
  form: FormFields | null
  /** The maximum size of the file. */
  maxBytes: number
  /** The time in which the whole body must arrive. */
  maxReadMs: number
  description: string
}

/** The fields of a form that are not a single text. */
export interface FormFields {
  /** Each of them is one part of JSON. */
  jsonFields: readonly string[]
  /** Lists of texts: one part for each item, or one part with a JSON array. */
  listFields: readonly string[]
}

interface FileResponse {
  type: 'text/csv' | 'application/json' | 'text/event-stream'
  description: string
  example: string
  /** An example of the file in the format that the query can ask for instead. */
  ndjsonExample?: string
  /** The schema of a JSON file, or of one event of a stream. `example` is JSON then. */
  schema?: z.ZodType
  /** The operation can also return a page for people. */
  hasPage?: true
  /** A client of the stream can continue where its last connection ended. */
  resumes?: true
}

interface Declaration<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType> {
  id: string
  tag: (typeof tags)[number]
  method: Method
  path: string
  summary: string
  description?: string
  roles: readonly RoleCode[]
  /** Everybody can call it without a token. */
  isPublic?: true
  status?: 200 | 201 | 204
  /** Set it to `read` for a POST that changes nothing. By default it follows from the method. */
  scope?: 'read'
  /**
   * `confirm` if it sends, pays, approves, starts an import, erases, deletes, merges, cancels, undoes, or gives or revokes
   * access. `none` if it signs somebody in, creates a token or replaces a secret.
   */
  agentAccess?: Exclude<AgentAccess, 'free'>
  params?: P
  query?: Q
  body?: B
  /** The request sends a file, together with the fields of `body`. */
  stream?: StreamBody
  /** An example body for the OpenAPI document. */
  example?: unknown
  response?: R
  /** Replaces `response` if the operation streams a file. */
  file?: FileResponse
  /** Errors of this operation, in addition to those that it can raise by its declaration. */
  errors?: readonly ErrorCode[]
}

const commonErrors: readonly ErrorCode[] = ['malformed_request', 'rate_limited', 'internal_error', 'overloaded']

/** Errors of operations that need a token. */
const callerErrors: readonly ErrorCode[] = [
  'not_authenticated',
  'identity_unavailable',
  'permission_denied',
  'insufficient_scope',
]

const idempotencyErrors: readonly ErrorCode[] = [
  'idempotency_in_progress',
  'idempotency_key_reused',
  'idempotency_answer_lost',
  'idempotency_unavailable',
]

function listPossibleErrors(declaration: Declaration<z.ZodType, z.ZodType, z.ZodType, z.ZodType>): ErrorCode[] {
  const { method, scope, params, query, body, stream, isPublic, errors = [] } = declaration
  const changes = method !== 'get' && scope !== 'read'
  const codes: ErrorCode[] = [...commonErrors, ...(isPublic ? [] : callerErrors), ...errors]
  if (params) codes.push('not_found')
  if (query instanceof z.ZodObject && 'page' in query.shape) codes.push('invalid_page', 'page_too_deep')
  codes.push('validation_error')
  if (body || changes) codes.push('malformed_body', 'body_too_large', 'unsupported_media_type', 'request_timeout')
  if (stream) codes.push('file_too_large')
  if (changes) codes.push('write_conflict')
  if (changes && !isPublic) codes.push(...idempotencyErrors)
  if (changes && params && declaration.status !== 201) codes.push('precondition_failed')
  return codes
}

function buildErrorResponses(codes: readonly ErrorCode[]): RouteConfig['responses'] {
  const byStatus = Map.groupBy(new Set(codes), (code) => errorStatus[code])
  const content = { 'application/problem+json': { schema: Problem } }
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      status,
      { description: ofStatus.map((code) => `\`${code}\``).join(', '), content },
    ]),
  )
}

const idempotencyHeader = z.string().min(1).max(255).optional().openapi({
  description:
    'Makes the request safe to repeat: for 24 hours, requests with the same key return the response of the first one.',
  example: '6f1d2c3b-8a9e-4f00-9d6b-0c1a2b3c4d5e',
})

const lastEventIdHeader = z.string().max(100).optional().openapi({
  description: 'The last `id` that you received, to continue there. Browsers send it by themselves.',
})

const ifMatchHeader = z.string().optional().openapi({
  description: 'The ETag of the resource that you read. You get 412 if the resource has changed since.',
})

function buildSuccess(response: z.ZodType | undefined, file: FileResponse | undefined) {
  if (file) {
    const { type, description, example, ndjsonExample, schema, hasPage } = file
    const exampleValue = schema ? (JSON.parse(example) as unknown) : example
    const page = hasPage ? { 'text/html': { schema: z.string() } } : {}
    const lines = ndjsonExample ? { 'application/x-ndjson': { schema: z.string(), example: ndjsonExample } } : {}
    const content = { [type]: { schema: schema ?? z.string(), example: exampleValue }, ...lines, ...page }
    return { description, content }
  }
  return response
    ? { description: 'Success', content: { 'application/json': { schema: response } } }
    : { description: 'Success, no content' }
}

const buildEncoding = ({ jsonFields, listFields }: FormFields) =>
  Object.fromEntries([
    ...jsonFields.map((name) => [name, { contentType: 'application/json' }] as const),
    ...listFields.map((name) => [name, { contentType: 'text/plain' }] as const),
  ])

/** The body in the OpenAPI document: a form, the file itself, or JSON. */
function buildBodyContent({
  body,
  stream,
  example,
}: Pick<Declaration<z.ZodType, z.ZodType, z.ZodType, z.ZodType>, 'body' | 'stream' | 'example'>) {
  if (!stream)
    return body
      ? { required: !body.safeParse({}).success, content: { 'application/json': { schema: body, example } } }
      : null
  const bytes = { type: 'string', format: 'binary', maxLength: stream.maxBytes } as const
  const file = z.string().openapi({ ...bytes, description: 'The file. Send it exactly once.' })
  const form = body instanceof z.ZodObject ? body.extend({ file }) : z.object({ file })
  const raw = stream.types.map((type) => [type, { schema: bytes }] as const)
  const content = {
    ...(stream.form ? { 'multipart/form-data': { schema: form, encoding: buildEncoding(stream.form), example } } : {}),
    ...Object.fromEntries(raw),
  }
  return { required: true, description: stream.description, content }
}

function describeCallers({ roles, isPublic }: Pick<Operation, 'roles'> & { isPublic?: true }): string {
  if (isPublic) return 'Everybody can call this operation, without a token.'
  return roles.length ? `Roles: ${roles.join(', ')}.` : 'Only the superuser of the platform can call this operation.'
}

/** True for operations that change one existing resource, so that preconditions apply. */
export const changesOne = ({ scope, status }: Pick<Operation, 'scope' | 'status'>): boolean =>
  scope === 'write' && status !== 201

/** Declares the path of a verb on one resource, such as `POST /v1/campaigns/{id}/cancel`. */
export const action = (collection: string, idPrefix: string, verb: string) => ({
  method: 'post' as const,
  path: `${collection}/{id}/${verb}`,
  params: IdParams(idPrefix),
})

/** Declares an operation. Its routing, OpenAPI document, role check and tests all follow from the declaration. */
export function operation<
  P extends z.ZodType = typeof NoParams,
  Q extends z.ZodType = typeof NoParams,
  B extends z.ZodType = z.ZodNever,
  R extends z.ZodType = z.ZodNever,
>(declaration: Declaration<P, Q, B, R>): Operation<P, Q, B, R> {
  const { id, tag, method, path, summary, roles, isPublic = false, status = 200 } = declaration
  const { params, query, body, response, file } = declaration
  const scope = declaration.scope ?? (method === 'get' ? 'read' : 'write')
  const headers = {
    ...(scope === 'read' || isPublic ? {} : { 'idempotency-key': idempotencyHeader }),
    ...(params && changesOne({ scope, status }) ? { 'if-match': ifMatchHeader } : {}),
    ...(file?.resumes ? { 'last-event-id': lastEventIdHeader } : {}),
  }
  const success = buildSuccess(response, file)
  const content = buildBodyContent(declaration)
  const request = {
    ...(params ? { params } : {}),
    ...(query ? { query } : {}),
    ...(Object.keys(headers).length ? { headers: z.object(headers) } : {}),
    ...(content ? { body: content } : {}),
  }
  return {
    id,
    tag,
    method,
    path,
    summary,
    roles,
    isPublic,
    status,
    scope,
    agentAccess: declaration.agentAccess ?? 'free',
    params: params ?? (NoParams as unknown as P),
    query: query ?? (NoParams as unknown as Q),
    body: body ?? null,
    stream: declaration.stream ?? null,
    response: response ?? null,
    file: file ?? null,
    route: createRoute({
      operationId: id,
      tags: [tag],
      method,
      path,
      summary,
      description: [declaration.description, describeCallers(declaration)].filter(Boolean).join('\n\n'),
      security: isPublic ? [] : [{ bearer: [] }],
      // createRoute cannot infer the type of a request that is assembled from optional parts.
      request: request as RouteConfig['request'] & object,
      responses: { [status]: success, ...buildErrorResponses(listPossibleErrors(declaration)) },
    }),
  }
}
