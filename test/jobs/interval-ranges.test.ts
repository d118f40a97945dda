import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { type IntervalList, orderingOf } from '../../src/db/lists/intervals/interval-list.ts'
import { settleIntervals } from '../../src/db/lists/intervals/settle-intervals.ts'
import { findStartInIntervals } from '../../src/db/lists/intervals/start-in-intervals.ts'
import type { Ranges } from '../../src/db/lists/ranges.ts'
import { orderStatuses, orderTypes } from '../../src/domain/orders/orders.ts'
import { intervalOrderings, orderIntervals } from '../../src/modules/orders/intervals.ts'
import { expectIntervalsToHold, seedLongEditions, shortSizes } from '../support/order-intervals.ts'
import { manyFrom } from '../support/seeding/many-orders.ts'
import { db, write } from '../support/seeding/rows.ts'

/** When orders are settled, but not all of them. */
const now = manyFrom + 300 * 86_400_000

const kinds: Ranges = {
  columns: [sql`orders.status`, sql`orders.type`],
  values: orderStatuses.flatMap((status) => orderTypes.map((type) => [status, type])),
  areWords: true,
}

/** Orders, with indexes that have those of each status and type by themselves. */
const ofRanges: IntervalList = {
  ...orderIntervals,
  orderings: {
    ...intervalOrderings,
    amount: { ...intervalOrderings.amount, index: sql`orders_of_kinds_amount`, ranges: kinds },
  },
  settled: { ...orderIntervals.settled, index: sql`orders_of_kinds_modified`, ranges: kinds },
}

/** Settles orders. Answers their intervals, and where some pages begin. */
async function outcomeOf(list: IntervalList, organization: string) {
  await write(sql`delete from order_intervals`, sql`delete from settled_lists`)
  for (const sizes of [{ ...shortSizes, stepsASweep: 1 }, shortSizes])
    await settleIntervals(db, list, [organization], { now, sizes })
  expect(await expectIntervalsToHold(organization)).toBeGreaterThan(100)
  const starts: unknown[] = []
  for (const facets of [
    [undefined, undefined],
    ['completed', undefined],
  ])
    for (const isDesc of [false, true]) {
      const rows = { scope: organization, facets, orderings: [orderingOf(list, 'amount')], isDesc }
      const start = await findStartInIntervals(db, list, rows, 300)
      starts.push(
        await db.first(sql`with ${start?.ctes} select ${start?.offset} as rest, (select count(*) from orders
        where organization_id = ${organization} and ${start?.where[0]}) as behind`),
      )
    }
  return { intervals: await db.all(sql`select * from order_intervals`), starts }
}

it('an index that has orders in several ranges leads to the same intervals and pages', async () => {
  const { organization } = await seedLongEditions([1_500, 300])
  await write(
    sql`create index orders_of_kinds_amount on orders (edition_short_id, status, type, amount_minor, created_at, seq)`,
    sql`create index orders_of_kinds_modified on orders (edition_short_id, status, type, modified_at, created_at, seq)`,
    sql`update orders set modified_at = ${now} where organization_id = ${organization} and seq % 20 = 0`,
  )
  const usual = await outcomeOf(orderIntervals, organization)
  expect(await outcomeOf(ofRanges, organization)).toEqual(usual)
  await write(sql`drop index orders_of_kinds_modified`)
  await expect(outcomeOf(ofRanges, organization)).rejects.toThrow('no such index')
})
