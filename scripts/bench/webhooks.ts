import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from '../support/client.ts'
import type { Receiver } from '../support/receiver.ts'
import { showLate, watchDeliveries } from './delays/late-deliveries.ts'
import { quantile } from './load.ts'
import type { Meter } from '../../src/domain/meter.ts'

/** Organisations with an endpoint each for every URL. */
export interface Crowd {
  name: string
  organization_ids: string[]
  /** Of the endpoints that answer. */
  paths: string[]
  /** Of those that hang, now or later. */
  hanging: string[]
}

export interface Rate {
  deliveries: number
  per_second: number
}

export interface Delay {
  deliveries: number
  p50_ms: number
  p99_ms: number
}

/** The cost of announcing and delivering at the database since the Worker began. */
export const costsNow = (client: Client): Promise<Meter> => client.get<Meter>('/floor/webhooks/costs')

interface Announced {
  ids: string[]
  committed_at: number
}

const isOpen = async (client: Client, { organization_ids }: Crowd): Promise<boolean> =>
  (await client.post<{ open: boolean }>('/floor/webhooks/open', { organization_ids })).open

const giveUpAfterMs = 120_000

/** Asks seldom: each question takes the time of the very thread that delivers. */
const askEveryMs = 100

export async function settled(client: Client, crowd: Crowd): Promise<void> {
  for (const deadline = Date.now() + giveUpAfterMs; await isOpen(client, crowd); await wait(askEveryMs))
    if (Date.now() > deadline) throw new Error(`Deliveries of ${crowd.name} did not end in two minutes.`)
}

/** Endpoints in groups: every organisation has `healthy` that answer and `hanging` that stop answering once `hang` is called. */
export async function gather(
  client: Client,
  receiver: Receiver,
  name: string,
  options: { organizations: number; healthy: number; hanging: number; timeout_seconds: number },
): Promise<Crowd> {
  const crowd: Crowd = { name, organization_ids: [], paths: [], hanging: [] }
  for (let at = 0; at < options.organizations; at++) {
    const { id } = await client.post<{ id: string }>('/v1/organizations', { name: `Bench ${name} ${at}` })
    const pathsOf = (kind: string, count: number) =>
      Array.from({ length: count }, (_, number) => `/${name}/${kind}/${at}-${number}`)
    const [healthy, hanging] = [pathsOf('well', options.healthy), pathsOf('hang', options.hanging)]
    crowd.organization_ids.push(id)
    crowd.paths.push(...healthy)
    crowd.hanging.push(...hanging)
    const urls = [...healthy, ...hanging].map(receiver.url)
    await client.post('/floor/webhooks/endpoints', {
      organization_id: id,
      urls,
      timeout_seconds: options.timeout_seconds,
    })
  }
  return crowd
}

/** From now on the hanging endpoints of the crowd take requests and never answer. */
export const hang = (receiver: Receiver, crowd: Crowd): void =>
  crowd.hanging.forEach((path) => receiver.respondWith(path, 'hang'))

/** Switches the crowd's endpoints off, so that what comes next is measured without them. */
export const dismiss = (client: Client, { organization_ids }: Crowd): Promise<unknown> =>
  client.post('/floor/webhooks/dismiss', { organization_ids })

const announce = (client: Client, organization_id: string, count: number): Promise<Announced> =>
  client.post<Announced>('/floor/webhooks/announce', { organization_id, count })

/** Announces all at once and takes the time until the last delivery is recorded. */
export async function flood(client: Client, crowd: Crowd, events: number): Promise<Rate> {
  const announced = await Promise.all(crowd.organization_ids.map((id) => announce(client, id, events)))
  await settled(client, crowd)
  const seconds = (Date.now() - Math.min(...announced.map(({ committed_at }) => committed_at))) / 1000
  const deliveries = events * crowd.paths.length
  return { deliveries, per_second: deliveries / seconds }
}

/** Announces one event after the other at a steady pace, in turns among the organisations, and takes each one's delay. */
export async function stroll(
  client: Client,
  receiver: Receiver,
  crowd: Crowd,
  options: { everyMs: number; events: number; isTraced: boolean },
): Promise<Delay> {
  const watching = options.isTraced ? watchDeliveries(client, options.events * options.everyMs + 1000) : null
  const committed = new Map<string, number>()
  const calls: Promise<void>[] = []
  const started = performance.now()
  for (let at = 0; at < options.events; at++) {
    await wait(Math.max(0, started + at * options.everyMs - performance.now()))
    const id = crowd.organization_ids[at % crowd.organization_ids.length] ?? ''
    const note = ({ ids, committed_at }: Announced) => ids.forEach((event) => committed.set(event, committed_at))
    calls.push(announce(client, id, 1).then(note))
  }
  await Promise.all(calls)
  await settled(client, crowd)
  const posts = crowd.paths.flatMap((path) =>
    receiver.posts(path).flatMap(({ id, at }) => {
      const committedAt = committed.get(id)
      return committedAt === undefined ? [] : [{ event: id, url: receiver.url(path), committedAt, firstByteAt: at }]
    }),
  )
  if (watching) showLate(await watching, posts)
  const sorted = posts.map(({ committedAt, firstByteAt }) => firstByteAt - committedAt).toSorted((a, b) => a - b)
  return { deliveries: sorted.length, p50_ms: quantile(sorted, 0.5), p99_ms: quantile(sorted, 0.99) }
}

/** The same number of posts by a bare loop of `fetch` in the same Worker. */
export async function floor(
  client: Client,
  receiver: Receiver,
  crowd: Crowd,
  options: { count: number; concurrency: number },
): Promise<Rate> {
  const urls = crowd.paths.map((path) => receiver.url(`/floor${path}`))
  const { ms } = await client.post<{ ms: number }>('/floor/webhooks/fetch', { urls, ...options })
  return { deliveries: options.count, per_second: (options.count * 1000) / ms }
}
