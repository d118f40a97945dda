import { describe, expect, it } from 'vitest'
import { buildRows, seedStarted } from '../../support/seeding/imports/staged-imports.ts'
import { seedShop } from '../../support/seeding/sales/orders.ts'
import { createImporter, loadImport, buildMessage } from '../../support/staged-imports.ts'
import { beginUndo } from '../../support/undone-imports.ts'

/** A tick longer than a message may take, so that each message does one step. */
const aStepMs = 10_000

/** Counts the rows that an import reads in a stage; rows of orders come first. */
async function rowsRead(id: string): Promise<Record<string, number>> {
  const machine = createImporter({ tick: aStepMs })
  const read: Record<string, number> = {}
  for (let row = await loadImport(id); row.phase; row = await loadImport(id)) {
    const before = machine.meter.rows_read
    await machine.take(buildMessage(id, row.epoch))
    const stage = row.position.stage ?? 'orders'
    read[stage] = (read[stage] ?? 0) + machine.meter.rows_read - before
  }
  return read
}

/** Four times as many orders read four times as many rows, give or take one percent for the ends of index ranges. */
function expectFourTimes(more = 0, few = 0): void {
  expect(more).toBeGreaterThan(3.96 * few)
  expect(more).toBeLessThan(4.04 * few)
}

async function measureCosts(orders: number) {
  const id = await seedStarted(await seedShop(), buildRows(orders))
  const importing = await rowsRead(id)
  expect(await loadImport(id)).toMatchObject({ status: 'completed', created_orders: orders })
  await beginUndo(id)
  const undoing = await rowsRead(id)
  expect(await loadImport(id)).toMatchObject({ status: 'undone', undone_orders: orders })
  return { importing, undoing }
}

describe('an import of many orders', () => {
  it('reads as many rows for each order as a small import', async () => {
    await measureCosts(1)
    const [small, large] = [(await measureCosts(50)).importing, (await measureCosts(400)).importing]
    expect(Number(large['orders']) / 400).toBeLessThan((1.1 * Number(small['orders'])) / 50)
  })
})

describe('the undo of an import of many orders', () => {
  it('reads as many rows for each order as a small one, and no more of the catalogue', async () => {
    await measureCosts(1)
    const [small, large] = [(await measureCosts(200)).undoing, (await measureCosts(800)).undoing]
    expectFourTimes(large['orders'], small['orders'])
    expectFourTimes(large['people'], small['people'])
    expect(small['catalogue']).toBeGreaterThan(0)
    expect(large['catalogue']).toBeLessThan(Number(small['catalogue']) + 10)
  })
})
