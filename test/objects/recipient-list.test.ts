import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { pendingOf } from '../../src/domain/campaigns/counters.ts'
import type { RecipientRow, RecipientsQuery } from '../../src/domain/campaigns/sender.ts'
import { recipientStates } from '../../src/domain/campaigns/sending-policy.ts'
import { eraseRecipient } from '../../src/objects/campaign/erasure.ts'
import { RecipientList } from '../../src/objects/campaign/recipient-list.ts'
import { RecipientStore } from '../../src/objects/campaign/recipient-store.ts'
import type { RecipientOutcome } from '../../src/objects/campaign/schema.ts'
import { addPeople, pageBySql, recipientsQuery, withStore } from '../support/recipient-lists.ts'

const firstPage = { sort: [], size: 50, skipped: 0, after: null }

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

const whole: RecipientsQuery = {
  ...firstPage,
  size: 1000,
  sort: [
    { by: 'address', desc: false },
    { by: 'sent_at', desc: true },
  ],
}

const numbers = fc.array(fc.integer({ min: 1, max: 150 }), { minLength: 1, maxLength: 20 })

const act = fc.oneof(
  fc.record({
    act: fc.constant('add' as const),
    first: fc.integer({ min: 1, max: 120 }),
    many: fc.integer({ min: 1, max: 30 }),
  }),
  fc.record({
    act: fc.constant('outcome' as const),
    numbers,
    outcome: fc.oneof(
      fc.integer({ min: 1, max: 3 }).map((at): RecipientOutcome => ({ to: 'sent', provider_id: 'm', at })),
      fc.constantFrom(
        failed,
        { ...failed, reason: 'unknown' } satisfies RecipientOutcome,
        { to: 'skipped', reason: 'bounced', code: '', detail: '' } satisfies RecipientOutcome,
      ),
    ),
    delivered: fc.boolean(),
  }),
  fc.record({
    act: fc.constant('stamp' as const),
    numbers,
    type: fc.constantFrom('delivered', 'opened', 'machine_opened', 'clicked', 'bounced', 'complained', 'unsubscribed'),
  }),
  fc.record({ act: fc.constant('erase' as const), numbers }),
  fc.record({
    act: fc.constantFrom('remove' as const, 'reopen' as const, 'reopen' as const, 'forget' as const),
  }),
)

function take(store: RecipientStore, one: typeof act extends fc.Arbitrary<infer Act> ? Act : never): void {
  switch (one.act) {
    case 'add':
      return addPeople(store, one.first, one.many, 7)
    case 'outcome':
      return store.recordOutcomes(new Map(one.numbers.map((n) => [n, one.outcome])), one.delivered)
    case 'stamp': {
      const events = one.numbers.map((n) => ({ n, type: one.type, at: 10_000 }))
      // The object records first that the messages were sent.
      store.recordOutcomes(new Map(one.numbers.map((n) => [n, sent])), false)
      return void store.stamp(events)
    }
    case 'erase':
      return one.numbers.forEach((n) => void eraseRecipient(store, n))
    case 'remove':
      return store.removeUnsent(['unreachable'])
    case 'reopen':
      return store.reopen(['unreachable'])
    case 'forget':
      return expect(() =>
        store.transaction(() => {
          addPeople(store, 1, 150)
          store.recordOutcomes(new Map([[3, sent]]), false)
          throw new Error('a fault')
        }),
      ).toThrow('a fault')
  }
}

it('lists what SQL finds among all recipients, by any filter and order, whatever becomes of them and of the row before', () =>
  withStore(async (store) => {
    const { sql } = store.storage
    const steps = fc.array(fc.tuple(act, recipientsQuery), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), async (all, isBegun) => {
        await store.storage.deleteAll()
        store.createTables()
        store.open('campaign')
        // As the object does at the beginning of a run.
        if (isBegun) store.removeUnsent([])
        addPeople(store, 30, 60)
        let cursor: RecipientsQuery | null = null
        for (const [one, query] of all) {
          take(store, one)
          // The object comes into memory anew.
          const list = new RecipientList(new RecipientStore(store.storage))
          if (cursor) expect([cursor, list.page(cursor)]).toEqual([cursor, pageBySql(sql, cursor)])
          // Shared addresses count as one, and what was made for the step before is there.
          expect(list.page(whole)).toEqual(pageBySql(sql, whole))
          const page = list.page(query)
          expect([query, page]).toEqual([query, pageBySql(sql, query)])
          if (page.after) cursor = { ...query, after: page.after }
        }
        const record = store.record()
        const counters = {
          pending: record && pendingOf(record),
          sent: record?.sent,
          failed: record?.failed,
          skipped: record?.skipped,
        }
        for (const state of recipientStates)
          expect([state, listRecipients(store, { ...firstPage, state }).count]).toEqual([state, counters[state]])
      }),
      { numRuns: 100 },
    )
  }))

it('reads again after another database took the place of the first', () =>
  withStore(async (store) => {
    const list = new RecipientList(store)
    const query = { ...firstPage, sort: [{ by: 'address' as const, desc: false }] }
    const filled = (first: number) => {
      store.open('campaign')
      addPeople(store, first, 3)
      return list
        .page(query)
        .rows.map(({ n }) => n)
        .toSorted()
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
    addPeople(store, 1, 130, 9)
    addPeople(store, 200, 120, 11)
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
          expect(all).toEqual(pageBySql(store.storage.sql, { ...query, size: 1000, skipped: 0, after: null }).rows)
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

it('reads few rows of many recipients for any page, in every state, and writes none', () =>
  withStore((store) => {
    const people = 6000
    const filters: Partial<RecipientsQuery>[] = [
      {},
      ...recipientStates.map((state) => ({ state })),
      ...(['inactive', 'unreachable'] as const).map((reason) => ({ reason })),
      ...(['opened', 'not_clicked', 'bounced'] as const).map((engagement) => ({ engagement })),
      { state: 'sent', engagement: 'not_opened' },
    ]
    const [byAddress, bySentAt] = [
      { by: 'address', desc: true },
      { by: 'sent_at', desc: false },
    ] as const
    const orders: RecipientsQuery['sort'][] = [[], [bySentAt], [byAddress], [bySentAt, byAddress]]
    const expectFewRows = (moment: string, sorts: RecipientsQuery['sort'][] = orders) => {
      const written = () => store.storage.sql.exec<{ n: number }>('select total_changes() as n').one().n
      const before = written()
      for (const filter of filters)
        for (const sort of sorts) {
          const query = { ...firstPage, ...filter, sort }
          const { after, count } = listRecipients(store, query)
          const rows = rowsOf(store, query, { ...query, after }, { ...query, skipped: count >> 1 })
          expect([moment, query, rows.filter((read) => read > 450)]).toEqual([moment, query, []])
        }
      expect([moment, written()]).toEqual([moment, before])
    }
    const open = (count: number) => {
      for (let at = 0; at < count; at++) store.stamp([{ n: ((at * 7919) % people) + 1, type: 'clicked', at: 20_000 }])
    }
    store.removeUnsent([])
    for (let first = 1; first < people; first += 1000) addPeople(store, first, 1000, 40)
    expectFewRows('members are added', [[], [bySentAt]])
    // The alarm does so after the last member.
    store.prepareLists(true)
    expectFewRows('nobody has got it')
    for (let first = 1; first <= people; first += 100) {
      const chunk = Array.from({ length: 100 }, (_, index) => first + index).filter((n) => n % 40 !== 0)
      const outcomes = chunk.map((n): [number, RecipientOutcome] => [n, n % 97 === 0 ? failed : { ...sent, at: first }])
      store.recordOutcomes(new Map(outcomes), true)
      if (first === people / 2 + 1) expectFewRows('half have got it')
    }
    open(1)
    expectFewRows('one has opened it')
    open(600)
    eraseRecipient(store, 4711)
    expectFewRows('many have opened it, and one was erased')
    store.reopen(['unreachable'])
    expectFewRows('those who failed are tried again')
  }))
