import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import type { Ctx, JobCtx } from '../../src/context.ts'
import { type Client, Database } from '../../src/db/database.ts'
import { parseReference } from '../../src/domain/campaigns/recipient-events.ts'
import type { CampaignSenderRpc } from '../../src/domain/campaigns/sender.ts'
import type { ChunkClaim, ClaimResult } from '../../src/domain/campaigns/sending-policy.ts'
import { type IdKind, newId } from '../../src/domain/ids.ts'
import type { SendResult } from '../../src/domain/messaging/messaging.ts'
import { newMeter } from '../../src/domain/meter.ts'
import type { EmailGateway, OutboundEmail } from '../../src/gateways/email/email.ts'
import { sendCampaigns } from '../../src/modules/campaigns/jobs.ts'
import { CampaignSenderObject } from '../../src/objects/campaign/campaign-sender.ts'
import { RecipientStore } from '../../src/objects/campaign/recipient-store.ts'
import type { ObjectStorage } from '../../src/objects/campaign/schema.ts'
import { createCapture, createContextAt, testConfig } from './context.ts'

/** The ways in which a call to the provider ends. */
export const conducts = [
  'ok',
  'some refused',
  'rate limited',
  'refused until later',
  'taken, and refused until later',
  'no answer',
  'taken, and no answer',
  'dies before',
  'dies after',
  'overtaken',
  'wrong key',
] as const
export type Conduct = (typeof conducts)[number]

class Dies extends Error {}

const failure = (kind: Exclude<SendResult, { ok: true }>['kind'], retryAfterMs: number | null = null): SendResult => ({
  ok: false,
  kind,
  code: `test_${kind}`,
  detail: 'as the test wants it',
  retryAfterMs,
})

/** A provider that counts the messages that each recipient really got. */
export class Provider {
  /** The most messages in one call. */
  batch = 10
  /** The number of times that each recipient, by number, was reached. */
  readonly reached = new Map<number, number>()
  readonly #keys = new Map<string, { digest: string; results: SendResult[] }>()
  script: Conduct[] = []
  calls = 0
  /** The number of messages and characters of each call. */
  readonly sizes: { messages: number; characters: number }[] = []
  /** Runs in the middle of a call that takes too long. */
  overtake: () => Promise<void> = async () => undefined
  readonly deduplicates: boolean

  constructor(deduplicates: boolean) {
    this.deduplicates = deduplicates
  }

  get gateway(): EmailGateway {
    return {
      name: 'test',
      batch: this.batch,
      limits: { messagesPerCall: this.batch, callsPerSecond: null },
      deduplicates: this.deduplicates,
      bulk: true,
      reportsDelivery: true,
      send: (messages, key) => this.#send(messages, key),
    }
  }

  #take(messages: readonly OutboundEmail[], key: string, refuses: boolean): SendResult[] {
    const digest = JSON.stringify(messages)
    const earlierCall = this.#keys.get(key)
    if (this.deduplicates && earlierCall)
      return earlierCall.digest === digest
        ? earlierCall.results
        : messages.map(() => ({ ...failure('unknown'), code: 'invalid_idempotent_request' }) as SendResult)
    const results = messages.map(({ reference }, index): SendResult => {
      if (refuses && index % 3 === 0) return failure('permanent')
      const n = parseReference(reference)?.n ?? -1
      this.reached.set(n, (this.reached.get(n) ?? 0) + 1)
      return { ok: true, providerId: `${key}-${index}` }
    })
    this.#keys.set(key, { digest, results })
    return results
  }

  async #send(messages: readonly OutboundEmail[], key: string): Promise<SendResult[]> {
    this.calls++
    const characters = messages.reduce((sum, { html, text }) => sum + html.length + text.length, 0)
    this.sizes.push({ messages: messages.length, characters })
    const conduct = this.script.shift() ?? 'ok'
    const repeatResult = (result: SendResult) => messages.map(() => result)
    switch (conduct) {
      case 'ok':
        return this.#take(messages, key, false)
      case 'some refused':
        return this.#take(messages, key, true)
      case 'rate limited':
        return repeatResult(failure('rate_limited', 30_000))
      case 'refused until later':
        return repeatResult(failure('transient'))
      case 'taken, and refused until later':
        // A 5xx counts as temporary only when the provider deduplicates.
        if (!this.deduplicates) return repeatResult(failure('transient'))
        this.#take(messages, key, false)
        return repeatResult(failure('transient'))
      case 'no answer':
        return repeatResult(failure('unknown'))
      case 'taken, and no answer':
        this.#take(messages, key, false)
        return repeatResult(failure('unknown'))
      case 'dies before':
        throw new Dies()
      case 'dies after':
        this.#take(messages, key, false)
        throw new Dies()
      case 'overtaken': {
        const results = this.#take(messages, key, false)
        await this.overtake()
        return results
      }
      case 'wrong key':
        return repeatResult(failure('configuration'))
    }
  }
}

/** The start of an engine's clock, and its source of randomness. */
interface EngineOptions {
  now: number
  random: () => number
}

/** A campaign's object and its consumers, with a clock and faults that the test controls. */
export class Engine {
  now: number
  readonly campaignId: string
  readonly provider: Provider
  readonly storage: ObjectStorage
  object: CampaignSenderObject<typeof env>
  readonly #state: DurableObjectState
  /** The setting with which the object started. */
  #outgoing: 'send' | 'hold' = 'send'
  /** One of this many calls to the database or to the object fails; 0 means none. */
  faultEvery = 0
  /** Runs after each call to the database, before its rows are used. */
  meanwhile: () => Promise<void> = async () => undefined
  #random: () => number
  alarmAt: number | null = null
  /** Runs when the object has handed out a chunk. */
  onClaim: (claim: ChunkClaim) => void = () => undefined
  /** Counts the rows and queries of the object's database and of D1, for tests of costs. */
  cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = []
  readonly meter = newMeter()
  requests = 0
  enqueued = 0

  constructor(campaignId: string, provider: Provider, state: DurableObjectState, { now, random }: EngineOptions) {
    const { storage } = state
    this.#state = state
    this.campaignId = campaignId
    this.provider = provider
    this.now = now
    this.#random = random
    const exec = (query: string, ...values: SqlStorageValue[]) => {
      const cursor = storage.sql.exec(query, ...values)
      this.cursors.push(cursor)
      return cursor
    }
    this.storage = {
      sql: { exec } as unknown as SqlStorage,
      transactionSync: (block) => storage.transactionSync(block),
      getAlarm: async () => this.alarmAt,
      setAlarm: async (at) => void (this.alarmAt = Number(at)),
      deleteAlarm: async () => void (this.alarmAt = null),
      deleteAll: () => storage.deleteAll(),
    }
    this.object = this.#newObject()
    provider.overtake = async () => {
      this.now += 90_000
      await this.consume(1)
    }
  }

  #newObject(): CampaignSenderObject<typeof env> {
    return new CampaignSenderObject(this.#state, env, this.job, this.storage)
  }

  #fails(): boolean {
    return this.faultEvery > 0 && this.#random() * this.faultEvery < 1
  }

  get job(): JobCtx {
    const fails = () => this.#fails()
    const client: Client = {
      prepare: (text: string) => env.DB.prepare(text),
      batch: async <T>(statements: D1PreparedStatement[]) => {
        if (fails()) throw new Dies('the database was not reached')
        const result = await env.DB.batch<T>(statements)
        if (fails()) throw new Dies('the answer of the database was lost')
        await this.meanwhile()
        return result
      },
    }
    const db = new Database(client, this.meter)
    const read = db.all.bind(db)
    db.all = async (statement) => {
      const rows = await read(statement)
      await this.meanwhile()
      return rows
    }
    const parts = {
      db,
      now: () => this.now,
      newId: (kind: IdKind) => newId(kind, this.now, this.#random),
    }
    return {
      ...parts,
      ...createCapture(parts),
      email: this.provider.gateway,
      config: { ...testConfig, outgoing: this.#outgoing },
      webhookPost: { post: () => Promise.reject(new Error('campaigns post nothing')) },
      alertPost: { post: () => Promise.reject(new Error('campaigns post nothing')) },
      jobQueue: { enqueue: async () => void this.enqueued++ },
      senders: { get: () => this.#overWire() },
      webhookSenders: {
        create: () => {
          throw new Error('campaigns have no webhooks')
        },
      },
    }
  }

  /** The object as consumers reach it. A call or its answer may be lost. */
  #overWire(): CampaignSenderRpc {
    return new Proxy({} as CampaignSenderRpc, {
      get:
        (_, name) =>
        async (...args: unknown[]) => {
          this.requests++
          if (this.#fails()) throw new Dies('the object was not reached')
          // Values are copied, as they are on the wire.
          const result: unknown = await (this.object as unknown as Record<string, (...all: unknown[]) => unknown>)[
            String(name)
          ]?.(...structuredClone(args))
          if (name === 'exchangeChunk') {
            const { next } = result as ClaimResult
            if (next) this.onClaim(next)
          }
          if (this.#fails()) throw new Dies('the answer of the object was lost')
          return structuredClone(result)
        },
    })
  }

  get ctx(): Ctx {
    const { db } = this.job
    return {
      ...createContextAt(this.now),
      ...this.job,
      db,
      afterCommit: (work) => void this.pending.push(work),
    }
  }

  /** Work that follows the last commit. */
  pending: (() => Promise<unknown>)[] = []

  async afterCommits(): Promise<void> {
    for (const work of this.pending.splice(0)) await work().catch(() => undefined)
  }

  get store(): RecipientStore {
    return new RecipientStore(this.storage)
  }

  /** Restarts the object, which then has only what it stored. */
  evict(): void {
    this.object = this.#newObject()
  }

  /** Deploys the service with this setting, which restarts the object. */
  deploy(outgoing: 'send' | 'hold'): void {
    this.#outgoing = outgoing
    this.evict()
  }

  async alarm(): Promise<void> {
    await this.object.alarm().catch(() => this.evict())
  }

  async wake(): Promise<void> {
    await this.object.wake(this.campaignId)
  }

  async consume(consumers: number): Promise<void> {
    const message = { type: 'campaign.send-chunks' as const, campaign_id: this.campaignId }
    await Promise.allSettled(Array.from({ length: consumers }, () => sendCampaigns(this.job, [message])))
  }
}

/** Runs inside a real object, over its own storage. */
export const withEngine = <Result>(
  campaignId: string,
  options: { deduplicates: boolean; now?: number; random?: () => number },
  work: (engine: Engine) => Promise<Result>,
): Promise<Result> =>
  runInDurableObject(env.CAMPAIGN_SENDER.get(env.CAMPAIGN_SENDER.idFromName(`engine ${campaignId}`)), (_, state) => {
    const provider = new Provider(options.deduplicates)
    const { now = Date.now(), random = Math.random } = options
    return work(new Engine(campaignId, provider, state, { now, random }))
  })
