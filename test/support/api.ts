import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { expect } from 'vitest'
import { app, operations } from '../../src/app.ts'
import { fieldGuide } from '../../src/domain/error-guide.ts'
import type { Operation } from '../../src/http/operations/operation.ts'
import { Problem } from '../../src/http/problem.ts'

export const rootToken = 'root-token-of-the-tests'

/** PUBLIC_URL of the tests. Every link in an answer begins with it, whatever the host of the request. */
export const publicUrl = 'https://events.example.test'

/** Returns the path and query of a link under PUBLIC_URL. */
export function readLinkPath(link: string | null): string {
  expect(link).toMatch(new RegExp(`^${publicUrl}/`))
  return (link ?? '').slice(publicUrl.length)
}

export interface Reply {
  status: number
  headers: Headers
  text: string
  // The client has checked the shape by the schema, so tests may read it freely.
  // oxlint-disable-next-line typescript/no-explicit-any -- see above
  body: any
}

export interface Request {
  method?: string
  token?: string | null
  body?: unknown
  /** Sent as it is, instead of `body`. */
  raw?: BodyInit
  headers?: Record<string, string>
}

const patterns = operations.map((operation: Operation) => ({
  operation,
  method: operation.method.toUpperCase(),
  pattern: new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
}))

const matching = (method: string, path: string): Operation | undefined =>
  patterns.find((pattern) => pattern.method === method && pattern.pattern.test(path))?.operation

/** The module is cached, because each import asks the process that runs the tests for its path. */
let promised: typeof import('./document-check.ts') | undefined

/** The document takes seconds to load, and the contract tests see every answer of every operation. */
async function checkDocument(operation: Operation, reply: Reply): Promise<void> {
  if (!expect.getState().testPath?.includes('/test/contract/')) return
  promised ??= await import('./document-check.ts')
  promised.expectDocumented(operation, reply)
}

/** Compares every answer with the document: status, schema, and no further fields. */
async function checkPromise(method: string, path: string, reply: Reply): Promise<void> {
  const operation = matching(method, path.split('?')[0] ?? path)
  if (operation) await checkDocument(operation, reply)
  if (reply.status === 304) return
  if (reply.status >= 400) {
    expect(reply.headers.get('content-type')).toBe('application/problem+json')
    expect(Problem.safeParse(reply.body).error).toBeUndefined()
    for (const { code } of reply.body.errors) expect(fieldGuide, 'each code has its page').toHaveProperty([code])
    return
  }
  if (!operation) return
  expect(reply.status, `${operation.id} answered ${reply.text}`).toBe(operation.status)
  if (operation.file) {
    const { type, ndjsonExample, hasPage } = operation.file
    const types = [type, ...(ndjsonExample ? ['application/x-ndjson'] : []), ...(hasPage ? ['text/html'] : [])]
    expect(types).toContain(reply.headers.get('content-type')?.split('; charset=')[0])
    return
  }
  if (!operation.response) {
    expect(reply.text).toBe('')
    return
  }
  const parsed = operation.response.safeParse(reply.body)
  expect(parsed.error, `${operation.id} answered ${reply.text.slice(0, 2000)}`).toBeUndefined()
  // Parsing drops unknown fields, so a difference is a field that the schema does not have.
  expect(reply.body, `${operation.id} answers only what it promises`).toEqual(parsed.data)
}

export function buildRequest(
  path: string,
  request: Request = {},
): globalThis.Request<unknown, IncomingRequestCfProperties> {
  const { token = rootToken, body, raw, headers = {} } = request
  return new Request(`https://api.example${path}`, {
    method: request.method ?? (body === undefined && raw === undefined ? 'GET' : 'POST'),
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined && raw === undefined ? {} : { body: raw ?? JSON.stringify(body) }),
  })
}

/** The beginning of a stream that does not end by itself. */
async function readBeginning(body: ReadableStream<Uint8Array>): Promise<string> {
  const reader = body.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}

async function replyOf(path: string, method: string, response: Response): Promise<Reply> {
  const isEndless = response.ok && response.body !== null && /^\/v1\/webhooks\/events\/stream\b/.test(path)
  // The runtime warns when `text` reads a body of lines of JSON.
  const text =
    isEndless && response.body
      ? await readBeginning(response.body)
      : new TextDecoder().decode(await response.arrayBuffer())
  const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '')
  const reply: Reply = {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text ? JSON.parse(text) : null,
  }
  expect(reply.headers.get('x-request-id')).toBeTruthy()
  if (path.startsWith('/v1/') && method !== 'OPTIONS' && method !== 'HEAD') await checkPromise(method, path, reply)
  return reply
}

export async function call(path: string, init: Request = {}): Promise<Reply> {
  const request = buildRequest(path, init)
  return replyOf(path, request.method, await exports.default.fetch(request))
}

/** Like `call`, with other bindings than the Worker's own. */
export async function callWith(bindings: object, path: string, init: Request = {}): Promise<Reply> {
  const request = buildRequest(path, init)
  const context = createExecutionContext()
  const response = await app.fetch(request, { ...env, ...bindings }, context)
  const reply = await replyOf(path, request.method, response)
  await waitOnExecutionContext(context)
  return reply
}

export const get = (path: string, token?: string | null) =>
  call(path, { token: token === undefined ? rootToken : token })
export const post = (path: string, body: unknown, token?: string) =>
  call(path, { method: 'POST', body, token: token ?? rootToken })
export const patch = (path: string, body: unknown, token?: string) =>
  call(path, { method: 'PATCH', body, token: token ?? rootToken })
export const remove = (path: string, token?: string) => call(path, { method: 'DELETE', token: token ?? rootToken })

/** The body of the answer that created something. */
export async function create<Resource = Reply['body']>(path: string, body: unknown, token?: string): Promise<Resource> {
  const reply = await post(path, body, token)
  expect(reply.status, `${path} answered ${reply.text}`).toBe(201)
  return reply.body as Resource
}
