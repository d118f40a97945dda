import type { JobCtx } from '../context.ts'
import { Database } from '../db/database.ts'
import { type IdKind, newId } from '../domain/ids.ts'
import { newMeter } from '../domain/meter.ts'
import { FetchPost } from '../gateways/webhook-post/fetch-post.ts'
import type { Bindings } from '../http/env.ts'
import { readConfig } from './config.ts'
import { createJobQueue } from './job-queue.ts'
import { createGateways } from './gateways.ts'
import { random } from './random.ts'
import { createCampaignSenders, createWebhookSenders } from './senders.ts'

/**
 * The context of queue messages, sweeps and paths without a token: the primary database, and a clock that advances
 * during the work.
 */
export function openJob(env: Bindings, meter = newMeter()): JobCtx {
  const config = readConfig(env)
  const parts = {
    db: new Database(env.DB.withSession('first-primary'), meter),
    config,
    now: Date.now,
    newId: (kind: IdKind) => newId(kind, Date.now(), random, config.cell),
  }
  return {
    ...parts,
    jobQueue: createJobQueue(env),
    senders: createCampaignSenders(env),
    webhookSenders: createWebhookSenders(env),
    webhookPost: new FetchPost(),
    ...createGateways(env, parts),
  }
}
