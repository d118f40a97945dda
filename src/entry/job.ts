import type { JobCtx, JobQueue, QueueMessages, QueueName } from '../context.ts'
import { Database } from '../db/database.ts'
import type { CampaignSenders } from '../domain/campaigns/sender.ts'
import { type IdKind, newId } from '../domain/ids.ts'
import { newMeter } from '../domain/meter.ts'
import type { WebhookSenders } from '../domain/webhooks/webhook-sender.ts'
import type { Bindings } from '../http/env.ts'
import { createClock, loadClock } from './clock.ts'
import { readConfig } from './config.ts'
import { createGateways } from './gateways.ts'
import { random } from './random.ts'

export const openDatabase = (env: Bindings, meter = newMeter()): Database =>
  new Database(env.DB.withSession('first-primary'), meter)

/**
 * Creates the context of queue messages, sweeps and paths without an access token. It uses the primary database, and its
 * clock advances during the work.
 */
export function openJob(env: Bindings, meter = newMeter()): JobCtx {
  const config = readConfig(env)
  const clock = createClock(config)
  const parts = {
    db: openDatabase(env, meter),
    config,
    ...clock,
    newId: (kind: IdKind) => newId(kind, clock.now(), random, config.cell),
  }
  return {
    ...parts,
    jobQueue: createJobQueue(env),
    senders: createCampaignSenders(env),
    webhookSenders: createWebhookSenders(env),
    ...createGateways(env, parts),
  }
}

/** Creates the context of a queue's batch, of sweeps and of objects, once it is known how far the clock was moved. */
export async function openCurrentJob(env: Bindings): Promise<JobCtx> {
  await loadClock(env)
  return openJob(env)
}

const messagesPerCall = 100
const maxDelaySeconds = 43_200

const bindings = {
  webhooks: 'WEBHOOKS',
  segments: 'SEGMENTS',
  emails: 'EMAILS',
  refunds: 'REFUNDS',
  campaigns: 'CAMPAIGNS',
  'campaign-events': 'CAMPAIGN_EVENTS',
  imports: 'IMPORTS',
} as const satisfies Record<QueueName, keyof Bindings>

export const createJobQueue = (env: Bindings): JobQueue => ({
  async enqueue<Name extends QueueName>(name: Name, messages: readonly QueueMessages[Name][], delaySeconds = 0) {
    const queue: Queue<QueueMessages[Name]> = env[bindings[name]]
    const delay = { delaySeconds: Math.min(Math.max(0, Math.ceil(delaySeconds)), maxDelaySeconds) }
    for (let start = 0; start < messages.length; start += messagesPerCall)
      await queue.sendBatch(messages.slice(start, start + messagesPerCall).map((body) => ({ body, ...delay })))
  },
})

/** The Durable Objects of campaigns, by campaign id. */
export const createCampaignSenders = (env: Bindings): CampaignSenders => ({
  get: (campaignId) => env.CAMPAIGN_SENDER.get(env.CAMPAIGN_SENDER.idFromName(campaignId)),
})

/** Durable Objects that send webhook requests. They store nothing and end with their last request. */
export const createWebhookSenders = (env: Bindings): WebhookSenders => ({
  create: () => env.WEBHOOK_SENDER.get(env.WEBHOOK_SENDER.newUniqueId()),
})
