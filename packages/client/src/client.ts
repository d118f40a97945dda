import createFetchClient, { type MaybeOptionalInit, type ParseAsResponse } from 'openapi-fetch'
import type {
  HttpMethod,
  PathsWithMethod,
  Readable,
  RequiredKeysOf,
  ResponseObjectMap,
  SuccessResponse,
} from 'openapi-typescript-helpers'
import { readError } from './errors.ts'
import type { paths } from './generated/schema.ts'
import { type RetryOptions, withRetries } from './retries.ts'

export interface ClientOptions extends RetryOptions {
  /** The address of the service, without `/v1`. */
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

/** The data of a successful answer. */
export type DataOf<Method extends HttpMethod, Path extends keyof paths, Options = unknown> = paths[Path] extends {
  [M in Method]: infer Operation extends Record<string | number, unknown>
}
  ? ParseAsResponse<Readable<SuccessResponse<ResponseObjectMap<Operation>>>, Options>
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
export const ifUnchanged = (etag: string): { 'If-Match': string } => ({ 'If-Match': etag })

const isChange = ({ method }: Request): boolean => method === 'POST' || method === 'PATCH'

/** Creates a client of the API. A failed call throws an `ApiError`. */
export function createClient({
  url,
  token,
  fetch = (request) => globalThis.fetch(request),
  ...retries
}: ClientOptions) {
  const calls = createFetchClient<paths>({
    baseUrl: url.replace(/\/+$/, ''),
    fetch: withRetries(fetch, retries),
    // The API refuses a parameter that is sent twice.
    querySerializer: { array: { style: 'form', explode: false } },
  })
  let bookmark: string | null = null
  calls.use({
    onRequest({ request }) {
      if (token !== undefined) request.headers.set('authorization', `Bearer ${token}`)
      if (token !== undefined && isChange(request) && !request.headers.has('idempotency-key'))
        request.headers.set('idempotency-key', crypto.randomUUID())
      if (bookmark !== null) request.headers.set('x-d1-bookmark', bookmark)
      return request
    },
    async onResponse({ request, response }) {
      // Later calls read at least what this one wrote, also from a replica.
      if (request.method !== 'GET') bookmark = response.headers.get('x-d1-bookmark') ?? bookmark
      if (!response.ok && response.status !== 304) throw await readError(response)
    },
  })
  const call =
    (method: HttpMethod) =>
    async (path: string, init?: object): Promise<Answer<unknown>> => {
      const { data, response } = await calls.request(method, path as never, init as never)
      return { data, response, etag: response.headers.get('etag') }
    }
  const client = {
    GET: call('get'),
    POST: call('post'),
    PUT: call('put'),
    PATCH: call('patch'),
    DELETE: call('delete'),
  }
  return client as unknown as Client
}
