import { env } from 'cloudflare:workers'
import type { Config, Ctx } from '../../src/context.ts'
import { Database } from '../../src/db/database.ts'
import { IdempotencyStore } from '../../src/db/idempotency.ts'
import { type Caller, superuser } from '../../src/domain/access.ts'
import { newId } from '../../src/domain/ids.ts'
import { standardSchedule } from '../../src/domain/webhooks.ts'
import { newMeter } from '../../src/domain/meter.ts'

const captured = { name: 'capture', apiBase: '', apiKey: '', webhookSecret: '' }

export const testConfig: Config = {
  environment: 'test',
  rateLimitPerMinute: 0,
  rootToken: null,
  publicUrl: 'https://api.example.test',
  linkSigningKey: 'link-signing-key-of-the-tests',
  email: captured,
  sms: captured,
  oidc: null,
  webhooks: { allowInsecure: false, ownHosts: [], schedule: standardSchedule },
}

/** What a verb receives, at a time of the test's choice and with a meter of its own. */
export function contextAt(now: number, caller: Partial<Caller> = {}): Ctx {
  const db = new Database(env.DB, newMeter())
  return {
    caller: { ...superuser, ...caller },
    db,
    requestId: 'req_test',
    config: testConfig,
    now: () => now,
    newId: (kind) => newId(kind, now, Math.random),
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    idempotency: new IdempotencyStore(db),
    settle: async () => [],
    afterCommit: () => undefined,
    doorbell: { ring: async () => undefined },
    webhookPost: { post: () => Promise.reject(new Error('verbs post nothing')) },
  }
}
