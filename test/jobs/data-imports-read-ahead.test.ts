import { describe, expect, it } from 'vitest'
import { commitPart } from '../../src/db/commit.ts'
import { OrderWindow } from '../../src/modules/data-imports/run/order-window.ts'
import { buildRows, seedStarted } from '../support/seeding/imports/staged-imports.ts'
import { db } from '../support/seeding/rows.ts'
import { seedShop } from '../support/seeding/sales/orders.ts'

const chunk = 25

describe('the orders that an import has read ahead', () => {
  it('are each read once, and are forgotten once they are decided, however far it reads ahead', async () => {
    const count = 400
    const window = new OrderWindow(db, await seedStarted(await seedShop(), buildRows(count)))
    const numbers = (await window.next(0, chunk)).map(({ number }) => number)
    let most = 0
    for (let decided = 0; numbers.length > decided;) {
      const after = numbers.length
      const { statements, apply } = window.prefetch(decided, after, chunk)
      await commitPart({ db }, statements)
      apply()
      most = Math.max(most, window.peek(0, count).length)
      decided = after
      numbers.push(...window.peek(after, chunk).map(({ number }) => number))
    }
    expect(numbers).toEqual(Array.from({ length: count }, (_, index) => index + 1))
    // The window reads 100 orders at once when fewer than a chunk are left after the next transaction.
    expect(most).toBeLessThan(100 + 3 * chunk)
  })

  it('are read again when the import goes back', async () => {
    const window = new OrderWindow(db, await seedStarted(await seedShop(), buildRows(60)))
    await window.next(0, chunk)
    await window.next(50, chunk)
    expect((await window.next(10, 2)).map(({ number }) => number)).toEqual([11, 12])
  })
})
