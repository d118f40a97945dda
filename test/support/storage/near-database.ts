import { env } from 'cloudflare:workers'

/** What the client of D1 sends its requests by. */
interface Fetcher {
  fetch: (url: string, init: { headers: Headers; body: string }) => Promise<Pick<Response, 'headers' | 'text'>>
}

interface Client {
  fetcher: Fetcher
  alwaysPrimarySession: { fetcher: Fetcher }
}

const bookmarkHeader = 'x-cf-d1-session-commit-token'

const near: Fetcher = {
  fetch: async (url, { headers: asked, body }) => {
    const database = env.TEST_DATABASE.getByName('DB')
    const text = await database.query(new URL(url).searchParams.get('resultsFormat'), body)
    const headers = new Headers()
    // Only a session asks how far the database is.
    if (asked.has(bookmarkHeader)) headers.set(bookmarkHeader, await database.bookmark())
    return { headers, text: () => Promise.resolve(text) }
  },
}

const kept = Symbol.for('the server of D1 that the platform has')

/** The fetcher of the platform: kept, because files that share an isolate share the client. */
const farFetcher = (client: Client): Fetcher =>
  ((globalThis as Record<symbol, unknown>)[kept] ??= client.fetcher) as Fetcher

/**
 * Lets the platform's client of D1 ask `TestDatabase` by one call. The server of the simulation stands behind two HTTP
 * requests, which take half of the processor's time of a request. Both run the same SQLite.
 */
export function useNearDatabase(): void {
  const client = env.DB as unknown as Client
  if (!('fetch' in client.fetcher && 'fetch' in client.alwaysPrimarySession.fetcher))
    throw new Error('D1 sends requests in another way than it did')
  farFetcher(client)
  client.fetcher = near
  client.alwaysPrimarySession.fetcher = near
}

/** The database of the simulation, which is empty. */
export function farDatabase(): D1Database {
  const client = env.DB as unknown as Client
  const Database = env.DB.constructor as new (fetcher: Fetcher) => D1Database
  return new Database(farFetcher(client))
}
