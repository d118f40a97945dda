import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { hourMs, minuteMs } from '../../src/domain/time/instants.ts'
import { version } from '../../src/domain/version.ts'
import { loadClock } from '../../src/entry/clock.ts'
import { sweepAll } from '../../src/entry/scheduled.ts'
import { seedSweepRuns } from '../support/alarms.ts'
import { callWith, get } from '../support/api.ts'
import { breakDatabase, watchDatabase } from '../support/bindings.ts'
import { createJob } from '../support/campaigns.ts'
import { write } from '../support/seeding/rows.ts'

beforeEach(() => write(sql`delete from sweep_runs`))
afterEach(() => void vi.restoreAllMocks())

const listAlarms = async () => (await get('/v1/system/status')).body.alarms

describe('/healthz', () => {
  const read = (bindings: object = {}) => callWith(bindings, '/healthz', { token: null })
  const makeTable = sql`create table if not exists d1_migrations (id integer primary key autoincrement, name text unique,
    applied_at timestamp default current_timestamp not null)`
  const migrate = (ago: string) =>
    write(makeTable, sql`insert into d1_migrations (name, applied_at) values (${ago}, datetime('now', ${ago}))`)
  afterEach(() => write(sql`drop table if exists d1_migrations`))

  it('says the version and when the sweeps last ran, in one round trip, and nothing about tenants', async () => {
    const at = Date.now() - 9 * minuteMs
    await seedSweepRuns({}, at)
    let count = 0
    const reply = await read(watchDatabase(() => count++))
    expect([reply.status, count]).toEqual([200, 1])
    expect(reply.body).toEqual({
      status: 'ok',
      version,
      database: 'reached',
      sweep: { last_run_at: new Date(at).toISOString(), is_late: false },
      email: 'captured',
      sms: 'captured',
      outgoing: 'sending',
    })
    expect(version).toMatch(/^\d+\.\d+\.\d+/)
    expect(reply.headers.get('cache-control')).toBe('no-store')
  })

  it('answers 503 when no run of the sweeps has ended for ten minutes', async () => {
    await seedSweepRuns({}, Date.now() - 11 * minuteMs)
    const reply = await read()
    expect([reply.status, reply.body.status, reply.body.sweep.is_late]).toEqual([503, 'late', true])
    await sweepAll(createJob(), { sweeps: {} })
    expect((await read()).body).toMatchObject({ status: 'ok', sweep: { is_late: false } })
  })

  it('counts from the last migration before the first run of the sweeps', async () => {
    expect((await read()).body).toMatchObject({ status: 'ok', sweep: { last_run_at: null, is_late: false } })
    await migrate('-3 days')
    expect([(await read()).status, (await listAlarms())[0].kind]).toEqual([503, 'sweeps_late'])
    await migrate('-5 minutes')
    expect([(await read()).status, await listAlarms()]).toEqual([200, []])
    await sweepAll(createJob(), { sweeps: {} })
    expect((await read()).status).toBe(200)
  })

  it('counts from the restored run of a restored database', async () => {
    await migrate('-1 minutes')
    await seedSweepRuns({}, Date.now() - 72 * hourMs)
    expect((await read()).status).toBe(503)
  })

  it('does not depend on the clock of development', async () => {
    vi.spyOn(console, 'log').mockImplementation(() => {})
    const bindings = { ENVIRONMENT: 'development' }
    await sweepAll(createJob(), { sweeps: {} })
    await write(sql`insert into dev_clock (id, offset_ms) values (1, ${72 * hourMs})`)
    expect((await read(bindings)).status).toBe(200)
    await callWith(bindings, '/dev/clock', { body: { advance_seconds: 3600 }, token: null })
    expect((await read(bindings)).status).toBe(200)
    expect((await callWith(bindings, '/v1/system/status')).body.alarms).toEqual([])
    await write(sql`delete from dev_clock`)
    await loadClock({ ...env, ...bindings })
  })

  it('answers 503 for a database that is not reached, or has no tables yet', async () => {
    const gone = await read(breakDatabase('D1_ERROR: Network connection lost.'))
    expect([gone.status, gone.body]).toMatchObject([503, { status: 'unavailable', database: 'not reached', version }])
    const empty = await read(breakDatabase('D1_ERROR: no such table: sweep_runs: SQLITE_ERROR'))
    expect([empty.status, empty.body]).toMatchObject([503, { status: 'unavailable', database: 'not migrated' }])
  })
})
