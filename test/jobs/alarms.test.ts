import { createScheduledController } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { JobCtx } from '../../src/context.ts'
import { alarmGuides, alarmKinds } from '../../src/domain/alarms.ts'
import { minuteMs } from '../../src/domain/time/instants.ts'
import { openJob } from '../../src/entry/job.ts'
import { scheduled, sweepAll } from '../../src/entry/scheduled.ts'
import { postAlarms } from '../../src/modules/system/alarm-posts.ts'
import { sweepAlarms } from '../../src/modules/system/jobs.ts'
import {
  alertBindings,
  alertSecret,
  alertUrl,
  createMinutes,
  seedSweepRuns,
  setMachineTime,
  startAlertReceiver,
} from '../support/alarms.ts'
import { callWith, get } from '../support/api.ts'
import { createJob } from '../support/campaigns.ts'
import { crashAt } from '../support/crashes.ts'
import { seedDeadMessages as seedMessages } from '../support/seeding/dead-messages.ts'
import { db, write } from '../support/seeding/rows.ts'
import { answers, timesOut } from '../support/webhooks.ts'

const hasNoFault = () =>
  write(
    sql`delete from alarms`,
    sql`delete from dead_messages`,
    sql`delete from service_outages`,
    sql`delete from sweep_runs`,
  )

let lines: Record<string, unknown>[] = []
beforeEach(async () => {
  await hasNoFault()
  lines = []
  const record = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>)
  vi.spyOn(console, 'warn').mockImplementation(record)
  vi.spyOn(console, 'error').mockImplementation(record)
})
afterEach(() => void vi.restoreAllMocks())

const seedDeadMessages = (count: number, columns: Parameters<typeof seedMessages>[1] = {}) =>
  seedMessages(count, { created_at: Date.now(), ...columns })
const listAlarms = async () => (await get('/v1/system/status')).body.alarms
const retryAll = () => write(sql`update dead_messages set retried_at = 1`)
const loadAlarms = () =>
  db.all(
    sql<{ notified_at: number | null; ended_at: number | null; claimed_until: number | null }>`select * from alarms`,
  )

/** Makes a job at a time of the test's choice, whose receiver answers like this. */
function createAlertJob(now: number, post: JobCtx['alertPost']['post']): JobCtx {
  const job = createJob()
  const config = { ...job.config, alerts: { url: alertUrl, secret: alertSecret } }
  return { ...job, config, now: () => now, alertPost: { post } }
}

const createAlertPost = (): JobCtx['alertPost']['post'] => {
  const { alertPost } = createJob()
  return (request) => alertPost.post(request)
}

const seedOutage = (service: string, since: number, resource_id = '', reason = `${service} answers 500.`) =>
  write(sql`insert into service_outages (service, resource_id, reason, since)
    values (${service}, ${resource_id}, ${reason}, ${since})`)

describe('an alarm', () => {
  it('is posted once when it begins and once when its cause was absent for ten minutes', async () => {
    const { posts, listPosts } = startAlertReceiver()
    const minutes = createMinutes()
    await minutes.run(2)
    expect(posts).toEqual([])
    await seedDeadMessages(3, { queue: 'refunds', created_at: minutes.state.now })
    await minutes.run(5)
    expect(listPosts()).toEqual([['alarm.began', 'dead_messages', 'refunds']])
    expect(await listAlarms()).toMatchObject([
      {
        kind: 'dead_messages',
        subject: 'refunds',
        resource_id: null,
        message: 'Messages of the queue refunds failed at every attempt.',
        ...alarmGuides.dead_messages,
        is_present: true,
        ended_at: null,
        notified_at: expect.any(String),
        notification_error: null,
      },
    ])
    await retryAll()
    await minutes.run(10)
    expect(listPosts()).toHaveLength(1)
    expect(await listAlarms()).toMatchObject([{ kind: 'dead_messages', is_present: false, ended_at: null }])
    await minutes.run(5)
    expect(listPosts()).toEqual([
      ['alarm.began', 'dead_messages', 'refunds'],
      ['alarm.ended', 'dead_messages', 'refunds'],
    ])
    expect(posts[1]?.data.id).toBe(posts[0]?.data.id)
    expect(new Set(posts.map(({ id }) => id)).size).toBe(2)
    expect(posts[0]).toMatchObject({
      text: 'Alarm: Messages of the queue refunds failed at every attempt.',
      data: { service_url: 'https://events.example.test', ended_at: null, ...alarmGuides.dead_messages },
    })
    expect(await listAlarms()).toEqual([])
    expect(await loadAlarms()).toEqual([])
    expect(lines.map(({ message }) => message)).toEqual(['An alarm begins.', 'An alarm ends.'])
  })

  it('that comes and goes each minute is posted once', async () => {
    const { listPosts } = startAlertReceiver()
    const minutes = createMinutes()
    for (let round = 0; round < 12; round++) {
      const [message] = await seedDeadMessages(1, { queue: 'emails' })
      await minutes.run()
      await write(sql`update dead_messages set retried_at = 1 where id = ${message?.id}`)
      await minutes.run()
    }
    expect(listPosts()).toEqual([['alarm.began', 'dead_messages', 'emails']])
    await minutes.run(11)
    expect(listPosts().map(([type]) => type)).toEqual(['alarm.began', 'alarm.ended'])
    await seedDeadMessages(1, { queue: 'emails' })
    await minutes.run()
    expect(listPosts().map(([type]) => type)).toEqual(['alarm.began', 'alarm.ended', 'alarm.began'])
  })

  it('is shown before any sweep has stored it', async () => {
    await seedDeadMessages(1, { queue: 'imports' })
    expect(await listAlarms()).toMatchObject([{ subject: 'imports', is_present: true, notified_at: null }])
  })

  it('is stored and logged without ALERT_WEBHOOK_URL, and posted once there is one', async () => {
    const { listPosts } = startAlertReceiver()
    const minutes = createMinutes({})
    await seedDeadMessages(1)
    await minutes.run(2)
    expect(lines.map(({ message }) => message)).toEqual(['An alarm begins.'])
    const later = createMinutes()
    later.state.now = minutes.state.now
    await later.run()
    expect(listPosts()).toHaveLength(1)
    await retryAll()
    minutes.state.now = later.state.now
    await minutes.run(12)
    expect(await loadAlarms()).toEqual([])
  })
})

describe('everything that goes out', () => {
  it('can be held, and alarms are posted all the same', async () => {
    const { listPosts } = startAlertReceiver()
    await seedDeadMessages(1)
    await createMinutes({ ...alertBindings, OUTGOING: 'hold' }).run()
    expect(listPosts()).toEqual([['alarm.began', 'dead_messages', 'refunds']])
  })
})

describe('the cron trigger', () => {
  it('posts alarms after all other sweeps, and is not late when it runs again after a week', async () => {
    const { listPosts } = startAlertReceiver()
    await seedDeadMessages(1)
    await seedSweepRuns({}, Date.now() - 7 * 24 * 60 * minuteMs)
    const controller = createScheduledController({ scheduledTime: new Date(), cron: '* * * * *' })
    await scheduled(controller, { ...env, ...alertBindings })
    expect(listPosts()).toEqual([['alarm.began', 'dead_messages', 'refunds']])
    expect((await get('/v1/system/status')).body.sweeps.at(-1)).toMatchObject({ name: 'alarms', error: null })
  })
})

describe('the causes of alarms', () => {
  const now = Date.now()
  const longAgo = now - 11 * minuteMs
  const listKeys = async () =>
    (await listAlarms()).map((alarm: { kind: string; subject: string; resource_id: string }) =>
      [alarm.kind, alarm.subject, alarm.resource_id].filter(Boolean).join(' '),
    )

  it('are providers and merchant accounts that fail for ten minutes, and no endpoint of a customer', async () => {
    await seedOutage('email', longAgo)
    await seedOutage('sms', now - 8 * minuteMs)
    await seedOutage('payments', longAgo, 'mac_one')
    await seedOutage('payments', longAgo - 1, 'mac_two')
    await seedOutage('apple', longAgo, '', '')
    await seedOutage('webhook', longAgo, 'whk_one')
    expect((await listKeys()).toSorted()).toEqual([
      'provider_failing apple',
      'provider_failing email',
      'provider_failing payments mac_one',
      'provider_failing payments mac_two',
    ])
  })

  it('are at most fourteen services that fail, and services come before merchant accounts', async () => {
    for (let account = 0; account < 40; account++) await seedOutage('payments', longAgo - 1000, `mac_${account}`)
    for (const service of ['email', 'sms', 'google']) await seedOutage(service, longAgo)
    const keys = await listKeys()
    expect(keys).toHaveLength(14)
    expect(keys).toEqual(expect.arrayContaining(['provider_failing email', 'provider_failing google']))
  })

  it('are sweeps whose every run has failed for ten minutes', async () => {
    const run = { last_run_at: now, duration_ms: 1, error: 'It fails.' }
    const runs = {
      refunds: { ...run, failing_since: longAgo },
      imports: { ...run, failing_since: now - 5 * minuteMs },
      emails: { ...run, failing_since: null, error: null },
    }
    await seedSweepRuns(runs, now)
    expect(await listKeys()).toEqual(['sweep_failing refunds'])
  })

  it('are sweeps that are late', async () => {
    await seedSweepRuns({}, now - 9 * minuteMs)
    expect(await listKeys()).toEqual([])
    await seedSweepRuns({}, longAgo)
    expect(await listAlarms()).toMatchObject([
      { kind: 'sweeps_late', subject: null, since: new Date(longAgo).toISOString(), is_present: true },
    ])
  })

  it('are dead messages of each queue, however many there are and whatever the queue is called', async () => {
    const queue = `we"ird\\queue, 'x'`
    await seedDeadMessages(3, { queue })
    await seedDeadMessages(2, { queue: 'refunds' })
    await seedDeadMessages(2, { queue: 'emails', retried_at: 1 })
    expect(await listKeys()).toEqual(['dead_messages refunds', `dead_messages ${queue}`])
  })

  it('cost few rows, however many messages are dead and endpoints fail', async () => {
    await write(
      sql`insert into dead_messages (id, queue, body, created_at)
        with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 20000)
        select 'ded_' || n, case n % 3 when 0 then 'emails' else 'refunds' end, '{}', n from numbers`,
      sql`insert into service_outages (service, resource_id, reason, since)
        with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 200)
        select 'webhook', 'whk_' || n, 'The endpoint answers 500.', n from numbers`,
    )
    const measure = async () => {
      const job = createJob()
      await sweepAlarms(job)
      return { ...job.db.meter }
    }
    await seedSweepRuns({}, now)
    await measure()
    expect(await measure()).toMatchObject({ round_trips: 1, rows_written: 0 })
    expect((await measure()).rows_read).toBeLessThan(300)
    expect((await listKeys()).toSorted()).toEqual(['dead_messages emails', 'dead_messages refunds'])
  })

  it('are a database that has more than 80 % of its size', async () => {
    const show = async (size_after: number) => {
      const session = (real: D1DatabaseSession) => ({
        prepare: (text: string) => real.prepare(text),
        batch: async (statements: D1PreparedStatement[]) =>
          (await real.batch(statements)).map((result) => ({ ...result, meta: { ...result.meta, size_after } })),
        getBookmark: () => real.getBookmark(),
      })
      const DB = { withSession: (constraint?: string) => session(env.DB.withSession(constraint)) }
      const { body } = await callWith({ DB }, '/v1/system/status')
      return body.alarms.map(({ kind }: { kind: string }) => kind)
    }
    expect(await show(7.9e9)).toEqual([])
    expect(await show(8e9)).toEqual(['database_full'])
  })

  it('are all explained', () => {
    expect(Object.keys(alarmGuides).toSorted()).toEqual([...alarmKinds].toSorted())
  })
})

describe('a receiver that fails', () => {
  it.each<[string, () => Response, RegExp]>([
    ['answers 500', () => new Response('no', { status: 500 }), /^The receiver answers 500\.$/],
    [
      'redirects',
      () => new Response(null, { status: 302, headers: { location: 'https://elsewhere.example' } }),
      /redirects \(302\)/,
    ],
    [
      'closes the connection',
      () => {
        throw new TypeError('Network connection lost.')
      },
      /not reached/,
    ],
  ])('and %s gets the post again in each minute until it accepts it', async (_, respond, reason) => {
    const { posts, state } = startAlertReceiver(respond)
    const minutes = createMinutes()
    await seedDeadMessages(1)
    await minutes.run(3)
    expect(posts.length).toBe(3)
    expect(new Set(posts.map(({ id }) => id)).size).toBe(1)
    expect(await listAlarms()).toMatchObject([{ notified_at: null, notification_error: expect.stringMatching(reason) }])
    expect(lines.filter(({ message }) => message === 'An alarm could not be posted.')).toHaveLength(3)
    state.respond = () => new Response()
    await minutes.run(3)
    expect(posts.length).toBe(4)
    expect(await listAlarms()).toMatchObject([{ notified_at: expect.any(String), notification_error: null }])
  })

  it('and sends an endless answer is read to 8 kB', async () => {
    let pulls = 0
    const endless = () =>
      new ReadableStream({
        pull: (controller) => {
          pulls++
          controller.enqueue(new Uint8Array(4096))
        },
      })
    const { posts } = startAlertReceiver(() => new Response(endless()))
    const minutes = createMinutes()
    await seedDeadMessages(1)
    await minutes.run(2)
    expect(posts).toHaveLength(1)
    expect(pulls).toBeLessThan(10)
  })

  it('and hangs is posted to once in a run, with a time limit, and other alarms are tried first the next time', async () => {
    for (const queue of ['emails', 'imports', 'refunds']) await seedDeadMessages(1, { queue })
    const bodies: string[] = []
    const limits: number[] = []
    const post: JobCtx['alertPost']['post'] = async ({ body, timeoutMs }) => {
      bodies.push(JSON.parse(body).data.subject as string)
      limits.push(timeoutMs)
      return { ...answers(200), ...timesOut, retryAfter: null, text: null, isDelayed: false } as never
    }
    for (let minute = 0; minute < 3; minute++) await sweepAlarms(createAlertJob(Date.now() + minute * minuteMs, post))
    expect(bodies.toSorted()).toEqual(['emails', 'imports', 'refunds'])
    expect(Math.max(...limits)).toBeLessThanOrEqual(5000)
  })

  it('gets at most ten posts in a run', async () => {
    for (let queue = 0; queue < 25; queue++) await seedDeadMessages(1, { queue: `queue-${queue}` })
    const { posts } = startAlertReceiver()
    const minutes = createMinutes()
    await minutes.run()
    expect(posts).toHaveLength(10)
    await minutes.run(2)
    expect(posts).toHaveLength(25)
    await minutes.run(2)
    expect(posts).toHaveLength(25)
  })

  it('does not hear of an end any more after a day', async () => {
    startAlertReceiver(() => new Response(null, { status: 500 }))
    const minutes = createMinutes()
    await seedDeadMessages(1)
    await minutes.run()
    await retryAll()
    await minutes.run(12)
    expect(await listAlarms()).toMatchObject([{ ended_at: expect.any(String), notified_at: null }])
    minutes.state.now += 24 * 60 * minuteMs
    await minutes.run()
    expect(await loadAlarms()).toEqual([])
  })

  it.each([
    ['http://alerts.example.com/hook', /must begin with https/],
    ['https://user:word@alerts.example.com/hook', /user name or a password/],
    ['https://events.example.test/hook', /this service itself/],
  ])('because its address is %s is never posted to', async (url, reason) => {
    const { posts } = startAlertReceiver()
    const minutes = createMinutes({ ...alertBindings, ALERT_WEBHOOK_URL: url })
    await seedDeadMessages(1)
    await minutes.run()
    expect(posts).toEqual([])
    expect(await listAlarms()).toMatchObject([{ notification_error: expect.stringMatching(reason) }])
  })
})

describe('a crash', () => {
  it('at any moment loses no post, and repeats one only with the same webhook-id', async () => {
    for (let number = 1; ; number++) {
      await hasNoFault()
      const { posts } = startAlertReceiver()
      const start = Date.now()
      const sweep = async (minute: number, bindings: object = {}) => {
        setMachineTime(start + minute * minuteMs)
        const job = openJob({ ...env, ...alertBindings, ...bindings })
        await sweepAlarms({ ...job, now: () => start + minute * minuteMs })
      }
      await seedDeadMessages(2, { queue: 'refunds' })
      await seedDeadMessages(1, { queue: 'emails' })
      const crash = crashAt(number)
      await sweep(0, crash.bindings).catch(() => undefined)
      for (const minute of [1, 2, 3]) await sweep(minute)
      const counts = Map.groupBy(posts, ({ id }) => id)
      expect(counts.size).toBe(2)
      expect(posts.length).toBeLessThanOrEqual(3)
      await retryAll()
      const endCrash = crashAt(number)
      await sweep(4)
      await sweep(15, endCrash.bindings).catch(() => undefined)
      for (const minute of [16, 17, 18]) await sweep(minute)
      expect(posts.filter(({ type }) => type === 'alarm.ended').length).toBeLessThanOrEqual(3)
      expect(new Set(posts.map(({ id }) => id)).size).toBe(4)
      expect(await loadAlarms()).toEqual([])
      vi.mocked(globalThis.fetch).mockRestore()
      if (!crash.hasCrashed() && !endCrash.hasCrashed()) break
    }
  })

  it('of one of two sweeps that run at once leads to no second post by the other', async () => {
    const { posts } = startAlertReceiver()
    await seedDeadMessages(1)
    const open = () => createAlertJob(Date.now(), createAlertPost())
    await Promise.all([sweepAlarms(open()), sweepAlarms(open()), postAlarms(open())])
    expect(posts).toHaveLength(1)
    expect(await loadAlarms()).toHaveLength(1)
  })
})

describe('a sweep that hangs', () => {
  it('does not keep the alarms from being posted, and does not count as a run', async () => {
    const { listPosts } = startAlertReceiver()
    await seedSweepRuns({}, Date.now() - 11 * minuteMs)
    const end = Promise.withResolvers<void>()
    const job = createAlertJob(Date.now(), createAlertPost())
    const run = sweepAll(job, { sweeps: { refunds: () => end.promise }, hangsAfterMs: 1 })
    await expect.poll(listPosts).toEqual([['alarm.began', 'sweeps_late', '']])
    expect((await callWith({}, '/healthz', { token: null })).status).toBe(503)
    end.resolve()
    await run
    expect((await callWith({}, '/healthz', { token: null })).status).toBe(200)
  })
})

describe('/metrics', () => {
  it('has a sample for each alarm that stands, and the number of those that could not be posted', async () => {
    startAlertReceiver(() => new Response(null, { status: 500 }))
    await seedDeadMessages(1, { queue: 'refunds' })
    await createMinutes().run()
    const { text } = await callWith({ METRICS_TOKEN: 'the-token' }, '/metrics', { token: 'the-token' })
    expect(text).toContain('\necms_alarm{kind="dead_messages",subject="refunds",resource_id=""} 1\n')
    expect(text).toContain('\necms_alarms_unposted 1\n')
  })
})
