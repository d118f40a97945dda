import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import type { Config, Ctx, JobCtx } from '../../src/context.ts'
import { Database } from '../../src/db/database.ts'
import { IdempotencyStore } from '../../src/db/idempotency.ts'
import { type Caller, superuser } from '../../src/domain/accounts/access.ts'
import { type IdKind, newId as mintId } from '../../src/domain/ids.ts'
import { newMeter } from '../../src/domain/meter.ts'
import { retentionDays, dayMs } from '../../src/domain/time/instants.ts'
import { standardSchedule } from '../../src/domain/webhooks/webhooks.ts'
import { createCampaignSenders, createWebhookSenders } from '../../src/entry/job.ts'
import { createEmailCapture, createSmsCapture } from '../../src/gateways/capture/capture.ts'
import { createDnsCapture } from '../../src/gateways/dns/dns.ts'
import { createR2Store } from '../../src/gateways/files/r2.ts'
import { createPassCapture } from '../../src/gateways/passes/capture.ts'
import { buildPaymentGateways } from '../../src/gateways/payments/gateways.ts'
import { createCaptureStore } from '../../src/modules/dev-mailbox/index.ts'
import { createCapturedRecords } from '../../src/modules/sender-domains/index.ts'
import { createCapturedKeys } from '../../src/modules/wallet/index.ts'

const captured = { name: 'capture', apiBase: '', apiKey: '', webhookSecret: '' }

export const testConfig: Config = {
  environment: 'test',
  rootTokens: [],
  metricsTokens: [],
  publicUrl: 'https://api.example.test',
  linkSigningKey: 'link-signing-key-of-the-tests',
  linkReadingKeys: ['link-signing-key-of-the-tests'],
  idempotencySecrets: ['link-signing-key-of-the-tests'],
  emailFrom: { name: 'Events', address: 'no-reply@example.com' },
  email: captured,
  sms: captured,
  dns: { name: 'capture', apiBase: '' },
  wallet: {
    name: 'capture',
    vendors: { vendorA: 'apple', vendorB: 'google' },
    apple: { passTypeId: 'pass.capture', teamId: 'CAPTURE', certificate: '', privateKey: '', issuerCertificate: '' },
    google: { issuerId: 'capture', serviceAccount: '', apiBase: '' },
  },
  payments: { apiBase: '', secrets: ['link-signing-key-of-the-tests'] },
  outgoing: 'send',
  oidc: null,
  alerts: null,
  signIn: { methods: ['code', 'link'], clientId: null, access: null },
  cell: '',
  retentionMs: { webhooks: retentionDays.webhooks * dayMs, auditLog: retentionDays.auditLog * dayMs },
  files: { url: 'https://api.example.test', scan: null },
  webhooks: { allowInsecure: false, ownHosts: [], schedule: standardSchedule },
}

/** Gateways that store messages instead of sending them. */
export function createCapture(
  parts: Pick<JobCtx, 'db' | 'now' | 'newId'>,
): Pick<JobCtx, 'email' | 'sms' | 'dns' | 'passes' | 'payments' | 'files' | 'images' | 'scanner'> {
  const store = createCaptureStore(parts)
  const { publicUrl, wallet } = testConfig
  return {
    payments: buildPaymentGateways({ environment: 'test', apiBase: testConfig.payments.apiBase }),
    email: createEmailCapture(store),
    files: createR2Store(env.FILES),
    sms: createSmsCapture(store),
    images: null,
    scanner: null,
    dns: createDnsCapture(createCapturedRecords(parts)),
    passes: createPassCapture({
      store,
      keys: createCapturedKeys(parts),
      apple: { ...wallet.apple, webServiceUrl: `${publicUrl}/wallet/apple` },
      google: { ...wallet.google, callbackUrl: `${publicUrl}/wallet/google/callback` },
    }),
  }
}

/** Makes the context of a verb, at a time of the test's choice and with a meter of its own. */
export function createContextAt(now: number, caller: Partial<Caller> = {}): Ctx {
  const db = new Database(env.DB, newMeter())
  const newId = (kind: IdKind) => mintId(kind, now, Math.random)
  return {
    caller: { ...superuser, ...caller },
    db,
    requestId: 'req_test',
    authenticateAgain: async () => ({ ...superuser, ...caller }),
    identity: { bearer: null, oidc: null, access: null },
    config: testConfig,
    now: () => now,
    newId,
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    idempotency: new IdempotencyStore(db),
    recordWrite: async () => [],
    resumeKey: newId('request'),
    recordAudit: () => sql`select 1`,
    afterCommit: () => undefined,
    jobQueue: { enqueue: async () => undefined },
    senders: createCampaignSenders(env),
    webhookSenders: createWebhookSenders(env),
    webhookPost: { post: () => Promise.reject(new Error('verbs post nothing')) },
    alertPost: { post: () => Promise.reject(new Error('verbs post nothing')) },
    ...createCapture({ db, now: () => now, newId }),
  }
}

/** Makes a context in which a change happens between the last read and each commit. */
export function interruptBefore(happen: () => Promise<unknown>): Ctx {
  const ctx = createContextAt(Date.now())
  const batch = ctx.db.batch.bind(ctx.db)
  ctx.db.batch = async (statements) => {
    await happen()
    return batch(statements)
  }
  return ctx
}
