import { env } from 'cloudflare:workers'
import type { JobCtx, QueueName } from '../../../src/context.ts'
import { openJob } from '../../../src/entry/job.ts'
import { handleBatch } from '../../../src/entry/queue.ts'
import { scheduled } from '../../../src/entry/scheduled.ts'
import type { WebhookPost } from '../../../src/gateways/webhook-post/webhook-post.ts'
import type { Bindings } from '../../../src/http/env.ts'
import { callWith, type Reply, type Request } from '../api.ts'
import { Provider } from '../campaign-engine.ts'
import { noUnits, type Units } from './prices.ts'

/** The number of messages in a batch, as in wrangler.toml. */
const batchSize = 20

const queueBindings = {
  webhooks: 'WEBHOOKS',
  segments: 'SEGMENTS',
  emails: 'EMAILS',
  refunds: 'REFUNDS',
  campaigns: 'CAMPAIGNS',
  'campaign-events': 'CAMPAIGN_EVENTS',
  imports: 'IMPORTS',
} as const satisfies Record<QueueName, keyof Bindings>

function countedDatabase(units: Units): D1Database {
  const originals = new WeakMap<object, D1PreparedStatement>()
  const count = <R extends { meta: D1Meta }>(result: R): R => {
    units.rows_read += result.meta.rows_read
    units.rows_written += result.meta.rows_written
    return result
  }
  const bound = (statement: D1PreparedStatement): D1PreparedStatement => {
    const counted = {
      bind: (...values: unknown[]) => bound(statement.bind(...values)),
      all: async () => count(await statement.all()),
    } as unknown as D1PreparedStatement
    originals.set(counted, statement)
    return counted
  }
  const over = (session: D1DatabaseSession) => ({
    prepare: (text: string) => bound(session.prepare(text)),
    batch: async (statements: D1PreparedStatement[]) =>
      (await session.batch(statements.map((statement) => originals.get(statement) ?? statement))).map(count),
    getBookmark: () => session.getBookmark(),
  })
  return { withSession: (constraint?: string) => over(env.DB.withSession(constraint)) } as unknown as D1Database
}

const receivers: WebhookPost = {
  post: async () => ({ status: 200, error: null, retryAfter: null, text: '', durationMs: 5, isDelayed: false }),
}

/** Deletions are free of charge. */
function countedBucket(units: Units): R2Bucket {
  const kinds: Record<string, 'bucket_writes' | 'bucket_reads'> = {
    put: 'bucket_writes',
    list: 'bucket_writes',
    createMultipartUpload: 'bucket_writes',
    get: 'bucket_reads',
    head: 'bucket_reads',
  }
  return new Proxy(env.FILES, {
    get(bucket, name) {
      const method: unknown = Reflect.get(bucket, name)
      if (typeof method !== 'function') return method
      const kind = kinds[String(name)]
      return (...args: unknown[]): unknown => {
        if (kind) units[kind]++
        return Reflect.apply(method, bucket, args)
      }
    },
  })
}

/**
 * Runs the Worker with bindings that count what the platform bills. Messages of queues wait here until the test takes
 * them. Receivers of webhooks answer 200, and the e-mail provider accepts everything.
 */
export function runBilledWorker() {
  const units = noUnits()
  const waiting: { queue: QueueName; body: unknown }[] = []
  const producer = (queue: QueueName) => ({
    sendBatch: async (messages: readonly { body: unknown }[]) => {
      waiting.push(...messages.map(({ body }) => ({ queue, body })))
      units.queue_operations += 3 * messages.length
    },
  })
  const queues = Object.entries(queueBindings).map(([queue, name]) => [name, producer(queue as QueueName)])
  const bindings = {
    ...env,
    DB: countedDatabase(units),
    FILES: countedBucket(units),
    ...Object.fromEntries(queues),
  } as Bindings

  async function takeSome(): Promise<void> {
    const queue = waiting[0]?.queue
    const batch = waiting.filter((message) => message.queue === queue).slice(0, batchSize)
    for (const message of batch) waiting.splice(waiting.indexOf(message), 1)
    units.invocations++
    const job: JobCtx = { ...openJob(bindings), webhookPost: receivers, email: new Provider(true).gateway }
    const messages = batch.map(({ body }, index) => ({
      id: String(index),
      timestamp: new Date(),
      attempts: 1,
      body,
      ack: () => undefined,
      retry: () => {
        throw new Error(`A message of ${queue} failed.`)
      },
    }))
    await handleBatch(job, { queue, messages } as unknown as MessageBatch)
  }

  return {
    units,
    request: (path: string, request: Request = {}): Promise<Reply> => {
      units.invocations++
      return callWith(bindings, path, request)
    },
    minute: async (): Promise<void> => {
      units.invocations++
      await scheduled({ scheduledTime: Date.now() } as ScheduledController, bindings)
    },
    /** Processes all messages, and those that follow from them. */
    drain: async (): Promise<void> => {
      while (waiting.length > 0) await takeSome()
    },
    /** Measures the units of the work for each act. */
    bill: async (work: () => Promise<unknown>, count = 1): Promise<Units> => {
      const before = { ...units }
      await work()
      const spent = Object.entries(before).map(([name, value]) => [name, (units[name as keyof Units] - value) / count])
      return Object.fromEntries(spent) as Units
    },
  }
}
