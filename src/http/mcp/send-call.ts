import type { AppContext } from '../env.ts'
import type { Operation } from '../operations/operation.ts'

/**
 * Requests that read the primary database, because an agent sends no bookmark and expects to read what it wrote. A client
 * cannot ask for it by a header.
 */
export const primaryRequests = new WeakSet<Request>()

export interface CallInput {
  path: Readonly<Record<string, unknown>>
  query: Readonly<Record<string, unknown>>
  body: Readonly<Record<string, unknown>> | undefined
}

/** The fault of the arguments of a tool, as the agent reads it. */
export class InvalidCall extends Error {}

/** Sends a request to the app in this isolate. */
export type SendRequest = (c: AppContext, request: Request) => Promise<Response>

const listShape = (schema: unknown): string[] =>
  typeof schema === 'object' && schema !== null && 'shape' in schema ? Object.keys(schema.shape as object) : []

export const hasField = (schema: unknown, name: string): boolean => listShape(schema).includes(name)

/** Ids of paths consist of these characters, so that no value leads to another path. */
const pathValue = /^[\w-]{1,64}$/

function fillPath(operation: Operation, path: CallInput['path']): string {
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name]
    if (value === undefined) throw new InvalidCall(`\`input.path.${name}\` is required.`)
    const text = typeof value === 'number' ? String(value) : value
    if (typeof text !== 'string' || !pathValue.test(text))
      throw new InvalidCall(`\`input.path.${name}\` must be an id of letters, digits, \`_\` and \`-\`.`)
    return text
  })
}

const countPlaceholders = ({ path }: Operation): number => path.split('{').length

const matchesPath = (template: string, path: string): boolean => {
  const [names, segments] = [template.split('/'), path.split('/')]
  return (
    names.length === segments.length && names.every((name, index) => name.startsWith('{') || name === segments[index])
  )
}

/** Refuses a value such as `export`, with which `/v1/orders/{id}` would be the path of another operation. */
function checkPath(operations: readonly Operation[], operation: Operation, path: string): void {
  const other = operations.find(
    (one) =>
      one.id !== operation.id &&
      one.method === operation.method &&
      countPlaceholders(one) < countPlaceholders(operation) &&
      matchesPath(one.path, path),
  )
  if (other) throw new InvalidCall(`\`input.path\` leads to \`${other.id}\`. Send the id of a resource.`)
}

function buildQuery(query: CallInput['query']): URLSearchParams {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined) continue
    const text: unknown = Array.isArray(value) ? value.join(',') : value
    if (typeof text !== 'string' && typeof text !== 'number' && typeof text !== 'boolean')
      throw new InvalidCall(`\`input.query.${name}\` must be a text, a number or a boolean.`)
    parameters.append(name, String(text))
  }
  return parameters
}

/** Pages of lists are short, because agents read every character of them. */
const defaultPageSize = '20'

function checkNames(operation: Operation, { path, query, body }: CallInput): void {
  const places = {
    path: listShape(operation.params),
    query: listShape(operation.query),
    body: listShape(operation.body),
  }
  const findPlace = (name: string) =>
    Object.entries(places).find(([, names]) => names.includes(name))?.[0] as keyof typeof places | undefined
  for (const [place, values] of Object.entries({ path, query, body: body ?? {} }))
    for (const name of Object.keys(values)) {
      if (places[place as keyof typeof places].includes(name)) continue
      const right = findPlace(name)
      if (right !== undefined) throw new InvalidCall(`\`${name}\` belongs to \`input.${right}\`.`)
      if (place === 'path') throw new InvalidCall(`\`${operation.path}\` has no \`${name}\`.`)
    }
}

const forwardedHeaders = ['authorization', 'cf-connecting-ip']

interface Call {
  operation: Operation
  input: CallInput
  idempotencyKey: string | undefined
  ifMatch: string | undefined
}

/** Header values are printable ASCII. The service says what else is wrong with them. */
function checkHeader(name: string, value: string | undefined): void {
  if (value !== undefined && !/^[\x20-\x7E]{1,300}$/.test(value))
    throw new InvalidCall(`\`${name}\` must have 1 to 255 printable ASCII characters.`)
}

/** Builds the request of a call: the one that a program with the same token would send over HTTP. */
export function buildCallRequest(c: AppContext, operations: readonly Operation[], call: Call): Request {
  const { operation, input, idempotencyKey, ifMatch } = call
  checkNames(operation, input)
  checkHeader('idempotency_key', idempotencyKey)
  checkHeader('if_match', ifMatch)
  const path = fillPath(operation, input.path)
  checkPath(operations, operation, path)
  const query = buildQuery(input.query)
  if (hasField(operation.query, 'page_size') && !query.has('page_size')) query.set('page_size', defaultPageSize)
  const url = new URL(c.req.url)
  url.pathname = path
  url.search = query.toString()
  if (input.body !== undefined && operation.body === null)
    throw new InvalidCall(`\`${operation.id}\` takes no \`input.body\`.`)
  const headers = new Headers({
    accept: 'application/json',
    'x-request-id': c.var.requestId,
    ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
  })
  for (const name of forwardedHeaders) {
    const value = c.req.header(name)
    if (value !== undefined) headers.set(name, value)
  }
  return new Request(url, {
    method: operation.method.toUpperCase(),
    headers,
    ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
  })
}
