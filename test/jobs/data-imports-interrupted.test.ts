import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { contentsOf } from '../support/orders.ts'
import { seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { write } from '../support/seeding/rows.ts'
import { aBadRow, many, seedStarted } from '../support/seeding/imports/staged-imports.ts'
import { expectExact, importer, importNow, messageOf, runToEnd } from '../support/staged-imports.ts'

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
})

describe('an import that is cancelled', () => {
  it('stops within the current chunk: created orders stay and are counted, and the rest is cancelled', async () => {
    const id = await seedStarted(shop, [...many(60), { values: {}, is_ignored: true }])
    const machine = importer({ tick: 6000 })
    await machine.take(messageOf(id))
    await machine.take(messageOf(id))
    const half = await importNow(id)
    expect(half.created_orders).toBeGreaterThan(0)
    await write(sql`update data_imports set status = 'cancelling', epoch = epoch + 1 where id = ${id}`)
    await machine.take(messageOf(id))
    expect((await importNow(id)).created_orders).toBe(half.created_orders)
    await runToEnd(id, 8)
    const { row, rows } = await expectExact(shop, id)
    expect(row).toMatchObject({ status: 'cancelled', phase: null, created_orders: half.created_orders })
    expect(rows.filter(({ outcome }) => outcome === 'cancelled')).toHaveLength(60 - half.created_orders)
    expect(rows.at(-1)?.outcome).toBe('ignored')
    expect(await contentsOf(shop)).toMatchObject({ orders: half.created_orders })
  })

  it('commits nothing of the interrupted chunk', async () => {
    const id = await seedStarted(shop, many(30))
    const machine = importer()
    const batch = machine.job.db.batch.bind(machine.job.db)
    machine.job.db.batch = async (statements) => {
      // Between the decision on the first chunk and its commit.
      if (statements.length > 8)
        await write(sql`update data_imports set status = 'cancelling', epoch = 8 where id = ${id}`)
      return batch(statements)
    }
    await machine.take(messageOf(id))
    expect(await contentsOf(shop)).toMatchObject({ orders: 0, users: 0 })
    await runToEnd(id, 8)
    expect((await expectExact(shop, id)).row).toMatchObject({
      status: 'cancelled',
      created_orders: 0,
      undo_until: null,
    })
  })
})

describe('an import that is interrupted', () => {
  it('ignores messages that are repeated, late, or of an older epoch', async () => {
    const id = await seedStarted(shop, many(30))
    const machine = importer()
    await machine.take(messageOf(id, 6))
    expect(await contentsOf(shop)).toMatchObject({ orders: 0 })
    await machine.take(messageOf(id), messageOf(id), messageOf(id, 8))
    const { row } = await expectExact(shop, id)
    await machine.take(messageOf(id))
    expect(await importNow(id)).toEqual(row)
    expect(await contentsOf(shop)).toMatchObject({ orders: 30 })
  })

  it('runs once with two consumers at the same time', async () => {
    const id = await seedStarted(shop, many(60))
    await Promise.all([importer().take(messageOf(id)), importer().take(messageOf(id)), importer().take(messageOf(id))])
    await runToEnd(id)
    const { row } = await expectExact(shop, id)
    expect(row).toMatchObject({ status: 'completed', created_orders: 60 })
    expect(await contentsOf(shop)).toMatchObject({ orders: 60, users: 60, products: 1 })
  })

  it('continues after its last commit, for a crash at any point', async () => {
    let deaths = 0
    for (let roundTrip = 1; ; roundTrip++) {
      let died = false
      for (const when of ['before', 'after'] as const) {
        shop = await seedShop()
        const id = await seedStarted(shop, [...many(51), aBadRow()])
        const dead = await importer({ death: { roundTrip, when } })
          .take(messageOf(id))
          .then(
            () => false,
            () => true,
          )
        died ||= dead
        deaths += dead ? 1 : 0
        await runToEnd(id)
        const { row } = await expectExact(shop, id)
        expect([roundTrip, when, row]).toMatchObject([
          roundTrip,
          when,
          { status: 'completed_with_errors', created_orders: 51 },
        ])
        expect(await contentsOf(shop)).toMatchObject({ orders: 51, users: 51 })
      }
      if (!died) break
    }
    expect(deaths).toBeGreaterThan(20)
  })

  it('leaves the rest to another message when its time is over', async () => {
    const id = await seedStarted(shop, many(30))
    const machine = importer({ tick: 6000 })
    await machine.take(messageOf(id))
    expect(machine.enqueued).toEqual([messageOf(id)])
    expect(await importNow(id)).toMatchObject({ status: 'importing' })
    await runToEnd(id)
    expect((await expectExact(shop, id)).row).toMatchObject({ status: 'completed', created_orders: 30 })
  })

  it('does not delay a small import of another organisation', async () => {
    const other = await seedShop()
    const large = await seedStarted(shop, many(300))
    const small = await seedStarted(other, many(30))
    const machine = importer({ tick: 3000 })
    const queue = [messageOf(large), messageOf(small)]
    while ((await importNow(small)).status === 'importing') {
      const next = queue.shift()
      if (next) await machine.take(next)
      queue.push(...machine.enqueued.splice(0))
    }
    const { status, created_orders } = await importNow(large)
    expect(status).toBe('importing')
    expect(created_orders).toBeLessThanOrEqual(100)
    expect((await expectExact(other, small)).row).toMatchObject({ status: 'completed', created_orders: 30 })
  })
})
