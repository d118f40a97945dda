import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { RecipientRow, RecipientsQuery } from '../../src/domain/campaigns/sender.ts'
import type { RecipientState } from '../../src/domain/campaigns/sending-policy.ts'
import { listRecipients } from '../../src/objects/campaign/recipient-list.ts'
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

/** What the statements of the list read. */
function rowsOf(store: RecipientStore, query: RecipientsQuery): number {
  const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = []
  const exec = (text: string, ...values: SqlStorageValue[]) => {
    const cursor = store.storage.sql.exec(text, ...values)
    cursors.push(cursor)
    return cursor
  }
  listRecipients({ exec } as unknown as SqlStorage, query)
  return cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0)
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
          expect([state, listRecipients(sql, { ...firstPage, state }).count]).toEqual([state, real])
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
    for (const query of queries) expect([query, rowsOf(store, { ...firstPage, ...query }) < 200]).toEqual([query, true])
    expect(rowsOf(store, { ...firstPage, engagement: 'opened' })).toBeGreaterThan(9000)
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
    const { sql } = store.storage
    for (const state of [undefined, 'pending'] as const)
      for (const by of ['n', 'address'] as const)
        for (const desc of [false, true]) {
          const query = { state, sort: [{ by, desc }], size: 7 }
          const all = listRecipients(sql, { ...query, size: 1000, skipped: 0, after: null }).rows
          const compared = (one: RecipientRow, other: RecipientRow) => (one[by] < other[by] ? -1 : 1) * (desc ? -1 : 1)
          expect(all).toEqual(all.toSorted(compared))
          expect(new Set(all.map(({ n }) => n)).size).toBe(state ? 225 - 3 : 250)
          const found: RecipientRow[] = []
          for (let after: RecipientsQuery['after'] = null, skipped = 0; skipped < all.length; skipped += 7) {
            const page = listRecipients(sql, { ...query, skipped, after })
            expect(listRecipients(sql, { ...query, skipped, after: null })).toEqual(page)
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
    const counts = queries.map((query) => rowsOf(store, { ...firstPage, state: 'pending', ...query }))
    expect(
      counts.every((rows) => rows < 20),
      String(counts),
    ).toBe(true)
  }))
