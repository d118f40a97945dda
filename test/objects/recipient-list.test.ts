import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { RecipientRow, RecipientsQuery } from '../../src/domain/campaigns/sender.ts'
import type { RecipientState } from '../../src/domain/campaigns/sending-policy.ts'
import { RecipientList } from '../../src/objects/campaign/recipient-list.ts'
import { everyone } from '../../src/objects/campaign/pack-store.ts'
import { RecipientStore } from '../../src/objects/campaign/recipient-store.ts'
import type { RecipientOutcome } from '../../src/objects/campaign/schema.ts'
import { freshId } from '../support/seeding/rows.ts'

const states = ['pending', 'sent', 'failed', 'skipped'] as const satisfies RecipientState[]
const firstPage = { sort: [], size: 50, skipped: 0, after: null }

function withStore(work: (store: RecipientStore) => Promise<void> | void): Promise<void> {
  const id = freshId('campaign')
  return runInDurableObject(env.CAMPAIGN_SENDER.get(env.CAMPAIGN_SENDER.idFromName(id)), async (_, state) => {
    const store = new RecipientStore(state.storage)
    store.open(id)
    await work(store)
  })
}

const add = (store: RecipientStore, first: number, many: number, skippedEach = 7) =>
  store.addRecipients(
    Array.from({ length: many }, (_, index) => ({
      n: first + index,
      user_id: `usr_${first + index}`,
      address: `a${first + index}@example.dk`,
      language: 'en',
      person: '{}',
      reason: (first + index) % skippedEach === 0 ? 'inactive' : null,
    })),
    'email',
  )

const sent: RecipientOutcome = { to: 'sent', provider_id: 'm', at: 5 }
const failed: RecipientOutcome = { to: 'failed', reason: 'unreachable', code: '', detail: '' }

const listRecipients = (store: RecipientStore, query: RecipientsQuery) => new RecipientList(store).page(query)

/** What the statements of pages of a list read, one after the other. */
function rowsOf(store: RecipientStore, ...queries: RecipientsQuery[]): number[] {
  let cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = []
  const exec = (text: string, ...values: SqlStorageValue[]) => {
    const cursor = store.storage.sql.exec(text, ...values)
    cursors.push(cursor)
    return cursor
  }
  const watched = new RecipientStore({ ...store.storage, sql: { exec } as unknown as SqlStorage })
  const list = new RecipientList(watched)
  return queries.map((query) => {
    cursors = []
    list.page(query)
    return cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0)
  })
}

it('counts the recipients of each state as they are, through outcomes, removals and later runs', () =>
  withStore(async (store) => {
    let next = 1
    const act = fc.oneof(
      fc.record({ act: fc.constant('add' as const), many: fc.integer({ min: 1, max: 30 }) }),
      fc.record({
        act: fc.constant('outcome' as const),
        numbers: fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 20 }),
        outcome: fc.constantFrom(sent, failed),
      }),
      fc.record({ act: fc.constant('remove' as const) }),
      fc.record({ act: fc.constant('reopen' as const) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 8 }), async (acts) => {
        for (const one of acts) {
          if (one.act === 'add') {
            add(store, next, one.many)
            next += one.many
          }
          if (one.act === 'outcome') store.recordOutcomes(new Map(one.numbers.map((n) => [n, one.outcome])), false)
          if (one.act === 'remove') store.removeUnsent(['unreachable'])
          if (one.act === 'reopen') store.reopen(['unreachable'])
        }
        const { sql } = store.storage
        for (const state of [undefined, ...states]) {
          const real = sql
            .exec<{ n: number }>(
              `select count(*) as n from ${everyone} where ? is null or state = ?`,
              state ?? null,
              state ?? null,
            )
            .one().n
          expect([state, listRecipients(store, { ...firstPage, state }).count]).toEqual([state, real])
        }
      }),
      { numRuns: 40 },
    )
  }))

it('reads few of many recipients for the first page, also of the few that failed or were skipped', () =>
  withStore((store) => {
    for (let first = 1; first < 9000; first += 1000) add(store, first, 1000, 400)
    store.recordOutcomes(new Map(Array.from({ length: 8000 }, (_, index) => [index + 1, sent] as const)), false)
    store.recordOutcomes(new Map([[8500, failed]]), false)
    const queries: Partial<RecipientsQuery>[] = [
      {},
      { state: 'sent' },
      { state: 'failed' },
      { state: 'skipped' },
      { reason: 'inactive' },
      { reason: 'unreachable', state: 'failed' },
    ]
    for (const query of queries) {
      const [rows = 0] = rowsOf(store, { ...firstPage, ...query })
      expect([query, rows < 300]).toEqual([query, true])
    }
  }))

const servedByNoIndex: Partial<RecipientsQuery>[] = [
  { engagement: 'opened' },
  { engagement: 'not_opened' },
  { engagement: 'clicked', state: 'sent' },
  { sort: [{ by: 'address', desc: true }] },
  { sort: [{ by: 'sent_at', desc: false }] },
  { state: 'pending', sort: [{ by: 'address', desc: false }] },
]

it('reads all recipients of a campaign that is over once for many pages that no index serves', () =>
  withStore((store) => {
    for (let first = 1; first < 9000; first += 1000) add(store, first, 1000, 400)
    store.recordOutcomes(new Map(Array.from({ length: 8000 }, (_, index) => [index + 1, sent] as const)), false)
    store.stamp(Array.from({ length: 400 }, (_, index) => ({ n: index * 7 + 1, type: 'clicked', at: 10_000 })))
    for (const query of servedByNoIndex) {
      const begin = { ...firstPage, ...query }
      const [first = 0] = rowsOf(store, begin)
      expect([query, first > 900]).toEqual([query, true])
      const { after } = listRecipients(store, begin)
      // Each is asked of an object that has just come into memory.
      const others = [begin, { ...begin, after }, { ...begin, skipped: 350 }].flatMap((one) => rowsOf(store, one))
      expect([query, others.filter((rows) => rows > 200)]).toEqual([query, []])
    }
    // An opening changes lists of an engagement alone.
    store.stamp([{ n: 3, type: 'opened', at: 20_000 }])
    const again = servedByNoIndex.map((query) => [query, (rowsOf(store, { ...firstPage, ...query })[0] ?? 0) > 900])
    expect(again).toEqual(servedByNoIndex.map((query) => [query, query.engagement !== undefined]))
    // While it is sent, the list changes all the time.
    store.change({ status: 'sending' })
    const [, second = 0] = rowsOf(store, { ...firstPage, engagement: 'opened' }, { ...firstPage, engagement: 'opened' })
    expect(second).toBeGreaterThan(8000)
  }))

it('lists what the recipients are now, in the order of now, whatever was listed before', () =>
  withStore((store) => {
    add(store, 1, 120)
    store.recordOutcomes(new Map(Array.from({ length: 80 }, (_, index) => [index + 1, sent] as const)), false)
    const list = new RecipientList(store)
    /** While a campaign is sent, each list is read as it is. */
    const readNow = (...queries: RecipientsQuery[]) => {
      store.change({ status: 'sending' })
      const pages = queries.map((query) => listRecipients(store, query))
      store.change({ status: 'sent' })
      return pages
    }
    const expectNow = () => {
      for (const query of servedByNoIndex) {
        const asked = { ...firstPage, ...query, size: 11 }
        const page = list.page(asked)
        const further = { ...asked, after: page.after }
        expect([page, list.page(further)]).toEqual(readNow(asked, further))
      }
    }
    expectNow()
    const opened = { ...firstPage, engagement: 'opened' as const }
    expect(list.page(opened).count).toBe(0)
    store.stamp([{ n: 5, type: 'clicked', at: 10_000 }])
    expect(list.page(opened).count).toBe(1)
    expectNow()
    store.recordOutcomes(new Map([[90, sent]]), false)
    store.recordOutcomes(new Map([[95, failed]]), false)
    expectNow()
    // The row before the page moves to the end, and the page begins where it was.
    const byAddress = { ...firstPage, sort: [{ by: 'address' as const, desc: false }] }
    const { rows, after } = list.page({ ...byAddress, size: 11 })
    const [last] = rows.slice(-1)
    store.storage.sql.exec("update recipients set address = 'zz' where n = ?", last?.n ?? 0)
    const whole = listRecipients(store, { ...byAddress, size: 1000 }).rows
    expect(list.page({ ...byAddress, size: 11, after }).rows).toEqual(whole.slice(10, 21))
  }))

it('reads again after another database took the place of the first', () =>
  withStore(async (store) => {
    const list = new RecipientList(store)
    const query = { ...firstPage, sort: [{ by: 'address' as const, desc: false }] }
    const filled = (first: number) => {
      store.open('campaign')
      add(store, first, 3)
      return list.page(query).rows.map(({ n }) => n)
    }
    await store.storage.deleteAll()
    store.createTables()
    expect(filled(1)).toEqual([1, 2, 3])
    await store.storage.deleteAll()
    store.createTables()
    expect(filled(4)).toEqual([4, 5, 6])
  }))

it('lists everyone once in any order, with those who wait, by cursors and by numbers of pages', () =>
  withStore((store) => {
    add(store, 1, 130, 9)
    add(store, 200, 120, 11)
    // The numbers of some packs are in rows now, before and between those that wait.
    for (const [n, outcome] of [
      [3, sent],
      [60, sent],
      [210, failed],
    ] as const)
      store.recordOutcomes(new Map([[n, outcome]]), false)
    const list = new RecipientList(store)
    for (const state of [undefined, 'pending'] as const)
      for (const by of ['n', 'address'] as const)
        for (const desc of [false, true]) {
          const query = { state, sort: [{ by, desc }], size: 7 }
          const all = list.page({ ...query, size: 1000, skipped: 0, after: null }).rows
          const compared = (one: RecipientRow, other: RecipientRow) => (one[by] < other[by] ? -1 : 1) * (desc ? -1 : 1)
          expect(all).toEqual(all.toSorted(compared))
          expect(new Set(all.map(({ n }) => n)).size).toBe(state ? 225 - 3 : 250)
          const found: RecipientRow[] = []
          for (let after: RecipientsQuery['after'] = null, skipped = 0; skipped < all.length; skipped += 7) {
            const page = list.page({ ...query, skipped, after })
            expect(list.page({ ...query, skipped, after: null })).toEqual(page)
            found.push(...page.rows)
            after = page.after
          }
          expect(found).toEqual(all)
          expect(store.recipients(all.map(({ n }) => n))).toEqual(all.toSorted((one, other) => one.n - other.n))
        }
  }))

it('reads few packs for a page of those who wait, and the rows of those who were skipped', () =>
  withStore((store) => {
    for (let first = 1; first < 4000; first += 1000) add(store, first, 1000, 400)
    const queries = [{}, { skipped: 50 }, { after: [2000] }, { sort: [{ by: 'n' as const, desc: true }] }]
    const counts = queries.flatMap((query) => rowsOf(store, { ...firstPage, state: 'pending', ...query }))
    expect(
      counts.every((rows) => rows < 20),
      String(counts),
    ).toBe(true)
  }))
