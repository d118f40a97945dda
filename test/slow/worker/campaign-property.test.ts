import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Ctx } from '../../../src/context.ts'
import { type Counters, counterNames, countPending } from '../../../src/domain/campaigns/counters.ts'
import { campaignLifecycle, isRunning } from '../../../src/domain/campaigns/lifecycle.ts'
import type { RecipientEvent } from '../../../src/domain/campaigns/recipient-events.ts'
import { type SendWindow, findWindowState, weekdays } from '../../../src/domain/campaigns/send-window.ts'
import type { RecipientRow, RecipientsQuery } from '../../../src/domain/campaigns/sender.ts'
import { failReasons } from '../../../src/domain/campaigns/sending-policy.ts'
import { timelineIntervals, timelineNames } from '../../../src/domain/campaigns/timeline.ts'
import { AppError } from '../../../src/domain/errors.ts'
import { pauseCampaign, resumeCampaign } from '../../../src/modules/campaigns/pause/pause.ts'
import { findCampaign, type LoadedCampaign } from '../../../src/modules/campaigns/queries.ts'
import {
  cancelCampaign,
  retryFailedCampaignRecipients,
  sendCampaignNow,
} from '../../../src/modules/campaigns/transitions.ts'
import { updateCampaign } from '../../../src/modules/campaigns/update.ts'
import { type Conduct, conducts, type Engine, withEngine } from '../../support/campaign-engine.ts'
import { loadCampaign } from '../../support/campaigns.ts'
import { computePage, readPage, recipientsQuery } from '../../support/recipient-lists.ts'
import { type Crowd, seedCampaigns, seedCrowd, seedReady } from '../../support/seeding/messaging/campaigns.ts'
import { write } from '../../support/seeding/rows.ts'

const people = 33
const numRuns = 15
const second = 1000
const hour = 3_600_000
const zone = 'Europe/Copenhagen'
/** Today, and the evenings before clocks change. */
const starts = [null, Date.parse('2027-03-27T20:00:00Z'), Date.parse('2027-10-30T20:00:00Z')]
const everything = { timezone: 'Asia/Kathmandu', from: null, to: null }

let crowd: Crowd
let segment: string
let message: string
beforeAll(async () => {
  crowd = await seedCrowd(people)
  const ready = await seedReady(crowd)
  segment = ready.segment.id
  message = ready.message
})

type Step =
  | { do: 'alarm'; faults: number }
  | { do: 'consume'; consumers: number; conducts: Conduct[]; faults: number }
  | { do: 'wait'; ms: number }
  | { do: 'event'; type: RecipientEvent['type']; whom: number; ago: number }
  | { do: 'suppress'; whom: number }
  | { do: 'pause' | 'resume'; faults: number }
  | { do: 'set-window'; window: SendWindow | null; faults: number }
  | { do: 'deploy'; outgoing: 'send' | 'hold' }
  | { do: 'evict' | 'cancel' | 'retry' | 'send-now' }

const faults = fc.constantFrom(0, 0, 0, 6, 20)
const clockTime = fc.constantFrom('00:00', '02:30', '03:00', '09:00', '21:15', '23:59')
const sendWindow: fc.Arbitrary<SendWindow> = fc
  .record({ days: fc.uniqueArray(fc.constantFrom(...weekdays), { minLength: 1 }), from: clockTime, to: clockTime })
  .filter(({ from, to }) => from !== to)

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('alarm' as const), faults }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('consume' as const),
      consumers: fc.integer({ min: 1, max: 2 }),
      conducts: fc.array(fc.constantFrom(...conducts), { maxLength: 8 }),
      faults,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(second, 40 * second, 70 * second, hour, 3 * hour, 25 * hour),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('event' as const),
      type: fc.constantFrom(
        ...(['delivered', 'opened', 'clicked', 'bounced', 'complained', 'unsubscribed', 'accepted'] as const),
      ),
      whom: fc.nat(people),
      ago: fc.nat(60 * second),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('suppress' as const), whom: fc.nat(people - 1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('evict' as const, 'send-now' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('retry' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('deploy' as const), outgoing: fc.constantFrom('send', 'hold') }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pause' as const), faults }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('resume' as const), faults }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('set-window' as const), window: fc.option(sendWindow), faults }),
  },
)

const suppress = (address: string) =>
  write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
    values (${crowd.organization}, 'email', ${address}, 'hard_bounce', 1) on conflict do nothing`)

type Verb = (ctx: Ctx, campaign: LoadedCampaign) => Promise<unknown>

const verbs = {
  cancel: cancelCampaign,
  retry: retryFailedCampaignRecipients,
  'send-now': sendCampaignNow,
  pause: pauseCampaign,
  resume: resumeCampaign,
} satisfies Record<string, Verb>

/** The state that a client knows who asked for pauses and windows. Undefined: the answer was lost. */
interface Wishes {
  isPaused: boolean | undefined
  outgoing: 'send' | 'hold' | undefined
  window: SendWindow | null | undefined
}

/** Returns whether the verb answered, and null when it was refused. */
async function ask(engine: Engine, verb: keyof typeof verbs | Verb): Promise<boolean | null> {
  const { ctx } = engine
  const call: Verb = typeof verb === 'string' ? verbs[verb] : verb
  const hasAnswered = await findCampaign(ctx, engine.campaignId)
    .then((campaign) => call(ctx, campaign))
    .then(
      () => true,
      (error: unknown) => (error instanceof AppError ? null : false),
    )
  await engine.afterCommits()
  return hasAnswered
}

/** Asks for a pause or a window, as a client would who notes what was answered. */
async function wish(engine: Engine, verb: 'pause' | 'resume' | Verb, wishes: Wishes, wished: Partial<Wishes>) {
  const hasAnswered = await ask(engine, verb)
  const names = Object.keys(wished) as (keyof Wishes)[]
  if (hasAnswered === true) Object.assign(wishes, wished)
  if (hasAnswered === false) for (const name of names) wishes[name] = undefined
}

async function take(engine: Engine, one: Step, wishes: Wishes): Promise<void> {
  switch (one.do) {
    case 'alarm':
      engine.faultEvery = one.faults
      await engine.alarm()
      // The platform wakes the object again after a crash.
      if (isRunning(engine.store.readRecord()?.status ?? '') && engine.store.readRecord()?.paused_at === null)
        expect(engine.alarmAt).not.toBeNull()
      break
    case 'pause':
    case 'resume':
      engine.faultEvery = one.faults
      await wish(engine, one.do, wishes, { isPaused: one.do === 'pause' })
      break
    case 'set-window': {
      const { window } = one
      engine.faultEvery = one.faults
      const change: Verb = (ctx, campaign) =>
        updateCampaign(ctx, campaign, { send_window: window && { ...window, days: [...window.days] } })
      await wish(engine, change, wishes, { window })
      break
    }
    case 'consume':
      engine.faultEvery = one.faults
      engine.provider.script = [...one.conducts]
      await engine.consume(one.consumers)
      engine.provider.script = []
      break
    case 'wait':
      engine.now += one.ms
      break
    case 'event': {
      // Recipients react to messages that arrived, and the provider reports it at any time.
      const arrived = [...engine.provider.reached.keys()].toSorted((a, b) => a - b)
      const n = arrived[one.whom % Math.max(1, arrived.length)]
      const event = { n: n ?? 0, type: one.type, at: engine.now - one.ago }
      // Each event is reported twice, and an earlier open comes after the later one.
      if (n !== undefined) await engine.object.applyEvents([event, { ...event, at: event.at - second }, event])
      break
    }
    case 'suppress':
      await suppress(crowd.people[one.whom]?.email ?? '')
      break
    case 'evict':
      engine.evict()
      break
    case 'deploy':
      wishes.outgoing = one.outgoing
      engine.deploy(one.outgoing)
      break
    default:
      // A new run is not paused.
      if ((await ask(engine, one.do)) !== null && one.do !== 'cancel') wishes.isPaused = false
  }
  engine.faultEvery = 0
}

const stampOf = {
  delivered: 'delivered_at',
  opened: 'opened_at',
  machine_opened: 'machine_opened_at',
  clicked: 'clicked_at',
  bounced: 'bounced_at',
  complained: 'complained_at',
  unsubscribed: 'unsubscribed_at',
} as const

const listRecipients = (engine: Engine): RecipientRow[] =>
  engine.storage.sql.exec('select * from recipients order by n').toArray() as unknown as RecipientRow[]

function recount(rows: readonly RecipientRow[]): Counters {
  const among = (state: string) => rows.filter((row) => row.state === state).length
  const stamped = Object.fromEntries(
    Object.entries(stampOf).map(([name, stamp]) => [name, rows.filter((row) => row[stamp] !== null).length]),
  )
  const total = rows.length - among('skipped')
  const failed = Object.fromEntries(
    failReasons.map((reason) => [reason, rows.filter((row) => row.state === 'failed' && row.reason === reason).length]),
  )
  return {
    ...stamped,
    ...failed,
    total,
    sent: among('sent'),
    failed: among('failed'),
    skipped: among('skipped'),
  } as Counters
}

function sumBuckets({ store, campaignId }: Engine): Record<string, number> {
  const intervals = timelineIntervals.map((interval) => {
    const { is_complete, buckets } = store.timeline.read({ ...everything, interval })
    expect([campaignId, is_complete]).toEqual([campaignId, true])
    return Object.fromEntries(
      timelineNames.map((name) => [name, buckets.reduce((sum, bucket) => sum + bucket[name], 0)]),
    )
  })
  expect(intervals[1]).toEqual(intervals[0])
  expect(intervals[2]).toEqual(intervals[0])
  return intervals[0] ?? {}
}

/** Checks what must hold at every moment: the sums add up, and no recipient got the message twice. */
function check(engine: Engine): void {
  const record = engine.store.readRecord()
  if (!record) return
  const rows = listRecipients(engine)
  const counters = Object.fromEntries(counterNames.map((name) => [name, record[name]]))
  expect(counters).toEqual(recount(rows))
  expect(failReasons.reduce((sum, reason) => sum + record[reason], 0)).toBe(record.failed)
  expect(sumBuckets(engine)).toEqual(Object.fromEntries(timelineNames.map((name) => [name, record[name]])))
  expect(countPending(record)).toBe(rows.filter(({ state }) => state === 'pending').length)
  for (const [n, times] of engine.provider.reached) expect([n, times]).toEqual([n, 1])
  for (const { n, state, reason } of rows) {
    const reached = engine.provider.reached.has(n)
    if (state === 'sent') expect([n, state, reached]).toEqual([n, 'sent', true])
    if (state === 'skipped' || (state === 'failed' && reason !== 'unknown'))
      expect([n, state, reason, reached]).toEqual([n, state, reason, false])
  }
  expect(campaignLifecycle.states).toContain(record.status)
  if (record.status === 'sent') expect(record.sent).toBeGreaterThan(0)
  if (record.status === 'sent') expect(countPending(record)).toBe(0)
}

/** Each page has the matching recipients in their order, and so has the next page. */
function checkList({ storage }: Engine, query: RecipientsQuery): void {
  const page = readPage(storage.sql, query)
  expect([query, page]).toEqual([query, computePage(storage.sql, query)])
  if (!page?.after) return
  const next = { ...query, page: { ...query.page, page: query.page.page + 1, after: page.after } }
  expect([next, readPage(storage.sql, next)]).toEqual([next, computePage(storage.sql, next)])
}

/** Without further faults, and once it is released and resumed, the campaign must end with no pending recipient. */
async function runToEnd(engine: Engine, wishes: Wishes): Promise<void> {
  wishes.outgoing = 'send'
  engine.deploy('send')
  await wish(engine, 'resume', wishes, { isPaused: false })
  for (let turn = 0; turn < 60; turn++) {
    await engine.alarm()
    await engine.consume(1)
    engine.now += turn % 3 === 2 ? 130 * second : 11 * second
    // A campaign outside its window goes on by its own alarm.
    if (engine.store.readRecord()?.window_opens_at) engine.now = Math.max(engine.now, engine.alarmAt ?? 0)
    check(engine)
    const row = await loadCampaign(engine.campaignId)
    if (!isRunning(row.status) && !isRunning(engine.store.readRecord()?.status ?? '')) {
      if (row.status !== 'failed' || turn > 40) break
      await ask(engine, 'send-now')
    }
  }
  engine.now += 3 * 60 * second
  await engine.alarm()
  await engine.alarm()
}

function ends(deduplicates: boolean) {
  return fc.asyncProperty(
    fc.array(fc.tuple(step, fc.option(recipientsQuery)), { minLength: 4, maxLength: 22 }),
    fc.nat(),
    fc.boolean(),
    fc.constantFrom(...starts),
    async (steps, seed, isBegun, start) => {
      const now = start ?? Date.now()
      await write(sql`delete from suppressions where organization_id = ${crowd.organization}`)
      const [campaign] = await seedCampaigns(crowd, segment, 1, { email_message_id: message, scheduled_at: null })
      const campaignId = campaign?.id ?? ''
      let state = seed + 1
      const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
      const wishes: Wishes = { isPaused: false, outgoing: 'send', window: null }
      await withEngine(campaignId, { deduplicates, random, now }, async (engine) => {
        const wrongClaims: unknown[] = []
        engine.onClaim = () => {
          const { isPaused, outgoing, window } = wishes
          const isOpen = !window || findWindowState(window, zone, engine.now).isOpen
          if (isPaused || outgoing === 'hold' || !isOpen)
            wrongClaims.push({ isPaused, outgoing, window, at: new Date(engine.now) })
        }
        await ask(engine, 'send-now')
        if (isBegun) await engine.alarm()
        let revision = 0
        for (const [nextStep, query] of steps) {
          await take(engine, nextStep, wishes)
          check(engine)
          expect(wrongClaims).toEqual([])
          if (query && engine.store.readRecord()) checkList(engine, query)
          const row = await loadCampaign(campaignId)
          // A new run starts its counters again, and within a run the row never goes back.
          if (row.revision < revision) expect(row.revision).toBeGreaterThanOrEqual(revision)
          revision = row.revision
        }
        await runToEnd(engine, wishes)
        check(engine)
        expect(wrongClaims).toEqual([])
        const record = engine.store.readRecord()
        const row = await loadCampaign(campaignId)
        expect(isRunning(row.status), `${row.status} at the end`).toBe(false)
        expect(row).toMatchObject({
          status: record?.status,
          total_recipients: record?.total,
          sent_count: record?.sent,
          failed_count: record?.failed,
          opened_count: record?.opened,
          paused_at: null,
          window_opens_at: null,
        })
        if (row.status === 'cancelled') return
        expect(listRecipients(engine).length).toBe(people)
        expect(listRecipients(engine).filter(({ state: one }) => one === 'pending')).toEqual([])
      })
    },
  )
}

describe('a campaign under random faults', () => {
  it('sends to each recipient exactly once when the provider deduplicates by key', async () => {
    await fc.assert(ends(true), { numRuns })
  })

  it('sends to each recipient at most once and accounts for all when the provider does not deduplicate', async () => {
    await fc.assert(ends(false), { numRuns })
  })
})
