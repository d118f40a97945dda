import { randomUUID } from 'node:crypto'
import type { Server } from '../../scripts/support/server.ts'

interface Place {
  organization_id: string
  edition_id: string
}

type Send = (method: string, path: string, body?: unknown) => Promise<void>

/** The requests of clients all day: each list is one client, which repeats them. */
const clients = (send: Send, { organization_id, edition_id }: Place): (() => Promise<void>)[] => [
  async () => {
    await send('GET', `/v1/orders?edition_id=${edition_id}&ordering=-created`)
    await send('GET', `/v1/purchases?edition_id=${edition_id}`)
    await send('GET', `/v1/user?edition_id=${edition_id}&search=a`)
    await send('GET', `/v1/editions?organization_id=${organization_id}`)
    await send('GET', `/v1/editions/${edition_id}/stats`)
  },
  async () => {
    await send('GET', `/v1/campaigns?edition_id=${edition_id}`)
    await send('GET', `/v1/segments?edition_id=${edition_id}`)
    await send('GET', `/v1/webhooks?edition_id=${edition_id}`)
    await send('GET', `/v1/email-messages?edition_id=${edition_id}`)
    await send('GET', `/v1/audit-log?organization_id=${organization_id}`)
  },
  async () => {
    const id = randomUUID()
    await send('POST', '/v1/data-imports/external-orders', {
      organization_id,
      edition_id,
      source: 'traffic',
      emit_webhooks: true,
      orders: [
        {
          external_id: id,
          currency: 'dkk',
          customer: { email: `${id}@example.com`, first_name: 'Ada' },
          items: [{ product: 'Day ticket', quantity: 2, unit_price: 100 }],
        },
      ],
    })
    await send('PATCH', `/v1/editions/${edition_id}`, { name: `Spring ${id.slice(0, 8)}` })
  },
  async () => {
    await send('POST', '/v1/segments', {
      organization_id,
      edition_id,
      name: `Buyers ${randomUUID()}`,
      communication_type: 'transactional',
      communication_channel: 'email',
      expression: 'stats.order_count >= 1',
    })
  },
]

export interface Traffic {
  /** The requests that failed, each with its answer. */
  failures: string[]
  /** Resolves once each client has begun and finished all its requests anew. */
  finishRound: () => Promise<void>
  /** The number of requests. */
  count: () => number
  stop: () => Promise<void>
}

/** Sends requests to a server until it is stopped. */
export function startTraffic({ url, rootToken }: Server, place: Place): Traffic {
  const failures: string[] = []
  let count = 0
  const end = new AbortController()
  const send: Send = async (method, path, body) => {
    count++
    try {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${rootToken}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      if (!response.ok) failures.push(`${method} ${path}: ${response.status} ${text}`)
    } catch (error) {
      failures.push(`${method} ${path}: ${String(error)}`)
    }
  }
  const rounds: number[] = []
  const loops = clients(send, place).map(async (work, at) => {
    for (rounds[at] = 0; !end.signal.aborted; rounds[at]++) await work()
  })
  return {
    failures,
    count: () => count,
    finishRound: async () => {
      const begun = [...rounds]
      // The round that was under way does not count.
      while (rounds.some((number, at) => number < (begun[at] ?? 0) + 2))
        await new Promise((resolve) => setTimeout(resolve, 20))
    },
    stop: async () => {
      end.abort()
      await Promise.all(loops)
    },
  }
}
