import { beforeEach, describe, expect, it } from 'vitest'
import { eventKindNames } from '../../src/domain/webhooks/webhooks.ts'
import { listAnnounced, listAnnouncedKinds } from '../support/announcements.ts'
import { patch, post } from '../support/api.ts'
import { finishErasures } from '../support/personal-data.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { anOrder, givenOrder, importOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'
import { givenTwo, loadCustomer, stranger } from '../support/shared-customers.ts'
import { loadDeliveries } from '../support/webhook-rows.ts'

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
})

const emit = { emit_webhooks: true, on_duplicate: 'update' }
const send = async (orders: unknown[], options: Record<string, unknown> = {}) => {
  const reply = await importOrders(shop, orders, { ...emit, ...options })
  expect(reply.status, reply.text).toBe(201)
  return reply.body
}

describe('events about orders', () => {
  it('say what an import created, changed and cancelled, once for each change', async () => {
    const order = anOrder({ external_id: 'A-1', order_number: '7', status: 'pending' })
    const { results } = await send([order])
    const [{ order_id }] = results
    await send([order])
    await send([{ ...order, status: 'completed' }])
    await send([{ ...order, status: 'completed', order_number: '8' }])
    await send([{ ...order, status: 'cancelled', order_number: '8' }])
    await send([{ ...order, status: 'cancelled', order_number: '8' }])
    const { id: user } = await loadCustomer(shop, order.customer.email)
    const events = await listAnnounced(shop.organization_id, 'order.')
    const state = { id: order_id, external_id: 'A-1', source: 'webshop', amount: 450, currency: 'dkk' }
    const base = { user: { api_id: user }, occurred_at: expect.any(String) }
    const event = (kind: string, previous_status: string | null, change: object) => ({
      kind,
      edition_id: shop.edition_id,
      data: { ...base, order: { ...state, order_number: '7', ...change }, previous_status },
    })
    expect(events).toEqual([
      event('order.created', null, { status: 'pending' }),
      event('order.updated', 'pending', { status: 'completed' }),
      event('order.updated', 'completed', { status: 'completed', order_number: '8' }),
      event('order.cancelled', 'completed', { status: 'cancelled', order_number: '8' }),
    ])
  })

  it('say of an order that arrives cancelled only that it was created', async () => {
    const order = anOrder({ status: 'cancelled' })
    await send([order])
    await send([{ ...order, order_number: '9' }])
    expect(await listAnnouncedKinds(shop.organization_id, 'order.')).toEqual(['order.created', 'order.updated'])
  })

  it('are silent without emit_webhooks, for a dry run, and for what is skipped or refused', async () => {
    const order = anOrder()
    await send([order], { emit_webhooks: false })
    await send([{ ...order, order_number: '1' }], { emit_webhooks: false })
    await send([{ ...order, order_number: '2' }], { on_duplicate: 'skip' })
    await send([anOrder()], { dry_run: true })
    await importOrders(shop, [{ ...anOrder(), currency: 'nothing' }], emit)
    const kinds = await listAnnouncedKinds(shop.organization_id)
    expect(kinds.filter((kind) => kind !== 'import.completed')).toEqual([])
  })

  it('reach the endpoints that name them, in their organisation and edition alone', async () => {
    const place = (edition: string | null, organization = shop.organization_id) => ({ organization, edition })
    const other = await seedEdition({ id: shop.organization_id })
    const foreign = await seedShop()
    const events = ['order.created' as const]
    const specified = eventKindNames.slice(0, 8)
    const [listening, wide] = [
      await seedEndpoint(place(shop.edition_id), { events }),
      await seedEndpoint(place(null), { events }),
    ]
    const deaf = [
      await seedEndpoint(place(null), { events: specified }),
      await seedEndpoint(place(other.id), { events }),
      await seedEndpoint(place(null, foreign.organization_id), { events }),
      await seedEndpoint(place(null), { events, is_active: false }),
    ]
    expect(specified.every((kind) => /^(consent|purchase|wallet)\./.test(kind))).toBe(true)
    await send([anOrder({ items: [{ product: 'Poster', quantity: 1, unit_price: 5 }] })])
    for (const { id } of [listening, wide])
      expect((await loadDeliveries(id)).map(({ kind, edition_id }) => [kind, edition_id])).toEqual([
        ['order.created', shop.edition_id],
      ])
    for (const { id } of deaf)
      expect((await loadDeliveries(id)).filter(({ kind }) => kind.startsWith('order.'))).toEqual([])
  })

  it('belong to each order of a call of a hundred', async () => {
    const orders = Array.from({ length: 100 }, () => anOrder())
    const { results } = await send(orders)
    const events = await listAnnounced(shop.organization_id, 'order.')
    const ids = events.map(({ data }) => (data['order'] as { id: string }).id)
    expect(ids.toSorted()).toEqual(results.map(({ order_id }: { order_id: string }) => order_id).toSorted())
  })

  it('keep nothing of an erased customer', async () => {
    const email = 'a@erased.dk'
    await send([anOrder({ external_id: `2026-${email}`, order_number: `N-${email}`, customer: { email } })])
    const { id } = await loadCustomer(shop, email)
    expect((await post(`/v1/user/${id}/erase`, {})).status).toBe(200)
    await finishErasures()
    const [event] = await listAnnounced(shop.organization_id, 'order.')
    expect(event?.data).toMatchObject({ order: { order_number: null, external_id: null }, user: { api_id: id } })
  })
})

describe('events about customers', () => {
  const listFields = async (organization = shop.organization_id) =>
    (await listAnnounced(organization, 'user.')).map(({ edition_id, data }) => [edition_id, data['fields']])

  it('name the fields that an update changed, for the organisation and for the only edition', async () => {
    const order = anOrder()
    await givenOrder(shop, order)
    const { id } = await loadCustomer(shop, order.customer.email)
    const change = { first_name: 'Åse', phone_number: '+45 32 12 34 57' }
    for (let time = 0; time < 2; time++) expect((await patch(`/v1/user/${id}`, change)).status).toBe(200)
    expect(await listAnnounced(shop.organization_id, 'user.')).toEqual(
      [null, shop.edition_id].map((edition_id) => ({
        kind: 'user.updated',
        edition_id,
        data: { user: { api_id: id }, fields: ['phone_number', 'first_name'], occurred_at: expect.any(String) },
      })),
    )
  })

  it('tell an edition nothing of changes that its row does not have', async () => {
    const two = await givenTwo()
    await importOrders(two.mine, [anOrder({ customer: stranger })])
    const endpoint = (edition: string) =>
      seedEndpoint({ organization: two.mine.organization_id, edition }, { events: ['user.updated'] })
    const endpoints = [await endpoint(two.mine.edition_id), await endpoint(two.theirs.edition_id)]
    expect((await patch(`/v1/user/${two.user}`, { last_name: 'Lund' })).status).toBe(200)
    expect(await listFields(two.mine.organization_id)).toEqual([[null, ['last_name']]])
    for (const { id } of endpoints) expect(await loadDeliveries(id)).toEqual([])
  })

  it('say what an import fills in for the organisation and replaces in its edition', async () => {
    const order = anOrder({ customer: { email: 'ida@example.dk' } })
    await send([order])
    const named = { email: 'ida@example.dk', first_name: 'Ida', last_name: 'Lund', metadata: { seat: 4 } }
    await send([{ ...order, customer: named }], { emit_webhooks: false })
    expect(await listFields()).toEqual([])
    const again = anOrder({ customer: { ...named, first_name: 'Idun', phone_number: '+4532123458' } })
    await send([again])
    const fields = await listFields()
    expect(fields.toSorted()).toEqual(
      [
        [null, ['phone_number']],
        [shop.edition_id, ['phone_number', 'first_name']],
      ].toSorted(),
    )
    const payloads = JSON.stringify(await listAnnounced(shop.organization_id, 'user.'))
    expect(payloads).not.toMatch(/Idun|ida@|45321/)
  })

  it('tell everyone who may have a copy of an erasure', async () => {
    const two = await givenTwo()
    await importOrders(two.mine, [anOrder({ customer: stranger })])
    for (let time = 0; time < 2; time++) expect((await post(`/v1/user/${two.user}/erase`, {})).status).toBe(200)
    const contact = ['email', 'phone_number', 'first_name', 'last_name', 'metadata']
    const fields = await listFields(two.mine.organization_id)
    expect(fields.toSorted()).toEqual(
      [
        [null, [...contact, 'is_active']],
        [two.mine.edition_id, contact],
        [two.theirs.edition_id, contact],
      ].toSorted(),
    )
  })
})
