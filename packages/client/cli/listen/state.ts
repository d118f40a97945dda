import { createHash, randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../errors.ts'

/** Where events come from and go to. */
interface Route {
  url: string
  organization: string
  target: string
}

export interface Subscription extends Route {
  /** Null for the events of all editions. */
  edition: string | null
  /** Null for events of all kinds. */
  kinds: readonly string[] | null
}

const openFolder = async (): Promise<string> => {
  const folder = join(process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'ecm', 'listen')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return folder
}

const hash = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)

const readText = (path: string): Promise<string | null> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })

/** Reads the secret that signs posts to the target, or makes it. The first one stays, whoever makes it. */
export async function loadSecret({ url, organization, target }: Route): Promise<string> {
  const path = join(await openFolder(), `${hash(url, organization, target)}.secret`)
  const draft = `${path}.${process.pid}`
  await writeFile(draft, `whsec_${randomBytes(32).toString('base64')}\n`, { mode: 0o600 })
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(draft)
  return (await readFile(path, 'utf8')).trim()
}

export interface StoredCursor {
  /** The position behind which the last `ecm listen` stopped. Null if there was none. */
  first: string | null
  store: (cursor: string) => Promise<void>
}

/**
 * Opens the cursor of a subscription. Other kinds or another edition have a cursor of their own, so that two commands
 * with the same target do not move each other's.
 */
export async function openCursor(subscription: Subscription): Promise<StoredCursor> {
  const { url, organization, target, edition, kinds } = subscription
  const path = join(await openFolder(), `${hash(url, organization, target, edition, kinds)}.cursor`)
  const first = (await readText(path))?.trim() ?? null
  if (first !== null && !/^org_\w{1,40}:\d{1,15}$/.test(first))
    throw new UsageError(`${path} is damaged. Delete it, and say with --since where to begin.`)
  const draft = `${path}.${process.pid}`
  const store = async (cursor: string): Promise<void> => {
    await writeFile(draft, `${cursor}\n`, { mode: 0o600 })
    await rename(draft, path)
  }
  return { first, store }
}
