import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Client, createClient, type Page } from '../../scripts/support/client.ts'
import { createPlace } from '../../scripts/support/place.ts'
import { type Receiver, startReceiver } from '../../scripts/support/receiver.ts'
import { everyMinute, type Server, startServer } from '../../scripts/support/server.ts'

export interface Endpoint {
  id: string
  path: string
  secret: string
  is_active: boolean
  disabled_reason: string | null
}

export interface Delivery {
  id: string
  event_id: string
  status: string
  attempts: number
  response_status_code: number | null
  payload: string
  signature: string
  attempt_log: { number: number; error: string | null; next_reason: string | null; duration_ms: number }[]
}

export interface Place {
  client: Client
  /** The address and the token of the superuser, as the command line reads them. */
  login: { ECM_URL: string; ECM_TOKEN: string }
  receiver: Receiver
  organization_id: string
  edition_id: string
  /** Kills every process of the server at once, as a power cut would, and starts another one on the same state. */
  crash: () => Promise<void>
  sweep: () => Promise<unknown>
  close: () => Promise<void>
}

/** Lists the descendants of our process that have the folder among their arguments. */
export function listProcesses(folder: string): number[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,args=', '-ww'], { encoding: 'utf8' })
    .split('\n')
    .flatMap((row) => {
      const [, pid, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(row) ?? []
      return pid ? [{ pid: Number(pid), parent: Number(parent), args }] : []
    })
  const pids = new Set(rows.filter(({ args }) => args.includes(folder)).map(({ pid }) => pid))
  for (let size = -1; size !== pids.size;) {
    size = pids.size
    for (const { pid, parent } of rows) if (pids.has(parent)) pids.add(pid)
  }
  return [...pids]
}

/** Starts the service as `npm start` does, with its own state, a receiver and an edition. */
export async function openPlace(): Promise<Place> {
  const stateDir = await mkdtemp(join(tmpdir(), 'slow-webhooks-'))
  const env = { RATE_LIMIT_PER_MINUTE: '0', ALLOW_INSECURE_WEBHOOKS: '1', WEBHOOK_RETRY_SCHEDULE: '1,1,1' }
  const start = () => startServer({ port: 0, stateDir, env })
  let server: Server = await start()
  const receiver = await startReceiver()
  const client = (): Client => createClient(server.url, server.rootToken)
  const { organization_id, edition_id } = await createPlace(client(), 'Slow')
  return {
    get client() {
      return client()
    },
    get login() {
      return { ECM_URL: server.url, ECM_TOKEN: server.rootToken }
    },
    receiver,
    organization_id,
    edition_id,
    crash: async () => {
      for (const pid of listProcesses(stateDir)) process.kill(pid, 'SIGKILL')
      await server.ended
      server = await start()
    },
    sweep: () => fetch(server.url + everyMinute).then((answer) => answer.text()),
    close: async () => {
      await server.stop()
      await receiver.stop()
      await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

let importedCount = 0

export async function givenEndpoint(place: Place, fields: Record<string, unknown> = {}): Promise<Endpoint> {
  const path = `/hook/${++importedCount}`
  const { organization_id, receiver, client } = place
  const endpoint = await client.post<Endpoint>('/v1/webhooks', {
    organization_id,
    name: `Hook ${importedCount}`,
    url: receiver.url(path),
    events: ['purchase.action'],
    ...fields,
  })
  receiver.trust(path, endpoint.secret)
  return { ...endpoint, path }
}

/** Sends one event only to this endpoint. */
export const send = (place: Place, endpoint: Endpoint): Promise<Delivery> =>
  place.client.post<Delivery>(`/v1/webhooks/${endpoint.id}/test`, { event: 'purchase.action' })

export const loadEndpoint = (place: Place, endpoint: Endpoint): Promise<Endpoint> =>
  place.client.get<Endpoint>(`/v1/webhooks/${endpoint.id}`)

export const loadDelivery = (place: Place, endpoint: Endpoint, delivery: Delivery): Promise<Delivery> =>
  place.client.get<Delivery>(`/v1/webhooks/${endpoint.id}/deliveries/${delivery.id}`)

export const hasEnded = ({ status }: Pick<Delivery, 'status'>): boolean => !['pending', 'retrying'].includes(status)

/** Waits until the condition holds. The sweep sometimes replaces lost messages of the local queues. */
export async function until<T>(
  place: Place,
  ask: () => Promise<T>,
  holds: (value: T) => boolean,
  seconds = 60,
): Promise<T> {
  const deadline = Date.now() + seconds * 1000
  for (let turn = 1; ; turn++) {
    const value = await ask()
    if (holds(value)) return value
    if (Date.now() > deadline) throw new Error(`It did not come true in ${seconds} s: ${JSON.stringify(value)}`)
    if (turn % 20 === 0) await place.sweep()
    await wait(250)
  }
}

export const waitForEnd = (place: Place, endpoint: Endpoint, delivery: Delivery, seconds = 60): Promise<Delivery> =>
  until(place, () => loadDelivery(place, endpoint, delivery), hasEnded, seconds)

export async function listAllDeliveries(place: Place, endpoint: Endpoint): Promise<Delivery[]> {
  const listedDeliveries: Delivery[] = []
  let next: string | null = `/v1/webhooks/${endpoint.id}/deliveries?page_size=500`
  while (next) {
    const page: Page<Delivery> = await place.client.get<Page<Delivery>>(next)
    listedDeliveries.push(...page.results)
    next = page.next
  }
  return listedDeliveries
}

/** Imports this many purchases, each an event for every subscribed endpoint. */
export async function sell(place: Place, count: number, prefix: string): Promise<void> {
  const { organization_id, edition_id, client } = place
  for (let start = 0; start < count; start += 100) {
    const orders = Array.from({ length: Math.min(100, count - start) }, (_, at) => ({
      external_id: `${prefix}-${start + at}`,
      currency: 'dkk',
      customer: { email: `guest-${prefix}-${start + at}@example.com` },
      items: [{ product: 'Day ticket', quantity: 1, unit_price: 225 }],
    }))
    const body = { organization_id, edition_id, source: 'slow', emit_webhooks: true, orders }
    await client.post('/v1/data-imports/external-orders', body)
  }
}
