import type { Connection } from '../credentials.ts'
import { describeError } from '../errors.ts'
import { operationIds } from '../operations.ts'
import { version } from '../version.ts'
import { type Check, fault, type Finding, ok, runCheck, unknown, warning } from './check.ts'

const timeoutMs = 15_000
const maxClockErrorSeconds = 60

interface Fetched {
  status: number
  body: unknown
  headers: Headers
  /** The instant at which half of the wait was over. */
  at: number
  /** The greatest difference between the time of the answer and `at`. */
  errorMs: number
}

async function fetchJson(address: string): Promise<Fetched> {
  const begin = Date.now()
  const response = await fetch(address, {
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(timeoutMs),
  })
  const errorMs = (Date.now() - begin) / 2
  const body: unknown = await response.json().catch(() => null)
  return { status: response.status, body, headers: response.headers, at: begin + errorMs, errorMs }
}

const readText = (body: unknown, name: string): string | null => {
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : null
  return typeof value === 'string' ? value : null
}

const isLoopback = (url: string): boolean => /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(new URL(url).hostname)

function describeUnreachable({ url, isDevelopment }: Connection, error: unknown): Finding {
  const remedy = isDevelopment
    ? 'Run `npm start` in this folder.'
    : 'Check the address (--url, ECM_URL, or `ecm login --url …`) and your network.'
  return fault(`${url} cannot be reached. ${describeError(error)}`, remedy)
}

function checkHealth(connection: Connection, health: Fetched | Error): Finding {
  const { url, source } = connection
  if (health instanceof Error) return describeUnreachable(connection, health)
  const status = readText(health.body, 'status')
  if (status === null)
    return fault(`${url} answers, but is no Event Commerce Management Service.`, 'Check the address (--url, ECM_URL).')
  if (status === 'late')
    return warning(
      `${url} is reached, and its background work does not run.`,
      'Tell who runs the service: docs/operating.md says what to do about late sweeps.',
    )
  if (status !== 'ok')
    return fault(`${url} is reached, and its database is not.`, 'Wait some minutes, and tell who runs the service.')
  if (url.startsWith('http:') && !isLoopback(url))
    return warning(`${url} is reached (${source}), and everybody on the way can read your token.`, 'Use https://.')
  return ok(`${url} is reached (${source}).`)
}

/** Checks where links in mails and answers lead. */
async function checkLinks({ url }: Connection): Promise<Finding> {
  const { body } = await fetchJson(`${url}/`)
  const docs = readText(body, 'docs')
  if (docs === null || !URL.canParse(docs)) return unknown('The service does not say how its links begin.')
  const base = docs.replace(/\/docs$/, '')
  if (base === url) return ok(`Links begin with ${base}.`)
  const remedy = `If it is wrong, set PUBLIC_URL of the service to the address by which people reach it.`
  const health = await fetchJson(`${base}/healthz`).catch((error: unknown) => error as Error)
  if (health instanceof Error || readText(health.body, 'status') === null)
    return fault(`Links begin with ${base}, where the service does not answer.`, remedy)
  return ok(`Links begin with ${base}, where the service answers too.`)
}

/** Compares the operations of the service with those that this program knows. */
async function checkVersion({ url }: Connection): Promise<Finding> {
  const { body } = await fetchJson(`${url}/openapi.json`)
  const { info, paths } = (body ?? {}) as { info?: { version?: string }; paths?: object }
  if (paths === undefined) return unknown(`ecm ${version}. The service has no OpenAPI document.`)
  const methods: unknown[] = Object.values(paths).flatMap((path: object) => Object.values(path) as unknown[])
  const ids = new Set(methods.map((method) => readText(method, 'operationId')).filter((id) => id !== null))
  const missing = operationIds.filter((id) => !ids.has(id))
  const added = [...ids].filter((id) => !operationIds.includes(id))
  const versions = `ecm ${version}, API ${info?.version ?? 'without a version'}`
  if (missing.length > 0)
    return warning(
      `${versions}. The service lacks ${missing.length} operations of ecm, such as ${missing[0]}.`,
      'Install the ecm of the version of the service, or update the service.',
    )
  if (added.length > 0)
    return warning(
      `${versions}. The service has ${added.length} operations that ecm does not know, such as ${added[0]}.`,
      'Run `npm install @event-commerce/client@latest`.',
    )
  return ok(`${versions}, with the same ${ids.size} operations.`)
}

function checkClock({ headers, at, errorMs }: Fetched): Finding {
  const date = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(date)) return unknown('The service does not send its time.')
  // The header has whole seconds.
  const difference = Math.round((at - date - 500) / 1000)
  const direction = difference > 0 ? 'ahead of' : 'behind'
  const text = `Your clock is ${Math.abs(difference)} seconds ${direction} the clock of the service.`
  if (Math.abs(difference) - errorMs / 1000 <= maxClockErrorSeconds) return ok(text)
  return fault(text, 'Let your system set its clock by the network. Signatures of webhooks need the right time.')
}

function checkProvider(body: unknown, channel: 'email' | 'sms', setting: string): Finding {
  const state = readText(body, channel)
  const name = channel === 'email' ? 'e-mails' : 'SMS'
  if (state === 'configured') return ok(`A provider sends ${name}.`)
  if (state === 'captured') return ok(`Development: ${name} are stored at /dev/outbox, and not sent.`)
  if (state === null) return unknown(`The service does not say whether it can send ${name}.`)
  const detail = `The service has no provider for ${name}.`
  const remedy = `Set ${setting} of the service and the key of the provider.`
  return channel === 'email' ? fault(detail, remedy) : warning(detail, remedy)
}

/** Checks what everybody can see: the address, links, versions, the clock and the providers. */
export async function checkService(connection: Connection): Promise<{ isReachable: boolean; checks: Check[] }> {
  const health = await fetchJson(`${connection.url}/healthz`).catch((error: unknown) => error as Error)
  const address = await runCheck('address', () => Promise.resolve(checkHealth(connection, health)))
  if (health instanceof Error || address.some(({ status }) => status === 'fault'))
    return { isReachable: false, checks: address }
  const checks = await Promise.all([
    runCheck('version', () => checkVersion(connection)),
    runCheck('links', () => checkLinks(connection)),
    runCheck('clock', () => Promise.resolve(checkClock(health))),
    runCheck('e-mail', () => Promise.resolve(checkProvider(health.body, 'email', 'EMAIL_PROVIDER'))),
    runCheck('sms', () => Promise.resolve(checkProvider(health.body, 'sms', 'SMS_PROVIDER'))),
  ])
  return { isReachable: true, checks: [...address, ...checks.flat()] }
}
