import { describe, expect, it } from 'vitest'
import { create, get, patch, post } from '../support/api.ts'
import { anOrder, importOrders, seedShop } from '../support/seeding/sales/orders.ts'

describe('emit_webhooks', () => {
  it('is sent and answered at the top level of external orders', async () => {
    const shop = await seedShop()
    for (const emit_webhooks of [true, false]) {
      const { body } = await importOrders(shop, [anOrder()], { emit_webhooks })
      expect(body).toMatchObject({ emit_webhooks, options: { emit_webhooks } })
      expect((await get(`/v1/data-imports/${body.id}`)).body).toMatchObject({
        emit_webhooks,
        options: { emit_webhooks },
      })
    }
  })

  it('is off in an import of a file where nobody sends it', async () => {
    expect(await create('/v1/data-imports', await seedShop())).toMatchObject({ emit_webhooks: false })
  })

  it('is answered at the top level of an import of a file, and in its options, wherever it is sent', async () => {
    const created = await create('/v1/data-imports', { ...(await seedShop()), emit_webhooks: true })
    expect(created).toMatchObject({ emit_webhooks: true, options: { emit_webhooks: true } })
    const path = `/v1/data-imports/${created.id}`
    const changed = await patch(path, { emit_webhooks: false })
    expect(changed.body).toMatchObject({ emit_webhooks: false, options: { emit_webhooks: false } })
    const byOption = await patch(path, { options: { emit_webhooks: true } })
    expect(byOption.body).toMatchObject({ emit_webhooks: true, options: { emit_webhooks: true } })
  })

  it('stays when something else of the import changes', async () => {
    const { id } = await create('/v1/data-imports', { ...(await seedShop()), emit_webhooks: true })
    expect((await patch(`/v1/data-imports/${id}`, { name: 'Other name' })).body).toMatchObject({ emit_webhooks: true })
  })

  it('is refused with two values', async () => {
    const shop = await seedShop()
    const body = { ...shop, emit_webhooks: true, options: { emit_webhooks: false } }
    const refusal = { code: 'not_both', pointer: '#/options/emit_webhooks' }
    const reply = await post('/v1/data-imports', body)
    expect([reply.status, reply.body.errors]).toMatchObject([400, [refusal]])
    const { id } = await create('/v1/data-imports', { ...shop, emit_webhooks: true })
    const change = await patch(`/v1/data-imports/${id}`, { emit_webhooks: true, options: { emit_webhooks: false } })
    expect([change.status, change.body.errors]).toMatchObject([400, [refusal]])
  })
})
