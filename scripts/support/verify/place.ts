import type { ReadObjects } from './campaigns.ts'
import type { ListKeys } from './files.ts'
import { openLocal } from './local.ts'
import type { Finding, Query } from './query.ts'

/** A database of the service with what belongs to it. */
export interface Place {
  query: Query
  /** The number of rows that one statement reads. */
  size: number
  /** The file store, or why it cannot be listed. */
  files: ListKeys | string
  /** The objects of campaigns, or why they cannot be read. */
  readObjects: ReadObjects | string
  /** Has SQLite check the files of the databases. At Cloudflare the platform cares for them. */
  checkDatabases?: () => Finding
}

/** Options of the command line. */
interface Options {
  remote: boolean
  env?: string | undefined
  state?: string | undefined
}

/** Opens the database that the options name. Wrangler is loaded only for one at Cloudflare. */
export async function openPlace({ remote, env, state }: Options): Promise<Place> {
  if (!remote) return openLocal(state ?? process.env['STATE_DIR'] ?? '.wrangler/state')
  const { openRemote } = await import('./remote.ts')
  return openRemote(env)
}
