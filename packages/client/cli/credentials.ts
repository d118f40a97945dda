import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from './errors.ts'

export interface Login {
  url: string
  token: string
}

interface StoredLogins {
  /** The address that commands use without `--url`. */
  current: string | null
  /** Tokens by address. */
  tokens: Record<string, string>
}

/** The source of a login, to tell people. */
export interface Connection {
  url: string
  /** Null for operations that need no token. */
  token: string | null
  source: string
  /** True if `npm start` of the service stored the login in the working folder. */
  isDevelopment: boolean
}

export interface ConnectionOptions {
  url?: string | undefined
  token?: string | undefined
}

const defaultPath = (): string =>
  join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'ecm', 'credentials.json')

/** Written by `npm start` of the service, beside its data. */
const developmentPath = (): string => join(process.cwd(), '.wrangler', 'ecm.json')

const normalize = (url: string): string => {
  try {
    const { origin, pathname, protocol } = new URL(url)
    if (protocol !== 'http:' && protocol !== 'https:') throw new TypeError('no web address')
    return origin + pathname.replace(/\/$/, '')
  } catch {
    throw new UsageError(`${url} is not an address such as https://api.example.com.`)
  }
}

export const isLoopback = (url: string): boolean => {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

/** Reads a file of tokens. Returns null if it is missing, and throws if other people can read it. */
async function readPrivateFile(path: string): Promise<unknown> {
  const info = await stat(path).catch(() => null)
  if (info === null) return null
  if (process.platform !== 'win32' && (info.mode & 0o077) !== 0)
    throw new UsageError(
      `Other people can read ${path}. Run \`chmod 600 ${path}\`, and sign in again if they may have.`,
    )
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown
  } catch {
    throw new UsageError(`${path} is damaged. Delete it and sign in again.`)
  }
}

async function readLogins(): Promise<StoredLogins> {
  const stored = (await readPrivateFile(defaultPath())) as Partial<StoredLogins> | null
  return { current: stored?.current ?? null, tokens: stored?.tokens ?? {} }
}

async function writeLogins(logins: StoredLogins): Promise<void> {
  const path = defaultPath()
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  await writeFile(draft, `${JSON.stringify(logins, null, 2)}\n`, { mode: 0o600 })
  await chmod(draft, 0o600)
  await rename(draft, path)
}

/** Stores the login for its owner alone, and returns the path of the file. */
export async function storeLogin({ url, token }: Login): Promise<string> {
  const { tokens } = await readLogins()
  await writeLogins({ current: normalize(url), tokens: { ...tokens, [normalize(url)]: token } })
  return defaultPath()
}

export async function forgetLogin(url: string): Promise<void> {
  const { current, tokens } = await readLogins()
  const { [normalize(url)]: _, ...others } = tokens
  await writeLogins({ current: current === normalize(url) ? null : current, tokens: others })
}

/** The login of the local server that runs in this folder. */
async function readDevelopmentLogin(): Promise<Login | null> {
  const stored = (await readPrivateFile(developmentPath())) as Partial<Login> | null
  if (typeof stored?.url !== 'string' || typeof stored.token !== 'string') return null
  // Whoever wrote the file could choose where the token goes.
  return isLoopback(normalize(stored.url)) ? { url: normalize(stored.url), token: stored.token } : null
}

const signInFirst = 'Run `ecm login --url https://…`, or set ECM_URL and ECM_TOKEN.'

/**
 * Finds the address and the token. A token from `--token` or `ECM_TOKEN` goes to `--url`, `ECM_URL` or the address of
 * the last login, and never to one that a file in the working folder names. A stored token goes to its own address.
 */
export async function findConnection(options: ConnectionOptions): Promise<Connection> {
  const explicitUrl = options.url ?? process.env['ECM_URL']
  const url = explicitUrl === undefined || explicitUrl === '' ? null : normalize(explicitUrl)
  const explicitToken = (options.token ?? process.env['ECM_TOKEN'])?.trim()
  const { current, tokens } = await readLogins()
  if (explicitToken) {
    const address = url ?? current
    if (address === null) throw new UsageError('Say with --url or ECM_URL where the token goes.')
    return {
      url: address,
      token: explicitToken,
      source: options.token === undefined ? 'ECM_TOKEN' : '--token',
      isDevelopment: false,
    }
  }
  const development = await readDevelopmentLogin()
  if (development && (url === null || url === development.url))
    return { ...development, source: 'the local server of this folder', isDevelopment: true }
  const address = url ?? current
  if (address === null) throw new UsageError(`You are not signed in. ${signInFirst}`)
  return { url: address, token: tokens[address] ?? null, source: 'your last login', isDevelopment: false }
}
