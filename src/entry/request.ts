import type { Ctx } from '../context.ts'
import { Database } from '../db/database.ts'
import { IdempotencyStore } from '../db/idempotency.ts'
import { createIdFactory } from '../domain/ids.ts'
import { createOidcProvider } from '../gateways/identity/oidc.ts'
import { FetchPost } from '../gateways/webhook-post/fetch-post.ts'
import type { AppContext } from '../http/env.ts'
import { logError } from '../http/log.ts'
import { recordAudit, recordRefusedToken } from '../modules/audit-log/index.ts'
import { authenticate, type RefusedUse } from '../modules/auth/index.ts'
import { readConfig } from './config.ts'
import { createGateways } from './gateways.ts'
import { openJob, createJobQueue, createCampaignSenders, createWebhookSenders } from './job.ts'
import { random, randomBytes } from './random.ts'

const bookmarkPattern = /^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}$/

/**
 * Authenticates a request and creates its context. Reads go to the nearest replica that has the state of the client's
 * bookmark. Writes and the authentication use the primary database.
 */
export async function openRequest(c: AppContext): Promise<Ctx> {
  const config = readConfig(c.env)
  const { meter, requestId } = c.var
  const primary = new Database(c.env.DB.withSession('first-primary'), meter)
  const now = Date.now()
  const identity = config.oidc && createOidcProvider(config.oidc)
  const newId = createIdFactory(now, random, config.cell)
  const recordRefused = (use: RefusedUse) =>
    recordRefusedToken(primary, { ...use, request_id: requestId, at: now, newId }).catch((error: unknown) =>
      logError(requestId, error),
    )
  const credentials = { db: primary, rootToken: config.rootToken, identity, now, recordRefused }
  const authorization = c.req.header('authorization')
  const { caller, touch } = await authenticate(authorization, credentials)
  if (touch) c.executionCtx.waitUntil(touch().catch((error: unknown) => logError(requestId, error)))
  return {
    caller,
    db: isSafeRequest(c) ? new Database(c.env.DB.withSession(chooseReplica(c)), meter) : primary,
    requestId,
    authenticateAgain: async () =>
      // Nobody uses an ended token here: the service stops by itself.
      (await authenticate(authorization, { ...credentials, now: Date.now(), recordRefused: async () => undefined }))
        .caller,
    config,
    now: () => now,
    newId,
    randomBytes,
    idempotency: new IdempotencyStore(primary),
    resumeKey: newId('request'),
    recordWrite: async () => [],
    recordAudit: (entry) => recordAudit({ caller, requestId, now, id: newId('audit_entry') }, entry),
    jobQueue: createJobQueue(c.env),
    senders: createCampaignSenders(c.env),
    webhookSenders: createWebhookSenders(c.env),
    webhookPost: new FetchPost(),
    ...createGateways(c.env, { db: primary, config, now: () => now, newId }),
    afterCommit: (work) => c.var.afterCommit.push(work),
    openJobAfterResponse: () => openJob(c.env),
  }
}

const isSafeRequest = (c: AppContext): boolean => c.req.method === 'GET' || c.req.method === 'HEAD'

function chooseReplica(c: AppContext): D1SessionBookmark {
  const bookmark = c.req.header('x-d1-bookmark')
  return bookmark && bookmarkPattern.test(bookmark) ? bookmark : 'first-unconstrained'
}
