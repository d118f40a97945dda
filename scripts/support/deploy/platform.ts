import { wranglerProgram } from '../paths.ts'
import { startNode } from '../processes.ts'

/** An answer of the platform's API that is no success. */
export class PlatformError extends Error {
  readonly status: number
  readonly codes: readonly number[]

  constructor(message: string, status: number, codes: readonly number[] = []) {
    super(message)
    this.status = status
    this.codes = codes
  }
}

interface Envelope {
  success: boolean
  result: unknown
  errors?: { code: number; message: string }[]
  result_info?: {
    total_pages?: number
    total_count?: number
    per_page?: number
    cursor?: string
    is_truncated?: boolean
  } | null
}

export interface Platform {
  call: <Result>(method: string, path: string, body?: unknown) => Promise<Result>
  /** Returns null for what does not exist. */
  find: <Result>(path: string) => Promise<Result | null>
  /** Reads all pages of a list. */
  list: <Item>(path: string) => Promise<Item[]>
  /** Reads a list that has a cursor, page by page. */
  walk: <Item>(path: string) => AsyncGenerator<Item[]>
}

const standardBase = 'https://api.cloudflare.com/client/v4'
const timeoutMs = 60_000
const maxPages = 100

/** Creates a client of the platform's API. Nothing is repeated by itself, because the whole command can be repeated. */
export function createPlatform(headers: Readonly<Record<string, string>>, interruption?: AbortSignal): Platform {
  const base = (process.env['CLOUDFLARE_API_BASE_URL'] ?? standardBase).replace(/\/$/, '')

  async function request(method: string, path: string, body?: unknown): Promise<Envelope> {
    const callName = `${method} ${path.split('?', 1)[0]}`
    let response: Response
    try {
      response = await fetch(`${base}${path}`, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(interruption ? [interruption] : [])]),
      })
    } catch (cause) {
      const { message } = cause instanceof Error && cause.cause instanceof Error ? cause.cause : (cause as Error)
      throw new PlatformError(`${callName} got no answer: ${message}`, 0)
    }
    const text = await response.text().catch(() => '')
    const envelope = readEnvelope(text)
    if (response.ok && envelope?.success) return envelope
    const errors = envelope?.errors ?? []
    const reason = errors.map(({ code, message }) => `${message} [${code}]`).join(' ') || text.slice(0, 200)
    throw new PlatformError(
      `${callName} answered ${response.status}. ${reason}`.trim(),
      response.status,
      errors.map(({ code }) => code),
    )
  }

  return {
    call: async (method, path, body) => (await request(method, path, body)).result as never,
    find: async (path) => {
      try {
        return (await request('GET', path)).result as never
      } catch (error) {
        if (error instanceof PlatformError && error.status === 404) return null
        throw error
      }
    },
    walk: async function* (path) {
      for (let cursor = ''; ;) {
        const next =
          cursor === '' ? path : `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`
        const { result, result_info: info } = await request('GET', next)
        yield result as never
        if (!info?.is_truncated || !info.cursor) return
        cursor = info.cursor
      }
    },
    list: async (path) => {
      const items: unknown[] = []
      for (let page = 1; page <= maxPages; page++) {
        const { result, result_info: info } = await request(
          'GET',
          `${path}${path.includes('?') ? '&' : '?'}page=${page}`,
        )
        const rows = result as unknown[]
        items.push(...rows)
        const isLast =
          info?.total_pages === undefined ? items.length >= (info?.total_count ?? 0) : page >= info.total_pages
        if (rows.length === 0 || isLast) break
      }
      return items as never
    },
  }
}

const permissionAdvice =
  'The credentials may not do this in this account. A token needs the template "Edit Cloudflare Workers" with the permissions to edit D1 and Queues added, and CLOUDFLARE_ACCOUNT_ID has to be one of its accounts.'

/** Adds to a failure of the platform what stands now, and what to do. Other errors say it themselves. */
export function explainFailure(error: unknown, outcome: string): unknown {
  if (!(error instanceof PlatformError)) return error
  const advice = [401, 403].includes(error.status) ? `\n${permissionAdvice}` : ''
  return new Error(`${error.message}\n${outcome}${advice}`, { cause: error })
}

function readEnvelope(text: string): Envelope | null {
  try {
    return JSON.parse(text) as Envelope
  } catch {
    return null
  }
}

interface Credentials {
  type: 'api_token' | 'oauth' | 'api_key'
  token?: string
  key?: string
  email?: string
}

const signInAdvice =
  'Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN to a token made from the template "Edit Cloudflare Workers" with the permissions D1 and Queues added.'

/** Finds the credentials that Wrangler uses: those of the environment, or of `wrangler login`. */
export async function loadCredentials(): Promise<Record<string, string>> {
  const token = process.env['CLOUDFLARE_API_TOKEN']
  if (token) return { authorization: `Bearer ${token}` }
  const { code, output } = await startNode([wranglerProgram, 'auth', 'token', '--json'], {
    env: { WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true', NO_COLOR: '1' },
  }).ended
  const credentials = code === 0 ? readCredentials(output) : null
  if (!credentials) throw new Error(`Nobody is signed in to Cloudflare on this machine. ${signInAdvice}`)
  if (credentials.type === 'api_key')
    return { 'x-auth-key': credentials.key ?? '', 'x-auth-email': credentials.email ?? '' }
  return { authorization: `Bearer ${credentials.token}` }
}

/** Reads the credentials, which may follow warnings. */
function readCredentials(output: string): Credentials | null {
  try {
    return JSON.parse(output.slice(output.indexOf('{'))) as Credentials
  } catch {
    return null
  }
}

export interface Account {
  id: string
  name: string
}

/** Chooses the account of the installation. */
export async function chooseAccount(platform: Platform, configuredId: string | undefined): Promise<Account> {
  const id = process.env['CLOUDFLARE_ACCOUNT_ID'] || configuredId
  let accounts: Account[]
  try {
    accounts = await platform.list<Account>('/accounts?per_page=50')
  } catch (error) {
    if (!(error instanceof PlatformError) || ![400, 401, 403].includes(error.status)) throw error
    if (id && error.status === 403) return { id, name: id }
    throw new Error(`Cloudflare does not accept the credentials: ${error.message}\n${signInAdvice}`, { cause: error })
  }
  if (id) return accounts.find((account) => account.id === id) ?? { id, name: id }
  const [only] = accounts
  if (!only) throw new Error(`These credentials have no account. ${signInAdvice}`)
  if (accounts.length > 1)
    throw new Error(
      [
        'These credentials have several accounts. Set CLOUDFLARE_ACCOUNT_ID to one of them:',
        ...accounts.map(({ id: accountId, name }) => `  CLOUDFLARE_ACCOUNT_ID=${accountId}   ${name}`),
      ].join('\n'),
    )
  return only
}
