import { env } from 'cloudflare:workers'
import { eq, getTableColumns } from 'drizzle-orm'
import type { JobCtx } from '../../src/context.ts'
import { Database } from '../../src/db/database.ts'
import { transactionalEmails } from '../../src/db/schema/transactional-emails.ts'
import { select } from '../../src/db/select.ts'
import { type IdKind, newId } from '../../src/domain/ids.ts'
import { createFailure, type SendResult } from '../../src/domain/messaging/messaging.ts'
import { newMeter } from '../../src/domain/meter.ts'
import type { EmailGateway, OutboundEmail } from '../../src/gateways/email/email.ts'
import { sendEmails } from '../../src/modules/transactional-emails/jobs.ts'
import type { Reply } from './api.ts'
import { createContextAt } from './context.ts'
import { db } from './seeding/rows.ts'
import { type Shop, importOrders } from './seeding/sales/orders.ts'

export type EmailRow = typeof transactionalEmails.$inferSelect

export const selectEmails = () => select(getTableColumns(transactionalEmails)).from(transactionalEmails)

/** Imports orders whose customers get receipts. */
export const sell = (shop: Shop, orders: object[], more: Record<string, unknown> = {}): Promise<Reply> =>
  importOrders(shop, orders, { send_receipts: true, ...more })

export const listReceipts = (shop: Shop): Promise<EmailRow[]> =>
  db.all(selectEmails().where(eq(transactionalEmails.edition_id, shop.edition_id)).orderBy(transactionalEmails.id))

/** The provider's reaction to one call. Some of them accept before they fail. */
export type Conduct = 'accept' | 'accept and lose the answer' | 'accept and die' | 'die' | SendResult

/** A provider in memory. With keys it accepts the same call once, and without them each time. */
export function createProvider(options: { deduplicates: boolean; name?: string }) {
  const calls: { key: string; email: OutboundEmail }[] = []
  const accepted = new Map<string, number>()
  const byKey = new Map<string, { content: string; id: string }>()
  let script: Conduct[] = []
  const accept = (email: OutboundEmail, key: string): string | null => {
    const content = JSON.stringify(email)
    const earlierResult = options.deduplicates ? byKey.get(key) : undefined
    if (earlierResult) return earlierResult.content === content ? earlierResult.id : null
    const id = `id-${byKey.size + 1}-${key}`
    byKey.set(key, { content, id })
    accepted.set(email.to.address, (accepted.get(email.to.address) ?? 0) + 1)
    return id
  }
  const gateway: EmailGateway = {
    name: options.name ?? 'memory',
    batch: 100,
    limits: { messagesPerCall: 100, callsPerSecond: null },
    deduplicates: options.deduplicates,
    bulk: true,
    reportsDelivery: false,
    send: async ([email], key) => {
      if (!email) return []
      calls.push({ key, email })
      const conduct = script.shift() ?? 'accept'
      if (typeof conduct === 'object') return [conduct]
      if (conduct === 'die') throw new Error('the consumer dies')
      const id = accept(email, key)
      if (conduct === 'accept and die') throw new Error('the consumer dies')
      if (conduct === 'accept and lose the answer') return [createFailure('unknown', 'timeout', '')]
      return [id === null ? createFailure('unknown', 'invalid_idempotent_request', '') : { ok: true, providerId: id }]
    },
  }
  return {
    gateway,
    calls,
    accepted,
    play: (next: readonly Conduct[]) => {
      script = [...next]
    },
  }
}

/**
 * Runs the engine on the real database, with a clock and a provider of the test, and with crashes at chosen round
 * trips.
 */
export function createReceiptEngine(provider: EmailGateway, now = Date.now()) {
  const state = { now }
  const enqueued: number[] = []
  /** The number of round trips to the database before the consumer crashes. */
  let life = Number.POSITIVE_INFINITY
  class Mortal extends Database {
    override async all<Row>(statement: Parameters<Database['all']>[0]): Promise<Row[]> {
      if (--life < 0) throw new Error('the consumer dies')
      return super.all(statement) as Promise<Row[]>
    }
    override async batch<const S extends Parameters<Database['batch']>[0]>(statements: S) {
      if (--life < 0) throw new Error('the consumer dies')
      return super.batch(statements)
    }
  }
  const job: JobCtx = {
    ...createContextAt(now),
    db: new Mortal(env.DB, newMeter()),
    now: () => state.now,
    newId: (kind: IdKind) => newId(kind, state.now, Math.random),
    email: provider,
    jobQueue: {
      enqueue: async (_, __, delay = 0) => {
        enqueued.push(delay)
      },
    },
  }
  return {
    job,
    enqueued,
    advance: (ms: number) => (state.now += ms),
    /** Like `run`, at the time of the API or later, so that everything requested until now is due. */
    runNow: () => {
      state.now = Math.max(state.now, Date.now())
      return sendEmails(job)
    },
    run: () => sendEmails(job),
    /** Like `run`, with a crash after this many round trips. */
    runUntilCrash: async (trips = Number.POSITIVE_INFINITY) => {
      life = trips
      await sendEmails(job).catch(() => undefined)
      life = Number.POSITIVE_INFINITY
    },
  }
}
