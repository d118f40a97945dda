import type { Config, Ctx } from '../context.ts'
import { Database } from '../db/database.ts'
import { IdempotencyStore } from '../db/idempotency.ts'
import { anonymous, type Caller } from '../domain/accounts/access.ts'
import { createIdFactory } from '../domain/ids.ts'
import { createIdentityProviders } from '../gateways/identity/oidc.ts'
import type { AppContext } from '../http/env.ts'
import { logError } from '../http/log.ts'
import { primaryRequests } from '../http/mcp/send-call.ts'
import { recordAudit, recordRefusedToken } from '../modules/audit-log/index.ts'
import { authenticate, type RefusedUse } from '../modules/auth/index.ts'
import { createClock } from './clock.ts'
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
  const clock = createClock(config)
  const parts = openParts(c, config, clock)
  const { db, requestId, now, newId, identity, clockOffsetMs } = parts
  const recordRefused = (use: RefusedUse) =>
    recordRefusedToken(db, { ...use, request_id: requestId, at: now, newId }).catch((error: unknown) =>
      logError(requestId, error),
    )
  const credentials = {
    db,
    rootTokens: config.rootTokens,
    identity: identity.bearer,
    now,
    clockOffsetMs,
    recordRefused,
  }
  const authorization = c.req.header('authorization')
  const { caller, touch } = await authenticate(authorization, credentials)
  if (touch) c.executionCtx.waitUntil(touch().catch((error: unknown) => logError(requestId, error)))
  return {
    ...createContext(c, config, parts, caller),
    authenticateAgain: async () =>
      // Nobody uses an ended token here: the service stops by itself.
      (await authenticate(authorization, { ...credentials, now: clock.now(), recordRefused: async () => undefined }))
        .caller,
  }
}

/** Creates the context of a public operation, whatever token the request has. */
export function openPublicRequest(c: AppContext): Ctx {
  const config = readConfig(c.env)
  return createContext(c, config, openParts(c, config, createClock(config)), anonymous)
}

function openParts(c: AppContext, config: Config, { now: readNow, clockOffsetMs }: ReturnType<typeof createClock>) {
  const now = readNow()
  return {
    db: new Database(c.env.DB.withSession('first-primary'), c.var.meter),
    requestId: c.var.requestId,
    now,
    clockOffsetMs,
    newId: createIdFactory(now, random, config.cell),
    identity: createIdentityProviders(config),
  }
}

function createContext(c: AppContext, config: Config, parts: ReturnType<typeof openParts>, caller: Caller): Ctx {
  const { db: primary, requestId, now, clockOffsetMs, newId, identity } = parts
  return {
    caller,
    db: isSafeRequest(c) ? new Database(c.env.DB.withSession(chooseReplica(c)), c.var.meter) : primary,
    requestId,
    authenticateAgain: async () => caller,
    config,
    now: () => now,
    clockOffsetMs,
    newId,
    identity,
    randomBytes,
    idempotency: new IdempotencyStore(primary),
    resumeKey: newId('request'),
    recordWrite: async () => [],
    recordAudit: (entry) => recordAudit({ caller, requestId, now, id: newId('audit_entry') }, entry),
    jobQueue: createJobQueue(c.env),
    senders: createCampaignSenders(c.env),
    webhookSenders: createWebhookSenders(c.env),
    ...createGateways(c.env, { db: primary, config, now: () => now, clockOffsetMs, newId }),
    afterCommit: (work) => c.var.afterCommit.push(work),
    openJobAfterResponse: (meter) => openJob(c.env, meter),
  }
}

const isSafeRequest = (c: AppContext): boolean => c.req.method === 'GET' || c.req.method === 'HEAD'

function chooseReplica(c: AppContext): D1SessionBookmark {
  if (primaryRequests.has(c.req.raw)) return 'first-primary'
  const bookmark = c.req.header('x-d1-bookmark')
  return bookmark && bookmarkPattern.test(bookmark) ? bookmark : 'first-unconstrained'
}
