import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { post } from '../support/api.ts'
import { countContents } from '../support/orders.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedStarted } from '../support/seeding/imports/staged-imports.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, importOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { importFile, buildManyRows, undoToEnd } from '../support/undone-imports.ts'

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
})

const undo = (id: string) => post(`/v1/data-imports/${id}/undo`, undefined)

describe('undoDataImport', () => {
  it('is refused a second time', async () => {
    const { id } = await importFile(shop, buildManyRows(1))
    await undoToEnd(id)
    expect(describeRefusal(await undo(id))).toBe('409 invalid_transition')
  })

  it('is refused after its time limit', async () => {
    const { id } = await importFile(shop, buildManyRows(1))
    await write(sql`update data_imports set undo_until = ${Date.now() - 1} where id = ${id}`)
    expect(describeRefusal(await undo(id))).toBe('409 invalid_transition')
    expect(await countContents(shop)).toMatchObject({ orders: 1 })
  })

  it('is refused for a call that stored nothing', async () => {
    const order = anOrder()
    await importOrders(shop, [order])
    const { body } = await importOrders(shop, [order])
    expect(body).toMatchObject({ skipped_orders: 1 })
    expect(describeRefusal(await undo(body.id))).toBe('409 invalid_transition')
    expect(await countContents(shop)).toMatchObject({ orders: 1 })
  })

  it('is refused before the import ends', async () => {
    expect(describeRefusal(await undo(await seedStarted(shop, buildManyRows(1))))).toBe('409 import_running')
  })

  it('writes an audit entry, and is refused in an archived edition', async () => {
    const { id } = await importFile(shop, buildManyRows(1))
    await write(sql`update editions set is_archived = 1 where id = ${shop.edition_id}`)
    expect((await post(`/v1/data-imports/${id}/undo`, undefined)).body.code).toBe('edition_archived')
    await write(sql`update editions set is_archived = 0 where id = ${shop.edition_id}`)
    await undoToEnd(id)
    const log = await db.all(
      sql<{ action: string }>`select action from audit_log where organization_id = ${shop.organization_id}
        and resource_id = ${id}`,
    )
    expect(log.map(({ action }) => action)).toEqual(['undoDataImport'])
  })
})
