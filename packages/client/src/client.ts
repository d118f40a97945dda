import createFetchClient, {
  type HeadersOptions,
  type MaybeOptionalInit,
  mergeHeaders,
  type ParseAsResponse,
} from 'openapi-fetch'
import type {
  HttpMethod,
  PathsWithMethod,
  Readable,
  RequiredKeysOf,
  ResponseObjectMap,
  SuccessResponse,
} from 'openapi-typescript-helpers'
import { readData, serializeBody } from './bodies.ts'
import { readError } from './errors.ts'
import type { paths } from './generated/schema.ts'
import { type RetryOptions, withRetries } from './retries.ts'

export interface ClientOptions extends RetryOptions {
  /** The address of the service, such as `https://api.example.com`. */
  url: string
  /** An access token (`ecm_…`), or a token of the OpenID Connect issuer. Public operations need none. */
  token?: string
  /** Replaces the `fetch` of the platform. */
  fetch?: (request: Request) => Promise<Response>
}

export type PathsOf<Method extends HttpMethod> = PathsWithMethod<paths, Method>

export interface Answer<Data> {
  data: Data
  response: Response
  /** The ETag of the resource, for `ifUnchanged`. Null if the answer has none. */
  etag: string | null
}

/** The data of a successful answer. With `ifChanged` there can be none. */
export type DataOf<Method extends HttpMethod, Path extends keyof paths, Options = unknown> = paths[Path] extends {
  [M in Method]: infer Operation extends Record<string | number, unknown>
}
  ?
      | ParseAsResponse<Readable<SuccessResponse<ResponseObjectMap<Operation>>>, Options>
      | (Options extends { headers: { 'If-None-Match': string } } ? undefined : never)
  : never

/** The parameters of a call, which can be left out if none is required. */
export type Init<Path extends keyof paths, Method extends HttpMethod> = MaybeOptionalInit<paths[Path], Method>
export type InitParam<Value> = RequiredKeysOf<Value> extends never ? [init?: Value] : [init: Value]

type Call<Method extends HttpMethod> = <
  Path extends PathsWithMethod<paths, Method>,
  Options extends Init<Path, Method>,
>(
  path: Path,
  ...init: InitParam<Options>
) => Promise<Answer<DataOf<Method, Path, Options>>>

export interface Client {
  GET: Call<'get'>
  POST: Call<'post'>
  PUT: Call<'put'>
  PATCH: Call<'patch'>
  DELETE: Call<'delete'>
}

/** Sends the change only if the resource still has this ETag. Else the call throws a `PreconditionFailedError`. */
export function ifUnchanged(etag: string | null): { 'If-Match': string } {
  if (etag === null) throw new TypeError('The answer had no ETag, so nobody can tell whether the resource has changed.')
  return { 'If-Match': etag }
}

/** Asks for the resource only if it has another ETag now. Else `data` is undefined, and the status 304. */
export const ifChanged = (etag: string): { 'If-None-Match': string } => ({ 'If-None-Match': etag })

function readBase(url: string): string {
  if (typeof url !== 'string') throw new TypeError('createClient needs the address of the service as `url`.')
  return url.replace(/\/$/, '').replace(/\/v1$/, '')
}

/** An id such as `..` would lead to another operation. */
function checkPath(path: string, values: Record<string, unknown> = {}): void {
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g))
    if (['undefined', 'null', '', '.', '..'].includes(String(values[name])))
      throw new TypeError(`The path ${path} needs another value of ${name} than "${String(values[name])}".`)
}

interface CallInit {
  parseAs?: 'json' | 'text' | 'blob' | 'arrayBuffer' | 'stream'
  body?: unknown
  headers?: HeadersOptions
}

/** Creates a client of the API. A failed call throws an `ApiError`. */
export function createClient({
  url,
  token,
  fetch = (request) => globalThis.fetch(request),
  ...retries
}: ClientOptions): Client {
  const calls = createFetchClient<paths>({
    baseUrl: readBase(url),
    // The API does not redirect. Another host must get neither the token nor the body.
    redirect: 'manual',
    bodySerializer: serializeBody,
    // The API refuses a parameter that is sent twice.
    querySerializer: { array: { style: 'form', explode: false } },
  })
  const sendWhole = withRetries(fetch, retries)
  const sendStreamed = withRetries(fetch, retries, { isStreamed: true })
  let bookmark = ''
  calls.use({
    onRequest({ request, schemaPath, params }) {
      checkPath(schemaPath, params.path)
      if (token !== undefined) request.headers.set('authorization', `Bearer ${token}`)
      if (token !== undefined && request.method !== 'GET' && !request.headers.has('idempotency-key'))
        request.headers.set('idempotency-key', crypto.randomUUID())
      if (bookmark !== '') request.headers.set('x-d1-bookmark', bookmark)
      return request
    },
    async onResponse({ request, response }) {
      // Later calls read at least what this one wrote, also from a replica. Later bookmarks are greater.
      const changeBookmark = request.method === 'GET' ? '' : (response.headers.get('x-d1-bookmark') ?? '')
      if (changeBookmark > bookmark) bookmark = changeBookmark
      if (!response.ok && response.status !== 304) throw await readError(response)
    },
  })
  const call =
    (method: HttpMethod) =>
    async (path: string, init: CallInit = {}): Promise<Answer<unknown>> => {
      const { parseAs } = init
      const send = parseAs === 'stream' ? sendStreamed : sendWhole
      const type = init.body instanceof Blob ? { 'Content-Type': init.body.type || 'application/octet-stream' } : {}
      const headers = mergeHeaders(type, init.headers)
      const options = { fetch: send, ...init, headers, parseAs: 'stream' }
      const { response } = await calls.request(method, path as never, options as never)
      return { data: await readData(response, parseAs), response, etag: response.headers.get('etag') }
    }
  return {
    GET: call('get'),
    POST: call('post'),
    PUT: call('put'),
    PATCH: call('patch'),
    DELETE: call('delete'),
  } as unknown as Client
}
