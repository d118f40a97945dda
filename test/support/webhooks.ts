import { env } from 'cloudflare:workers'
import { type SQL, sql } from 'drizzle-orm'
import type { DeliverMessage, JobCtx } from '../../src/context.ts'
import { Database } from '../../src/db/database.ts'
import { type IdKind, newId } from '../../src/domain/ids.ts'
import { newMeter } from '../../src/domain/meter.ts'
import type { DeliveryClaim } from '../../src/domain/webhooks/webhook-sender.ts'
import { standardSchedule } from '../../src/domain/webhooks/webhooks.ts'
import type { PostResult } from '../../src/gateways/webhook-post/webhook-post.ts'
import { attemptColumns } from '../../src/modules/webhooks/delivery/record.ts'
import { announce, deliverClaims } from '../../src/modules/webhooks/index.ts'
import { deliverDue } from '../../src/modules/webhooks/jobs.ts'
import { createCapture, createContextAt, testConfig } from './context.ts'
import { db } from './seeding/rows.ts'
import type { EndpointRow } from './seeding/webhooks.ts'

interface SentPost {
  url: string
  headers: Record<string, string>
  body: string
  timeoutMs: number
}

/** The receiver's answer: the status, or what went wrong. */
export type Behaviour = (sent: SentPost, count: number) => Partial<PostResult> | Promise<Partial<PostResult>>

export const answers = (status: number, more: Partial<PostResult> = {}): Partial<PostResult> => ({
  status,
  error: status >= 200 && status < 300 ? null : status >= 300 && status < 400 ? 'redirect' : 'http_error',
  ...more,
})

export const timesOut: Partial<PostResult> = { status: null, error: 'timeout', durationMs: 15_000 }

/** Runs the delivery engine on the real database, with a clock, a job queue and receivers of the test. */
export function engine(behaviour: Behaviour, options: { schedule?: readonly number[]; now?: number } = {}) {
  const state = { now: options.now ?? Date.now() }
  const sent: SentPost[] = []
  const enqueued: { endpoint_id: string; delay: number }[] = []
  /** The work that each object was given. */
  const objects: (readonly DeliveryClaim[])[] = []
  const works: Promise<void>[] = []
  const parts = {
    db: new Database(env.DB, newMeter()),
    now: () => state.now,
    newId: (kind: IdKind) => newId(kind, state.now, Math.random),
  }
  const job: JobCtx = {
    ...parts,
    ...createCapture(parts),
    config: {
      ...testConfig,
      webhooks: { ...testConfig.webhooks, schedule: options.schedule ?? standardSchedule },
    },
    senders: {
      get: () => {
        throw new Error('webhooks have no campaigns')
      },
    },
    webhookSenders: {
      create: () => ({
        deliver: async (claims) => {
          objects.push(claims)
          const work = deliverClaims(job, claims)
          work.catch(() => undefined)
          works.push(work)
        },
      }),
    },
    jobQueue: {
      enqueue: async (_, messages, delay = 0) => {
        enqueued.push(...(messages as readonly DeliverMessage[]).map(({ endpoint_id }) => ({ endpoint_id, delay })))
      },
    },
    alertPost: { post: () => Promise.reject(new Error('webhooks are no alarms')) },
    webhookPost: {
      post: async (request) => {
        sent.push(request)
        return {
          status: null,
          error: 'network_error',
          retryAfter: null,
          text: null,
          durationMs: 5,
          isDelayed: false,
          ...(await behaviour(request, sent.length)),
        }
      },
    },
  }
  /** Resolves when the consumer takes its next messages; `rest` resolves when its objects have ended. */
  const start = async (endpointIds: string[]): Promise<{ rest: () => Promise<void> }> => {
    await deliverDue(job, endpointIds)
    const begun = works.splice(0)
    return { rest: async () => void (await Promise.all(begun)) }
  }
  /** Runs a consumer and its objects until nothing is due. */
  const run = async (endpointIds: string[]): Promise<void> => {
    const { rest } = await start(endpointIds)
    await rest()
  }
  return {
    job,
    sent,
    enqueued,
    advance: (ms: number) => (state.now += ms),
    objects,
    start,
    run,
    /** Like `run`, with objects that may crash. */
    runUntilCrash: (endpointIds: string[]) => run(endpointIds).catch(() => undefined),
  }
}

const firstRow = async <Row>(statement: SQL<Row>): Promise<Row> => {
  const row = await db.first(statement)
  if (!row) throw new Error('no such row')
  return row
}

export const loadEndpoint = (id: string): Promise<EndpointRow> =>
  firstRow(sql<EndpointRow>`select * from webhook_endpoints where id = ${id}`)

export interface Delivery {
  id: string
  endpoint_id: string
  event_id: string
  status: string
  attempts: number
  step: number
  manual: string | null
  response_status_code: number | null
  signature: string | null
  signed_at: number | null
  next_retry_at: number | null
  claimed_until: number | null
  payload: string
}

export const loadDeliveries = (endpointId: string): Promise<Delivery[]> =>
  db.all(sql<Delivery>`select webhook_deliveries.*, payload from webhook_deliveries
    join webhook_events on webhook_events.id = event_id where endpoint_id = ${endpointId}
    order by webhook_deliveries.created_at, webhook_deliveries.id`)

export interface AttemptRow {
  number: number
  status_code: number | null
  error: string | null
  response_text: string | null
  next_retry_at: number | null
  next_reason: string | null
  is_manual: number
}

/** Lists all attempts. The row of a delivery has its last one. */
export const allAttempts = sql`(select delivery_id, ${sql.raw(attemptColumns.join(', '))} from webhook_attempts
  union all select id, ${sql.raw(attemptColumns.map((name) => `last_attempt ->> '${name}'`).join(', '))}
  from webhook_deliveries where last_attempt is not null)`

export const listAttempts = (deliveryId: string): Promise<AttemptRow[]> =>
  db.all(sql<AttemptRow>`select * from ${allAttempts} where delivery_id = ${deliveryId} order by number`)

const purchase = {
  action: 'activated' as const,
  purchase: {
    id: 'pur_1',
    vendor_code: null,
    status: 'active',
    product: { api_id: 'prd_1', name: 'Day ticket' },
    variant: null,
  },
  order: { id: 'ord_1', order_number: null },
  user: { api_id: 'usr_1', email: null },
  refund_request: null,
  occurred_at: '2026-06-01T08:00:00.000Z',
}

/** Announces this many purchases, and returns the ids of the events. */
export async function happen(
  place: { organization_id: string; edition_id?: string | null },
  count = 1,
  options: { now?: number } = {},
): Promise<void> {
  const ctx = createContextAt(options.now ?? Date.now())
  const statements = Array.from({ length: count }, () =>
    announce(ctx, {
      kind: 'purchase.action',
      organization_id: place.organization_id,
      edition_id: place.edition_id ?? null,
      data: purchase,
    }),
  )
  await db.batch(statements.flat())
}
