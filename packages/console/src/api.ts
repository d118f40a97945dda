import {
  ApiError,
  type Client,
  type components,
  createClient,
  type DataOf,
  type Init,
  type InitParam,
  type PathsOf,
} from '@event-commerce/client'
import { keepPreviousData, MutationCache, QueryClient, queryOptions } from '@tanstack/react-query'
import { type CallInit, recordCall } from './calls'
import { forgetToken, onTokenChange, readToken } from './session'
import { isHeld } from './unsaved'

export type Schema = components['schemas']

/** A person waits for the answer, so the client gives up sooner than a program would. */
const patience = { maxRetries: 2, maxPauseMs: 5000 }
const connect = (): Client => createClient({ url: location.origin, token: readToken() ?? undefined, ...patience })
let client = connect()

const send =
  (method: keyof Client) =>
  async (path: string, init: CallInit = {}): Promise<unknown> => {
    const end = recordCall(method, path, init)
    const token = readToken()
    try {
      const call = client[method] as unknown as (path: string, init: CallInit) => Promise<{ response: Response }>
      const answer = await call(path, init)
      end(answer.response)
      return answer
    } catch (error) {
      if (error instanceof ApiError) {
        end({ status: error.status, requestId: error.requestId })
        // A late answer to an earlier session does not end this one.
        if (error.status === 401 && token === readToken()) forgetToken({ isExpired: true })
      }
      throw error
    }
  }

/** The client of the signed-in person. Its calls are listed in the panel "API" of the page. */
export const api = {
  GET: send('GET'),
  POST: send('POST'),
  PUT: send('PUT'),
  PATCH: send('PATCH'),
  DELETE: send('DELETE'),
} as unknown as Client

const query = <Path extends PathsOf<'get'>, Options extends Init<Path, 'get'>>(
  path: Path,
  [init]: InitParam<Options>,
) => ({
  queryKey: [path, init] as const,
  queryFn: async ({ signal }: { signal: AbortSignal }) => {
    const get = api.GET as unknown as (
      path: string,
      init: object,
    ) => Promise<{ data: DataOf<'get', Path, Options>; etag: string | null }>
    const { data, etag } = await get(path, { ...init, signal })
    return { data, etag }
  },
})

/** The query of a resource or list: `useQuery(get('/v1/orders/{id}', { params: { path: { id } } }))`. */
export const get = <Path extends PathsOf<'get'>, Options extends Init<Path, 'get'>>(
  path: Path,
  ...init: InitParam<Options>
) => queryOptions({ ...query(path, init), select: ({ data }) => data })

/** The query of a list that turns pages: the rows of the last page stay, inert, while the next one loads. */
export const getList = <Path extends PathsOf<'get'>, Options extends Init<Path, 'get'>>(
  path: Path,
  ...init: InitParam<Options>
) => queryOptions({ ...query(path, init), select: ({ data }) => data, placeholderData: keepPreviousData })

/** The same query, whose result has the ETag beside the data, for pages that edit the resource. */
export const getWithEtag = <Path extends PathsOf<'get'>, Options extends Init<Path, 'get'>>(
  path: Path,
  ...init: InitParam<Options>
) => queryOptions(query(path, init))

export const queries: QueryClient = new QueryClient({
  defaultOptions: {
    // The client tries lost and overloaded calls again by itself. Without a network they fail, instead of waiting unseen.
    queries: { staleTime: 10_000, retry: false, networkMode: 'always' },
    mutations: { retry: false, networkMode: 'always' },
  },
  // A change can concern everything on the page. After a refused one, the page was probably out of date.
  mutationCache: new MutationCache({ onSettled: () => queries.invalidateQueries() }),
})

onTokenChange(() => {
  client = connect()
  if (!isHeld()) queries.clear()
})
