import { setTimeout as wait } from 'node:timers/promises'
import type { Client, Page } from './client.ts'
import type { Print, Tenant } from './demo-import.ts'
import { type ExternalOrder, ordersPerCall } from './external-order.ts'
import type { Post, Receiver } from './receiver.ts'

interface Endpoint {
  id: string
  secret: string
}

interface Delivery {
  id: string
  event_id: string
  status: string
  attempts: number
  response_status_code: number | null
  attempt_log: { number: number; status_code: number | null; duration_ms: number; next_retry_at: string | null }[]
}

const path = '/orders'
const patienceMs = 120_000

async function eventually<T>(ask: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await wait(200)) {
    const value = await ask()
    if (holds(value)) return value
  }
  throw new Error('The deliveries did not end in two minutes.')
}

const isOpen = ({ status }: Delivery) => status === 'pending' || status === 'retrying'

function describePost(post: Post): string[] {
  const { type, data } = JSON.parse(post.body) as { type: string; data: { action: string; purchase: { id: string } } }
  return [
    `webhook-id         ${post.id}`,
    `webhook-timestamp  ${String(post.headers['webhook-timestamp'])}`,
    `webhook-signature  ${String(post.headers['webhook-signature'])}`,
    `which says         ${type}: ${data.action} ${data.purchase.id}`,
    post.verified.length > 0 ? 'standardwebhooks says: the signature is right' : 'THE SIGNATURE IS WRONG',
  ]
}

/** Imports orders whose events go to a receiver that sometimes fails, and shows the retries and the recovery. */
export async function followWebhooks(
  { admin, receiver, tenant }: { admin: Client; receiver: Receiver; tenant: Tenant },
  orders: readonly ExternalOrder[],
  print: Print,
): Promise<void> {
  const endpoint = await admin.post<Endpoint>('/v1/webhooks', {
    ...tenant,
    name: 'Warehouse',
    url: receiver.url(path),
    events: ['purchase.action'],
  })
  receiver.trust(path, endpoint.secret)
  print(`endpoint ${endpoint.id} at ${receiver.url(path)}, its secret shared with the receiver`)

  const deliveries = `/v1/webhooks/${endpoint.id}/deliveries`
  const detail = (id: string) => admin.get<Delivery>(`${deliveries}/${id}`)
  const sendTest = async () => {
    const sent = await admin.post<Delivery>(`/v1/webhooks/${endpoint.id}/test`, { event: 'purchase.action' })
    return eventually(
      () => detail(sent.id),
      (delivery) => !isOpen(delivery),
    )
  }

  const started = performance.now()
  const body = { ...tenant, source: 'demo-webhooks', emit_webhooks: true, orders: orders.slice(0, ordersPerCall) }
  const { results } = await admin.post<{ results: { action: string }[] }>('/v1/data-imports/external-orders', body)
  const made = results.filter(({ action }) => action === 'created').length
  const count = async () => (await admin.get<Page<Delivery>>(`${deliveries}?page_size=1`)).count
  const won = async () => (await admin.get<Page<Delivery>>(`${deliveries}?page_size=1&status=success`)).count
  const all = await count()
  await eventually(won, (number) => number === all)
  const posts = receiver.posts(path)
  const right = posts.filter(({ verified }) => verified.length > 0).length
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  print(
    `${made} orders came in with emit_webhooks: ${all} deliveries, all there after ${seconds} s`,
    `the receiver has ${posts.length} posts, ${new Set(posts.map(({ id }) => id)).size} different events, ${right} with a right signature`,
  )
  const [first] = posts
  if (!first || right < posts.length) throw new Error('The receiver did not get what was announced.')
  print('one of them:', ...describePost(first).map((line) => `  ${line}`))

  receiver.respondWith(path, (_, nth) => (nth < 3 ? 500 : 200))
  const retried = await sendTest()
  print(
    `the receiver fails twice: the delivery ends as ${retried.status} after ${retried.attempts} attempts`,
    ...formatLog(retried),
  )

  receiver.respondWith(path, 503)
  const since = new Date().toISOString()
  const lost = await sendTest()
  print(`the receiver is down: the delivery is ${lost.status} after ${lost.attempts} attempts`, ...formatLog(lost))
  receiver.respondWith(path, 200)
  const { recovered } = await admin.post<{ recovered: number }>(`/v1/webhooks/${endpoint.id}/recover`, { since })
  const back = await eventually(
    () => detail(lost.id),
    ({ status }) => status === 'success',
  )
  const seen = receiver.counts(path).get(back.event_id)
  print(
    `it is up again: ${recovered} recovered, its delivery ends as ${back.status}; the receiver saw its webhook-id ${seen} times`,
  )
}

const formatLog = ({ attempt_log }: Delivery): string[] =>
  attempt_log.map(
    ({ number, status_code, duration_ms, next_retry_at }) =>
      `  attempt ${number}: ${status_code ?? 'no answer'} in ${duration_ms} ms${next_retry_at ? `, next at ${next_retry_at.slice(11, 23)}` : ''}`,
  )
