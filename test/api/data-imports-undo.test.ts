import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { post } from '../support/api.ts'
import { countContents } from '../support/orders.ts'
import { seedStarted } from '../support/seeding/imports/staged-imports.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, importOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { importFile, buildManyRows, undoToEnd } from '../support/undone-imports.ts'

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
})

describe('undoDataImport', () => {
  it('is refused a second time, after its time limit, for a call that stored nothing, and before the import ends', async () => {
    const undo = async (id: string) => {
      const { status, body } = await post(`/v1/data-imports/${id}/undo`, undefined)
      return [status, body.code]
    }
    const { id } = await importFile(shop, buildManyRows(1))
    await undoToEnd(id)
    expect(await undo(id)).toEqual([409, 'invalid_transition'])
    const oldImport = await importFile(shop, buildManyRows(1))
    await write(sql`update data_imports set undo_until = ${Date.now() - 1} where id = ${oldImport.id}`)
    expect(await undo(oldImport.id)).toEqual([409, 'invalid_transition'])
    const order = anOrder()
    await importOrders(shop, [order])
    const { body } = await importOrders(shop, [order])
    expect(body).toMatchObject({ skipped_orders: 1 })
    expect(await undo(body.id)).toEqual([409, 'invalid_transition'])
    expect(await undo(await seedStarted(shop, buildManyRows(1)))).toEqual([409, 'import_running'])
    expect(await countContents(shop)).toMatchObject({ orders: 2 })
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
