import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { RecipientOutcome } from '../../../src/domain/campaigns/chunk-report.ts'
import { countPending } from '../../../src/domain/campaigns/counters.ts'
import type { RecipientRow, RecipientsQuery } from '../../../src/domain/campaigns/sender.ts'
import { recipientStates } from '../../../src/domain/campaigns/sending-policy.ts'
import { selectRecipients } from '../../../src/objects/campaign/recipient-list.ts'
import type { RecipientStore } from '../../../src/objects/campaign/recipient-store.ts'
import { addPeople, computePage, readPage, recipientsQuery, withStore } from '../../support/recipient-lists.ts'

const firstPage: RecipientsQuery = { ordering: [], page: { page: 1, size: 1000, after: null } }

const sent: RecipientOutcome = { to: 'sent', provider_id: 'm', at: 5 }
const failed: RecipientOutcome = { to: 'failed', reason: 'unreachable', code: '', detail: '' }

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
    act: fc.constantFrom('remove' as const, 'reopen' as const, 'reopen' as const, 'fault' as const),
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
      // The object stores first that the messages were sent.
      store.recordOutcomes(new Map(one.numbers.map((n) => [n, sent])), false)
      return void store.stampEvents(events)
    }
    case 'erase':
      return one.numbers.forEach((n) => void store.erase(n))
    case 'remove':
      return store.removeUnsent(['unreachable'])
    case 'reopen':
      return store.reopen(['unreachable'])
    case 'fault':
      return expect(() =>
        store.transaction(() => {
          addPeople(store, 1, 150)
          store.recordOutcomes(new Map([[3, sent]]), false)
          throw new Error('a fault')
        }),
      ).toThrow('a fault')
  }
}

it('the list of recipients has who matches any filter, in any ordering and after any change', () =>
  withStore(async (store) => {
    const { sql } = store.storage
    const expectPage = (query: RecipientsQuery) => {
      const page = readPage(sql, query)
      expect([query, page]).toEqual([query, computePage(sql, query)])
      return page
    }
    const steps = fc.array(fc.tuple(act, recipientsQuery), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        await store.storage.deleteAll()
        store.createTables()
        store.ensureRecord('campaign')
        addPeople(store, 30, 60)
        let cursor: RecipientsQuery | null = null
        for (const [step, query] of all) {
          take(store, step)
          if (cursor) expectPage(cursor)
          const after = expectPage(query)?.after
          if (after) cursor = { ...query, page: { ...query.page, after } }
        }
        const record = store.readRecord()
        const counters = {
          pending: record && countPending(record),
          sent: record?.sent,
          failed: record?.failed,
          skipped: record?.skipped,
        }
        for (const state of recipientStates)
          expect([state, selectRecipients(sql, { ...firstPage, state }).count]).toEqual([state, counters[state]])
      }),
      { numRuns: 100 },
    )
  }))

it('the list of recipients has everyone once in any ordering, by cursor and by page number', () =>
  withStore((store) => {
    const { sql } = store.storage
    addPeople(store, 1, 130, 9)
    addPeople(store, 200, 120, 11)
    for (const [n, outcome] of [
      [3, sent],
      [60, { ...sent, at: 6 }],
      [61, { ...sent, at: 6 }],
      [210, failed],
    ] as const)
      store.recordOutcomes(new Map([[n, outcome]]), false)
    const orderings: RecipientsQuery['ordering'][] = [
      [],
      ...[false, true].flatMap((desc): RecipientsQuery['ordering'][] => [
        [{ name: 'address', desc }],
        [{ name: 'sent_at', desc }],
        [
          { name: 'sent_at', desc },
          { name: 'address', desc: !desc },
        ],
      ]),
    ]
    for (const ordering of orderings) {
      const all = readPage(sql, { ...firstPage, ordering })?.rows ?? []
      expect(new Set(all.map(({ n }) => n)).size).toBe(250)
      const walked: RecipientRow[] = []
      let after: RecipientsQuery['page']['after'] = null
      for (let page = 1; walked.length < all.length; page++) {
        const byCursor = readPage(sql, { ordering, page: { page, size: 7, after } })
        expect(byCursor).toEqual(readPage(sql, { ordering, page: { page, size: 7, after: null } }))
        walked.push(...(byCursor?.rows ?? []))
        after = byCursor?.after ?? null
      }
      expect([ordering, walked]).toEqual([ordering, all])
      expect(after).toBeNull()
    }
  }))

it('the list of recipients finds pages by their cursors, and counts by state and reason, in an index', () =>
  withStore((store) => {
    const { sql } = store.storage
    addPeople(store, 1, 6000, 40)
    const people = Array.from({ length: 6000 }, (_, index) => index + 1).filter((n) => n % 40 !== 0)
    for (let start = 0; start < people.length; start += 100)
      store.recordOutcomes(
        new Map(people.slice(start, start + 100).map((n) => [n, n % 97 === 0 ? failed : { ...sent, at: start }])),
        true,
      )
    const countRows = (query: RecipientsQuery): number[] => {
      const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = []
      const exec: SqlStorage['exec'] = (text, ...values) => {
        const cursor = sql.exec(text, ...values)
        cursors.push(cursor)
        return cursor as never
      }
      selectRecipients({ exec } as SqlStorage, query)
      return cursors.map(({ rowsRead }) => rowsRead)
    }
    const page = { page: 60, size: 50 }
    // An ordering with empty values reads its index up to the page.
    const addresses = { ordering: [{ name: 'address', desc: false } as const] }
    for (const [query, mostRows] of [
      [{ ordering: [], page: { ...page, after: [3000] } }, 400],
      [{ ...addresses, page: { ...page, after: ['b', 0] } }, 6400],
    ] as const) {
      expect(selectRecipients(sql, query).rows).toHaveLength(51)
      const [pageRows = Infinity] = countRows(query)
      expect([query, pageRows > mostRows]).toEqual([query, false])
    }
    const failures = {
      ordering: [],
      state: 'failed',
      reason: 'unreachable',
      page: { ...page, page: 1, after: null },
    } as const
    const { count } = selectRecipients(sql, failures)
    expect(count).toBe(people.filter((n) => n % 97 === 0).length)
    expect(countRows(failures).reduce((sum, rows) => sum + rows)).toBeLessThan(300)
  }))

it('the list of recipients refuses a page by number that is too far to sort for, and follows cursors there', () =>
  withStore((store) => {
    const { sql } = store.storage
    addPeople(store, 1, 1, 2)
    sql.exec(`insert into recipients (n, user_id, address, language, person, search_text, state)
      with recursive numbers (n) as (select 2 union all select numbers.n + 1 from numbers where numbers.n < 101_000)
      select numbers.n, user_id || numbers.n, address || numbers.n, language, person, search_text, state from numbers, recipients where recipients.n = 1`)
    const ordering = [{ name: 'address', desc: true } as const]
    const deep = { page: 1010, size: 100, after: null }
    expect(readPage(sql, { ordering, page: deep })?.rows).toHaveLength(100)
    expect(readPage(sql, { ordering: [], state: 'pending', page: deep })?.rows.at(-1)?.n).toBe(101_000)
    const sorted = { ordering, state: 'pending', page: deep } as const
    expect(() => readPage(sql, sorted)).toThrow(expect.objectContaining({ code: 'page_too_deep' }))
    expect(readPage(sql, { ...sorted, page: { ...deep, page: 1011 } })).toBeNull()
    const after = readPage(sql, { ...sorted, page: { ...deep, page: 1001 } })?.after ?? null
    expect(readPage(sql, { ...sorted, page: { ...deep, after } })?.rows).toEqual(
      readPage(sql, { ordering, page: { ...deep, page: 1002 } })?.rows,
    )
  }))
