import { createScheduledController } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import type { JobCtx } from '../../src/context.ts'
import { deleteExpiredKeys } from '../../src/db/idempotency.ts'
import { auditLog } from '../../src/db/schema/audit-log.ts'
import { deadMessages } from '../../src/db/schema/dead-messages.ts'
import { segmentExports } from '../../src/db/schema/segments.ts'
import { insertAll } from '../../src/db/write.ts'
import { newId } from '../../src/domain/ids.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { runSweeps } from '../../src/entry/scheduled.ts'
import worker from '../../src/index.ts'
import { sweepAuditLog } from '../../src/modules/audit-log/jobs.ts'
import { sweepImportData } from '../../src/modules/data-imports/jobs.ts'
import { sweepUploads } from '../../src/modules/files/jobs.ts'
import { sweepPaymentEvents } from '../../src/modules/refund-payments/jobs.ts'
import { sweepExports, sweepLeftovers } from '../../src/modules/segments/jobs.ts'
import { sweepSoftBounces } from '../../src/modules/suppressions/jobs.ts'
import { sweepDeadMessages } from '../../src/modules/system/jobs.ts'
import { sweepCallbacks } from '../../src/modules/wallet/jobs.ts'
import { sweepEvents } from '../../src/modules/webhooks/jobs.ts'
import { createJob } from '../support/campaigns.ts'
import { createContextAt } from '../support/context.ts'
import { count, countEvents, runUntilDone, seedAt, seedPlace } from '../support/retention.ts'
import { seedEntries } from '../support/seeding/audit-log.ts'
import { seedSegment } from '../support/seeding/messaging/segments.ts'
import { type Place, write } from '../support/seeding/rows.ts'
import { seedDeliveries, seedEndpoint } from '../support/seeding/webhooks.ts'

const now = Date.now()
const young = now - 89 * dayMs

const exportRow = ({ organization }: Place, segment_id: string, days: number) => ({
  id: newId('segment_export', now - days * dayMs, Math.random),
  segment_id,
  organization_id: organization,
  caller_id: 'root',
  request_id: 'req',
  columns: ['id'],
  user_count: 1,
  created_at: now - days * dayMs,
})

const deadRow = (days: number) => ({
  id: newId('dead_message', now - days * dayMs, Math.random),
  queue: 'webhooks',
  body: `"${days}"`,
  created_at: now - days * dayMs,
})

/** Seeds rows of many tables that are not due yet. */
async function seedRows(place: Place): Promise<void> {
  const segment = (await seedSegment({ ...place })).id
  const keys = Array.from({ length: 100 }, (_, index) => `key ${index}`)
  await write(
    ...insertAll(
      segmentExports,
      keys.map(() => exportRow(place, segment, 1)),
    ),
    ...insertAll(
      deadMessages,
      keys.map(() => deadRow(1)),
    ),
    sql`insert into idempotency_keys (caller_id, key_hash, fingerprint, claim_id, claimed_until, expires_at)
      select 'root', value, '', '', ${now + dayMs}, ${now + dayMs} from json_each(${JSON.stringify(keys)})`,
  )
}

describe('daily sweeps', () => {
  it('delete dead letters after 30 days', async () => {
    await write(...insertAll(deadMessages, [31, 31, 29].map(deadRow)))
    await sweepDeadMessages(createContextAt(now))
    const remainingMessages = await createContextAt(now).db.all(sql<{ body: string }>`select body from dead_messages`)
    expect(remainingMessages).toEqual([{ body: '"29"' }])
  })

  it('delete soft bounces that no longer count, a part of the table at a time, and start again each day', async () => {
    const { organization } = await seedPlace()
    const bounces = Array.from({ length: 450 }, (_, index) => [
      `a${String(index).padStart(4, '0')}@example.dk`,
      now - (index % 2 ? 15 : 13) * dayMs,
    ])
    await write(sql`insert into soft_bounces (organization_id, channel, address, reference, bounced_at)
      select ${organization}, 'email', value ->> 0, 'r', value ->> 1 from json_each(${JSON.stringify(bounces)})`)
    const left = () => count(sql`select 1 from soft_bounces where organization_id = ${organization}`)
    await sweepSoftBounces(createContextAt(now))
    expect(await left()).toBe(350)
    await sweepSoftBounces(createContextAt(now + 60_000))
    await sweepSoftBounces(createContextAt(now + 120_000))
    expect(await left()).toBe(225)
    const idle = createContextAt(now + 180_000)
    await sweepSoftBounces(idle)
    expect(idle.db.meter).toMatchObject({ rows_read: 1, rows_written: 0 })
    for (let minute = 0; minute < 3; minute++) await sweepSoftBounces(createContextAt(now + 2 * dayMs + minute))
    expect(await left()).toBe(0)
  })

  it('delete records of exports together with the audit log', async () => {
    const place = await seedPlace()
    const segment = (await seedSegment({ ...place })).id
    await write(...insertAll(segmentExports, [exportRow(place, segment, 401), exportRow(place, segment, 399)]))
    await sweepExports(createContextAt(now))
    const remaining = sql`select 1 from segment_exports where organization_id = ${place.organization}`
    expect(await count(remaining)).toBe(1)
  })
})

describe('the retention times of a deployment', () => {
  it('are those of WEBHOOK_KEPT_DAYS and AUDIT_KEPT_DAYS', async () => {
    const place = await seedPlace()
    const endpoint = (await seedEndpoint(place)).id
    await seedAt(place, endpoint, { at: now - 31 * dayMs, many: 2 })
    await seedAt(place, endpoint, { at: now - 29 * dayMs, many: 1 })
    await seedEntries(place.organization, 2, { created_at: now - 32 * dayMs })
    const settings = { WEBHOOK_KEPT_DAYS: '30', AUDIT_KEPT_DAYS: '31' }
    const run = (bindings: object) =>
      worker.scheduled(createScheduledController({ scheduledTime: new Date(now) }), { ...env, ...bindings })
    const entries = () =>
      count(sql`select 1 from audit_log where organization_id = ${place.organization} and request_id = 'req_seeded'`)
    await run({})
    expect([await countEvents(endpoint), await entries()]).toEqual([3, 2])
    await run(settings)
    expect([await countEvents(endpoint), await entries()]).toEqual([1, 0])
  })
})

describe('the audit log of very many organisations', () => {
  it('is swept for some organisations at a time, and loses only expired entries', async () => {
    const seeded = Array.from({ length: 240 }, (_, index) => {
      const created_at = index < 120 ? now - (index % 2 ? 401 : 399) * dayMs : now
      return {
        organization_id: `org_many_${index % 120}`,
        id: newId('audit_entry', created_at, Math.random),
        created_at,
        action: 'updateOrganization',
        actor_id: 'root',
        changes: [],
        request_id: 'req_seeded',
      }
    })
    await write(...insertAll(auditLog, seeded))
    const oldOnes = () => count(sql`select 1 from audit_log where created_at < ${now - 400 * dayMs}`)
    expect(await oldOnes()).toBe(60)
    const reads: number[] = []
    while ((await oldOnes()) > 0 && reads.length < 9) {
      const job = createContextAt(now)
      await sweepAuditLog(job)
      reads.push(job.db.meter.rows_read)
    }
    expect(reads.length).toBeLessThan(5)
    expect(Math.max(...reads)).toBeLessThan(800)
    expect(await count(sql`select 1 from audit_log where created_at >= ${now - 400 * dayMs}`)).toBeGreaterThan(179)
  })
})

describe('a sweep with nothing due', () => {
  const measureCost = async (sweep: (job: JobCtx) => Promise<unknown>) => {
    const job = createContextAt(now)
    await sweep(job)
    return { ...job.db.meter }
  }
  const sweeps: Record<string, (job: JobCtx) => Promise<unknown>> = {
    events: sweepEvents,
    'dead messages': sweepDeadMessages,
    exports: sweepExports,
    'idempotency keys': ({ db }) => deleteExpiredKeys(db, now),
    'callbacks of wallets': sweepCallbacks,
    'events of payments': sweepPaymentEvents,
    'soft bounces': sweepSoftBounces,
    'data of imports': sweepImportData,
    uploads: sweepUploads,
    'sets of segments': sweepLeftovers,
  }

  beforeAll(async () => {
    await runUntilDone(createContextAt(now))
    for (let times = 0; times < 5; times++) await sweepSoftBounces(createContextAt(now))
  })

  it('reads and writes few rows, for any size of the tables', async () => {
    const place = await seedPlace()
    const endpoint = (await seedEndpoint(place)).id
    const measured = async () => {
      const costs: Record<string, object> = {}
      for (const [name, sweep] of Object.entries(sweeps)) costs[name] = await measureCost(sweep)
      return costs
    }
    await seedAt(place, endpoint, { at: young, many: 1 })
    const few = await measured()
    await seedDeliveries(place, endpoint, 200)
    await seedRows(place)
    expect(await measured()).toEqual(few)
    for (const [name, cost] of Object.entries(few)) {
      const { rows_read = 99, rows_written = 99 } = cost as { rows_read?: number; rows_written?: number }
      expect([name, rows_read <= 10, rows_written]).toEqual([name, true, 0])
    }
  })

  it('reads one or two rows of the audit log for each of at most 50 organisations', async () => {
    for (let times = 0; times < 5; times++) await sweepAuditLog(createContextAt(now))
    const { rows_read, rows_written } = await measureCost(sweepAuditLog)
    expect(rows_read).toBeLessThan(250)
    expect(rows_written).toBeLessThanOrEqual(1)
  })
})

it('every sweep of a minute runs, even after one that fails', async () => {
  const ran: string[] = []
  const note = (name: string) => async () => ran.push(name)
  await runSweeps(createJob(), {
    imports: note('imports'),
    failing: () => Promise.reject(new Error('It fails.')),
    refunds: note('refunds'),
  })
  expect(ran).toEqual(['imports', 'refunds'])
})
