import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { maxClicksPerPerson } from '../../src/domain/campaigns/link-counts.ts'
import type { RecipientEvent } from '../../src/domain/campaigns/recipient-events.ts'
import type { RecipientRow } from '../../src/domain/campaigns/sender.ts'
import { failReasons } from '../../src/domain/campaigns/sending-policy.ts'
import {
  type TimelineInterval,
  timelineIntervals,
  type TimelineName,
  timelineNames,
} from '../../src/domain/campaigns/timeline.ts'
import { minuteMs } from '../../src/domain/time/instants.ts'
import { LinkStore } from '../../src/objects/campaign/link-store.ts'
import type { RecipientStore } from '../../src/objects/campaign/recipient-store.ts'
import { TimelineStore } from '../../src/objects/campaign/timeline-store.ts'
import { dearRuns } from '../support/property-runs.ts'
import { addPeople, withStore } from '../support/recipient-lists.ts'

const people = 12

/** Times around changes of clocks, of which some are at midnight or by half an hour, and one skips a whole day. */
const zones: [string, string][] = [
  ['UTC', '2026-03-29T01:00Z'],
  ['Europe/Copenhagen', '2026-03-29T01:00Z'],
  ['Europe/Copenhagen', '2026-10-25T01:00Z'],
  ['Asia/Kolkata', '2026-06-01T18:30Z'],
  ['Asia/Kathmandu', '2026-06-01T18:15Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30Z'],
  ['America/Sao_Paulo', '2018-02-18T02:00Z'],
  ['America/Sao_Paulo', '2018-11-04T03:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00Z'],
]

const stampByName: Record<TimelineName, keyof RecipientRow> = {
  sent: 'sent_at',
  delivered: 'delivered_at',
  opened: 'opened_at',
  clicked: 'clicked_at',
  bounced: 'bounced_at',
  unsubscribed: 'unsubscribed_at',
}

const listRows = ({ storage }: RecipientStore): RecipientRow[] =>
  storage.sql.exec('select * from recipients').toArray() as unknown as RecipientRow[]

/** Names the bucket of an instant by what a wall clock shows. */
function nameBucket(timeZone: string, interval: TimelineInterval, at: number): string {
  const formatter = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
  })
  const offset = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'longOffset' })
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value
  const text = formatter.format(at)
  return interval === 'day' ? text.slice(0, 10) : `${text.slice(0, interval === 'hour' ? 13 : 16)} ${offset}`
}

function expectTimelines(store: RecipientStore, timezone: string, from: number | null, to: number | null): void {
  const rows = listRows(store)
  const isCounted = (at: number) => (from === null || at >= from) && (to === null || at < to)
  for (const interval of timelineIntervals) {
    const counts = new Map<string, number>()
    for (const row of rows)
      for (const name of timelineNames) {
        const at = row[stampByName[name]] as number | null
        if (at === null || !isCounted(at)) continue
        const key = `${nameBucket(timezone, interval, at)} ${name}`
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
    const { is_complete, buckets } = store.timeline.read({ timezone, interval, from, to })
    expect(is_complete).toBe(true)
    const starts = buckets.map(({ start }) => Date.parse(start))
    expect(starts).toEqual(starts.toSorted((a, b) => a - b))
    const bucketCounts = buckets.flatMap((bucket) => {
      const start = Date.parse(bucket.start)
      const name = nameBucket(timezone, interval, start)
      // The minute before belongs to another bucket.
      expect([bucket.start, nameBucket(timezone, interval, start - minuteMs)]).not.toEqual([bucket.start, name])
      return timelineNames
        .filter((one) => bucket[one] > 0)
        .map((one): [string, number] => [`${name} ${one}`, bucket[one]])
    })
    expect(bucketCounts.toSorted()).toEqual([...counts].toSorted())
  }
}

function expectCounters(store: RecipientStore): void {
  const record = store.readRecord()
  const rows = listRows(store)
  for (const reason of failReasons)
    expect([reason, record?.[reason]]).toEqual([
      reason,
      rows.filter((row) => row.state === 'failed' && row.reason === reason).length,
    ])
  const { buckets } = store.timeline.read({ timezone: 'UTC', interval: 'day', from: null, to: null })
  for (const name of timelineNames)
    expect([name, buckets.reduce((sum, bucket) => sum + bucket[name], 0)]).toEqual([name, record?.[name]])
}

const offset = fc.integer({ min: -2160, max: 2160 }).map((minutes) => minutes * minuteMs + (minutes % 60_000))
const someone = fc.integer({ min: 1, max: people })

const act = fc.oneof(
  fc.record({ act: fc.constant('sent' as const), n: someone, at: offset, isDelivered: fc.boolean() }),
  fc.record({ act: fc.constant('failed' as const), n: someone, reason: fc.constantFrom(...failReasons) }),
  fc.record({
    act: fc.constant('event' as const),
    n: someone,
    at: offset,
    type: fc.constantFrom(
      ...(['delivered', 'opened', 'machine_opened', 'clicked', 'bounced', 'unsubscribed'] as const),
    ),
  }),
  fc.record({ act: fc.constant('erase' as const), n: someone }),
  fc.record({ act: fc.constantFrom('reopen' as const, 'remove' as const, 'fault' as const) }),
)
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never

function take(store: RecipientStore, one: Act, around: number): void {
  switch (one.act) {
    case 'sent':
      return store.recordOutcomes(
        new Map([[one.n, { to: 'sent', provider_id: null, at: around + one.at }]]),
        one.isDelivered,
      )
    case 'failed':
      return store.recordOutcomes(new Map([[one.n, { to: 'failed', reason: one.reason, code: '', detail: '' }]]), false)
    case 'event': {
      const event = { n: one.n, type: one.type, at: around + one.at }
      // The object stores first that the message was sent. Events are repeated, and an earlier one may come later.
      store.recordOutcomes(new Map([[one.n, { to: 'sent', provider_id: null, at: event.at }]]), false)
      return void store.stampEvents([event, { ...event, at: event.at - 90 * minuteMs }, event])
    }
    case 'erase':
      return void store.erase(one.n)
    case 'reopen':
      return store.reopen(['unreachable', 'rate_limited'])
    case 'remove':
      store.removeUnsent(['unreachable', 'rate_limited'])
      return addPeople(store, 1, people)
    case 'fault':
      return expect(() =>
        store.transaction(() => {
          take(store, { act: 'event', n: 1, at: 0, type: 'clicked' }, around)
          throw new Error('a fault')
        }),
      ).toThrow('a fault')
  }
}

it('the timeline of a campaign has what the stamps of its recipients say, in any zone and after any change', () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...zones),
      fc.array(act, { minLength: 1, maxLength: 40 }),
      fc.tuple(fc.option(offset), fc.option(offset)),
      ([timezone, change], acts, [from, to]) =>
        withStore((store) => {
          const around = Date.parse(change)
          addPeople(store, 1, people)
          for (const one of acts) {
            take(store, one, around)
            expectCounters(store)
          }
          const toBound = (one: number | null) =>
            one === null ? null : Math.floor((around + one) / minuteMs) * minuteMs
          expectTimelines(store, timezone, null, null)
          expectTimelines(store, timezone, toBound(from), toBound(to))
        }),
    ),
    { numRuns: dearRuns(60, 12) },
  ))

it('a timeline of a provider whose clock is far off has every event', () =>
  withStore((store) => {
    addPeople(store, 1, 3)
    for (const [n, at] of [
      [1, -8_000_000_000_000],
      [2, 0],
      [3, 8_000_000_000_000],
    ] as const)
      store.recordOutcomes(new Map([[n, { to: 'sent', provider_id: null, at }]]), false)
    expectCounters(store)
  }))

interface Visit {
  n: number
  link: number
  at: number
  isMachine: boolean
}

const visit: fc.Arbitrary<Visit> = fc.record({
  n: someone,
  link: fc.integer({ min: 0, max: 3 }),
  at: fc.integer({ min: 0, max: 60 }),
  isMachine: fc.boolean(),
})

it('the counts of a link have each click once, however often, in whichever order and batches they are reported', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.array(visit, { maxLength: 12 }), { maxLength: 8 }), fc.nat(), (batches, order) =>
      withStore((store) => {
        const sentAt = 1_000_000
        addPeople(store, 1, people)
        const everyone = Array.from({ length: people }, (_, index) => index + 1)
        store.recordOutcomes(new Map(everyone.map((n) => [n, { to: 'sent', provider_id: null, at: sentAt }])), false)
        const report = (visits: readonly Visit[]) =>
          store.transaction(() =>
            store.stampEvents(
              visits.map(({ n, link, at, isMachine }): RecipientEvent => ({
                n,
                link,
                type: isMachine ? 'machine_opened' : 'clicked',
                at: sentAt + at * 1000,
                is_visit: true,
              })),
            ),
          )
        for (const batch of batches) report(batch)
        report(batches.flat().toReversed())
        if (batches.length) report(batches[order % batches.length] ?? [])
        // A visit within two seconds is a program's, as for the statistics.
        const all = batches.flat().map((one) => ({ ...one, isMachine: one.isMachine || one.at < 2 }))
        const counts = [0, 1, 2, 3].flatMap((link) => {
          const visits = all.filter((one) => one.link === link)
          const clicks = new Set(visits.filter((one) => !one.isMachine).map(({ n, at }) => `${n} ${at}`))
          const machines = new Set(visits.filter((one) => one.isMachine).map(({ n }) => n))
          const persons = new Set([...clicks].map((key) => key.split(' ')[0]))
          return visits.length
            ? [{ link, clicks: clicks.size, people: persons.size, machine_clicked: machines.size }]
            : []
        })
        expect(store.links.listCounts()).toEqual(counts)
        const clickers = new Set(all.filter((one) => !one.isMachine).map(({ n }) => n))
        expect(store.readRecord()?.clicked).toBe(clickers.size)
        for (const n of everyone) store.erase(n)
        expect(store.links.listCounts()).toEqual(counts)
      }),
    ),
    { numRuns: dearRuns(80, 20) },
  ))

it('a recipient who clicks without end stores few clicks', () =>
  withStore((store) => {
    addPeople(store, 1, 1)
    store.recordOutcomes(new Map([[1, { to: 'sent', provider_id: null, at: 0 }]]), false)
    const clicks = Array.from({ length: 500 }, (_, index) => ({ link: 0, n: 1, at: 10_000 + index }))
    for (const click of [...clicks, ...clicks]) store.links.record([click])
    store.links.record(clicks)
    const counts = { link: 0, clicks: maxClicksPerPerson, people: 1, machine_clicked: 0 }
    expect(store.links.listCounts()).toEqual([counts])
    const [row] = store.storage.sql.exec<{ bytes: number }>('select length(times) as bytes from link_clicks').toArray()
    expect(row?.bytes).toBeLessThan(20 * maxClicksPerPerson)
  }))

it('a timeline and the counts of links read few rows, however many recipients there are', () =>
  withStore((store) => {
    const count = 600
    const everyone = Array.from({ length: count }, (_, index) => index + 1)
    addPeople(store, 1, count, count + 1)
    store.recordOutcomes(new Map(everyone.map((n) => [n, { to: 'sent', provider_id: null, at: n % 60_000 }])), true)
    store.stampEvents(everyone.map((n) => ({ n, link: n % 3, type: 'clicked', at: 90_000, is_visit: true })))
    const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = []
    const exec = (query: string, ...values: SqlStorageValue[]) => {
      const cursor = store.storage.sql.exec(query, ...values)
      cursors.push(cursor)
      return cursor
    }
    const sql = { exec } as unknown as SqlStorage
    const { buckets } = new TimelineStore(sql).read({ timezone: 'UTC', interval: 'minute', from: null, to: null })
    expect(buckets).toHaveLength(2)
    const links = new LinkStore(sql).listCounts()
    expect(links.map(({ people: clickers }) => clickers)).toEqual([200, 200, 200])
    expect(cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0)).toBeLessThan(30)
  }))
