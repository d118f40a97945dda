import { type SQL, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { heartbeatLostMs, maxStalls } from '../../../src/domain/data-imports/data-imports.ts'
import { sweepImports } from '../../../src/modules/data-imports/jobs.ts'
import { get } from '../../support/api.ts'
import { countContents } from '../../support/orders.ts'
import { aBadRow, buildRows, seedStarted } from '../../support/seeding/imports/staged-imports.ts'
import { write } from '../../support/seeding/rows.ts'
import { seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import {
  expectExact,
  createImporter,
  loadImport,
  buildMessage,
  loadImportOrders,
  runToEnd,
} from '../../support/staged-imports.ts'

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
})

describe('an import that is cancelled', () => {
  it('stops at once: created orders stay and are counted, and the rest is cancelled', async () => {
    const id = await seedStarted(shop, [...buildRows(60), { values: {}, is_ignored: true }])
    const machine = createImporter({ tick: 6000 })
    await machine.take(buildMessage(id))
    await machine.take(buildMessage(id))
    const half = await loadImport(id)
    expect(half.created_orders).toBeGreaterThan(0)
    await write(sql`update data_imports set status = 'cancelling', epoch = epoch + 1 where id = ${id}`)
    await machine.take(buildMessage(id))
    expect((await loadImport(id)).created_orders).toBe(half.created_orders)
    await runToEnd(id, 8)
    const { row, rows } = await expectExact(shop, id)
    expect(row).toMatchObject({ status: 'cancelled', phase: null, created_orders: half.created_orders })
    expect(rows.filter(({ outcome }) => outcome === 'cancelled')).toHaveLength(60 - half.created_orders)
    expect(rows.at(-1)?.outcome).toBe('ignored')
    expect(await countContents(shop)).toMatchObject({ orders: half.created_orders })
  })

  it('does not create the orders that were being written', async () => {
    const id = await seedStarted(shop, buildRows(30))
    const machine = createImporter()
    const batch = machine.job.db.batch.bind(machine.job.db)
    machine.job.db.batch = async (statements) => {
      if (statements.length > 8)
        await write(sql`update data_imports set status = 'cancelling', epoch = 8 where id = ${id}`)
      return batch(statements)
    }
    await machine.take(buildMessage(id))
    expect(await countContents(shop)).toMatchObject({ orders: 0, users: 0 })
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
    const id = await seedStarted(shop, buildRows(30))
    const machine = createImporter()
    await machine.take(buildMessage(id, 6))
    expect(await countContents(shop)).toMatchObject({ orders: 0 })
    await machine.take(buildMessage(id), buildMessage(id), buildMessage(id, 8))
    const { row } = await expectExact(shop, id)
    await machine.take(buildMessage(id))
    expect(await loadImport(id)).toEqual(row)
    expect(await countContents(shop)).toMatchObject({ orders: 30 })
  })

  it('runs once with two consumers at the same time', async () => {
    const id = await seedStarted(shop, buildRows(60))
    await Promise.all([
      createImporter().take(buildMessage(id)),
      createImporter().take(buildMessage(id)),
      createImporter().take(buildMessage(id)),
    ])
    await runToEnd(id)
    const { row } = await expectExact(shop, id)
    expect(row).toMatchObject({ status: 'completed', created_orders: 60 })
    expect(await countContents(shop)).toMatchObject({ orders: 60, users: 60, products: 1 })
  })

  it('continues after its last commit, for a crash at any point', async () => {
    let deaths = 0
    for (let roundTrip = 1; ; roundTrip++) {
      let died = false
      for (const when of ['before', 'after'] as const) {
        shop = await seedShop()
        const id = await seedStarted(shop, [...buildRows(51), aBadRow()])
        const dead = await createImporter({ death: { roundTrip, when } })
          .take(buildMessage(id))
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
        expect(await countContents(shop)).toMatchObject({ orders: 51, users: 51 })
      }
      if (!died) break
    }
    expect(deaths).toBeGreaterThan(20)
  })

  describe('between two transactions', () => {
    const orders = 125
    const expireHeartbeat = (id: string, change: SQL) =>
      write(sql`update data_imports set heartbeat_at = ${Date.now() - 2 * heartbeatLostMs}, ${change} where id = ${id}`)

    /** Runs an import whose consumer crashes after some transactions, and returns the orders decided by then. */
    async function runInterrupted() {
      const id = await seedStarted(shop, buildRows(orders))
      const death = { roundTrip: 10, when: 'after' } as const
      await expect(createImporter({ death }).take(buildMessage(id))).rejects.toThrow('the machine stopped')
      const decided = (await loadImportOrders(id)).filter(({ outcome }) => outcome === 'created').length
      expect(decided).toBeGreaterThan(25)
      expect(decided).toBeLessThan(orders)
      return { id, decided }
    }

    it('stores what it has created before it leaves the other orders to another message', async () => {
      const id = await seedStarted(shop, buildRows(orders))
      const machine = createImporter({ tick: 1200 })
      await machine.take(buildMessage(id))
      expect(machine.enqueued).toEqual([buildMessage(id)])
      const decided = (await loadImportOrders(id)).filter(({ outcome }) => outcome === 'created').length
      expect(decided).toBeGreaterThan(25)
      expect(await loadImport(id)).toMatchObject({ created_orders: decided, position: { after: decided } })
    })

    it('reports the orders that it has created', async () => {
      const { id, decided } = await runInterrupted()
      const counters = { created_orders: decided, processed_rows: decided, progress: decided / orders }
      expect((await get(`/v1/data-imports/${id}`)).body).toMatchObject(counters)
      const created = await get(`/v1/data-imports/${id}/rows?outcome=created&page_size=1`)
      expect(created.body).toMatchObject({ count: decided })
    })

    /** Calls `before` with the number of each transaction that decides orders, and `after` when it is done. */
    function watch(
      { job }: ReturnType<typeof createImporter>,
      before: (n: number) => unknown,
      after = (_: number) => {},
    ) {
      let transactions = 0
      const batch = job.db.batch.bind(job.db)
      job.db.batch = async (statements) => {
        if (statements.length < 9) return batch(statements)
        const n = ++transactions
        await before(n)
        return batch(statements).finally(() => after(n))
      }
      return () => transactions
    }

    it('creates no order twice when two consumers work on the same orders', async () => {
      const id = await seedStarted(shop, buildRows(orders))
      const [first, second] = [createImporter(), createImporter()]
      const [hasDecided, isOvertaken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const transactions = watch(second, () => {
        hasDecided.resolve()
        return isOvertaken.promise
      })
      let other = Promise.resolve()
      watch(
        first,
        (n) => {
          if (n === 3) other = second.take(buildMessage(id))
          return n === 3 ? hasDecided.promise : other
        },
        (n) => n === 3 && isOvertaken.resolve(),
      )
      await first.take(buildMessage(id))
      await other
      expect(transactions()).toBe(1)
      expect((await expectExact(shop, id)).row).toMatchObject({ status: 'completed', created_orders: orders })
      expect(await countContents(shop)).toMatchObject({ orders, users: orders })
    })

    it('continues where it stopped', async () => {
      const { id } = await runInterrupted()
      await runToEnd(id)
      expect((await expectExact(shop, id)).row).toMatchObject({ status: 'completed', created_orders: orders })
      expect(await countContents(shop)).toMatchObject({ orders, users: orders })
    })

    it('is cancelled with the orders that it created', async () => {
      const { id, decided } = await runInterrupted()
      await write(sql`update data_imports set status = 'cancelling', epoch = epoch + 1 where id = ${id}`)
      await runToEnd(id, 8)
      const { row } = await expectExact(shop, id)
      expect(row).toMatchObject({ status: 'cancelled', created_orders: decided, undo_until: expect.any(Number) })
      expect(row.row_counts).toMatchObject({ created: decided, cancelled: orders - decided })
    })

    it('fails with the orders that it created, and continues when it is started again', async () => {
      const { id, decided } = await runInterrupted()
      await expireHeartbeat(id, sql`stalls = ${maxStalls}`)
      await sweepImports(createImporter().job)
      expect((await expectExact(shop, id)).row).toMatchObject({ status: 'failed', created_orders: decided })
      await write(sql`update data_imports set status = 'importing', phase = 'import', epoch = 9,
        position = '{"changeable":null}', heartbeat_at = ${Date.now()} where id = ${id}`)
      await runToEnd(id, 9)
      expect((await expectExact(shop, id)).row).toMatchObject({ status: 'completed', created_orders: orders })
    })
  })

  it('leaves the other orders to another message when its time is over', async () => {
    const id = await seedStarted(shop, buildRows(30))
    const machine = createImporter({ tick: 6000 })
    await machine.take(buildMessage(id))
    expect(machine.enqueued).toEqual([buildMessage(id)])
    expect(await loadImport(id)).toMatchObject({ status: 'importing' })
    await runToEnd(id)
    expect((await expectExact(shop, id)).row).toMatchObject({ status: 'completed', created_orders: 30 })
  })

  it('does not delay a small import of another organisation', async () => {
    const other = await seedShop()
    const large = await seedStarted(shop, buildRows(300))
    const small = await seedStarted(other, buildRows(30))
    const machine = createImporter({ tick: 3000 })
    const queue = [buildMessage(large), buildMessage(small)]
    while ((await loadImport(small)).status === 'importing') {
      const next = queue.shift()
      if (next) await machine.take(next)
      queue.push(...machine.enqueued.splice(0))
    }
    const { status, created_orders } = await loadImport(large)
    expect(status).toBe('importing')
    expect(created_orders).toBeLessThanOrEqual(100)
    expect((await expectExact(other, small)).row).toMatchObject({ status: 'completed', created_orders: 30 })
  })
})
