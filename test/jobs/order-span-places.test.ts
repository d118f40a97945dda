import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { startInEditions } from '../../src/db/lists/spans/start-in-editions.ts'
import { db, write } from '../support/seeding/rows.ts'

const editions = ['edt_one', 'edt_two', 'edt_three']

interface Counted {
  edition: number
  /** Of 21 bits. */
  span: number
  n: number
}

/** Spans close together, far from each other, and at the edges of longer ones. */
const span = fc.oneof(
  fc.nat({ max: 40 }).map((at) => 840_000 + at),
  fc.nat({ max: 40_000 }).map((at) => 840_000 + at),
  fc.tuple(fc.nat({ max: 12 }), fc.constantFrom(-1, 0)).map(([at, beside]) => (204 + at) * 4096 + beside),
)
const counts = fc.array(
  fc.record({ edition: fc.nat({ max: 2 }), span, n: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 500 })) }),
  { minLength: 1, maxLength: 40 },
)

/** Both lengths that are written: triggers add them up. */
async function store(stored: readonly Counted[]): Promise<void> {
  const rows = JSON.stringify(stored.map(({ edition, span: at, n }) => [editions[edition], at, n]))
  const added = [0, 8].map(
    (shift) => sql`insert into order_counts (span_bits, edition_id, span, pending_online, changes)
      select ${21 + shift}, value ->> 0, (value ->> 1) >> ${shift}, value ->> 2, 1 from json_each(${rows}) where true
      on conflict do update set pending_online = pending_online + excluded.pending_online, changes = changes + 1`,
  )
  await write(sql`delete from order_counts`, ...added)
}

interface Start {
  moment: number
  skipped: number
}

it('the place of each row is found in spans of any kind, from both ends', async () => {
  await fc.assert(
    fc.asyncProperty(
      counts,
      fc.subarray([0, 1, 2], { minLength: 1 }),
      fc.boolean(),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { minLength: 3, maxLength: 3 }),
      async (stored, chosen, isDesc, parts) => {
        await store(stored)
        const listed = stored.filter(({ edition }) => chosen.includes(edition))
        const total = listed.reduce((sum, { n }) => sum + n, 0)
        const ids = sql`select value from json_each(${JSON.stringify(chosen.map((one) => editions[one]))})`
        for (const ahead of total === 0 ? [] : [0, total - 1, ...parts.map((part) => Math.floor(part * total))]) {
          const found = await db.first(
            sql<Start>`with recursive ${startInEditions(
              { editions: ids, counted: sql`pending_online` },
              isDesc,
              sql`${ahead}`,
            )} select moment, skipped from start`,
          )
          const { moment = NaN, skipped = NaN } = found ?? {}
          const edge = moment / 2 ** 21
          const numberOf = (isThere: (at: number) => boolean) =>
            listed.reduce((sum, one) => sum + (isThere(one.span) ? one.n : 0), 0)
          const passed = numberOf((at) => (isDesc ? at >= edge : at < edge))
          const inSpan = numberOf((at) => at === (isDesc ? edge - 1 : edge))
          expect([ahead, passed + skipped]).toEqual([ahead, ahead])
          expect(skipped).toBeLessThan(inSpan)
        }
      },
    ),
    { numRuns: 60 },
  )
})
