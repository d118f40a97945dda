import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { call, get } from '../support/api.ts'
import { readCost } from '../support/cost.ts'
import { listAnnounced, loadPurchase, revert, scan, tally, listUses } from '../support/purchases.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { db, formatHourFromNow } from '../support/seeding/rows.ts'
import { seedShop, type Shop, givenTicket } from '../support/seeding/sales/orders.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'
import { loadDeliveries, listEvents } from '../support/webhook-rows.ts'

let shop: Shop
beforeAll(async () => {
  shop = await seedShop()
})

const parallel = <Result>(count: number, run: () => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, () => run()))

const listFaults = (body: { errors: { code: string; pointer: string | null }[] }) =>
  body.errors.map(({ code, pointer }) => [code, pointer])

describe('createPurchaseUse', () => {
  it('counts the use, marks the ticket as used and sends the webhook', async () => {
    const ticket = await givenTicket(shop, { vendor_code: 'ABC-1' })
    const endpoint = await seedEndpoint({ organization: shop.organization_id, edition: shop.edition_id })
    const reply = await scan(ticket.id)
    expect([reply.status, reply.body]).toMatchObject([
      201,
      {
        quantity: 1,
        location: null,
        reverted_at: null,
        purchase: { id: ticket.id, vendor_code: 'ABC-1', status: 'used' },
      },
    ])
    expect(reply.headers.get('location')).toMatch(new RegExp(`/v1/purchases/${ticket.id}$`))
    const { body } = await get(`/v1/purchases/${ticket.id}`)
    const { purchase: _, ...use } = reply.body
    expect(body).toMatchObject({ status: 'used', available_uses: 0, uses: [use] })
    expect(await loadPurchase(ticket.id)).toMatchObject({ uses_count: 1, status: 'used' })
    expect(await listAnnounced(ticket)).toEqual(['used:used'])
    const [delivery, ...more] = await loadDeliveries(endpoint.id)
    expect([delivery?.kind, more]).toEqual(['purchase.action', []])
    const event = (await listEvents(shop.organization_id)).find(({ id }) => id === delivery?.event_id)
    expect(JSON.parse(event?.payload ?? '{}')).toMatchObject({
      edition_id: shop.edition_id,
      data: { action: 'used', purchase: { id: ticket.id }, refund_request: null, occurred_at: reply.body.used_at },
    })
  })

  it('succeeds for one of two simultaneous requests', async () => {
    const ticket = await givenTicket(shop)
    const replies = await parallel(2, () => scan(ticket.id))
    expect(tally(replies)).toEqual({ 201: 1, '409 no_uses_left': 1 })
    const refusal = replies.find(({ status }) => status === 409)
    expect(refusal?.body).toMatchObject({ current_status: 'used', available_uses: 0 })
    expect([await listUses(ticket.id), await listAnnounced(ticket)]).toMatchObject([[{ quantity: 1 }], ['used:used']])
  })

  it('succeeds for three of twenty requests for a ticket with three uses', async () => {
    const ticket = await givenTicket(shop, { uses_limit: 3 })
    expect(tally(await parallel(20, () => scan(ticket.id)))).toEqual({ 201: 3, '409 no_uses_left': 17 })
    expect(await loadPurchase(ticket.id)).toMatchObject({ uses_count: 3, status: 'used' })
    expect(await listUses(ticket.id)).toHaveLength(3)
    const announced = await listAnnounced(ticket)
    expect(announced.toSorted()).toEqual(['used:active', 'used:active', 'used:used'])
  })

  it('succeeds for all of twenty requests while uses are left', async () => {
    const [group, pass] = [
      await givenTicket(shop, { uses_limit: 50 }),
      await givenTicket(shop, { is_unlimited_use: true }),
    ]
    for (const ticket of [group, pass]) {
      expect(tally(await parallel(20, () => scan(ticket.id)))).toEqual({ 201: 20 })
      expect(await loadPurchase(ticket.id)).toMatchObject({ uses_count: 20, status: 'active' })
    }
    expect((await get(`/v1/purchases/${group.id}`)).body).toMatchObject({ available_uses: 30 })
  })

  it('keeps a ticket without a limit active', async () => {
    const ticket = await givenTicket(shop, { is_unlimited_use: true })
    expect((await scan(ticket.id, { quantity: 10_000 })).body.purchase.status).toBe('active')
    expect((await scan(ticket.id)).status).toBe(201)
    const { body } = await get(`/v1/purchases/${ticket.id}`)
    expect(body).toMatchObject({ status: 'active', is_unlimited_use: true, available_uses: 1 })
    expect(await loadPurchase(ticket.id)).toMatchObject({ uses_count: 10_001 })
  })

  it('takes several uses at once, all of them or none', async () => {
    const ticket = await givenTicket(shop, { uses_limit: 5 })
    expect((await scan(ticket.id, { quantity: 3 })).body).toMatchObject({ quantity: 3, purchase: { status: 'active' } })
    const refusal = await scan(ticket.id, { quantity: 3 })
    expect([refusal.status, refusal.body]).toMatchObject([
      409,
      { code: 'no_uses_left', current_status: 'active', available_uses: 2 },
    ])
    expect(await loadPurchase(ticket.id)).toMatchObject({ uses_count: 3 })
    expect((await scan(ticket.id, { quantity: 2 })).body.purchase.status).toBe('used')
  })

  it('stores the place and the time that the scanner sends', async () => {
    const ticket = await givenTicket(shop, { location: 'North gate' })
    const [location] = await db.all(
      sql<{ id: string }>`select id from locations where edition_id = ${shop.edition_id} and name = 'North gate'`,
    )
    const reply = await scan(ticket.id, { location_id: location?.id, used_at: '2026-01-02T12:00:00+01:00' })
    expect(reply.body).toMatchObject({
      location: { api_id: location?.id, name: 'North gate', is_draft: false },
      used_at: '2026-01-02T11:00:00.000Z',
    })
    expect((await get(`/v1/purchases/${ticket.id}`)).body.uses).toMatchObject([{ location: { name: 'North gate' } }])
  })

  it('refuses a time in the future or before the purchase, and changes nothing', async () => {
    const ticket = await givenTicket(shop)
    for (const [used_at, code] of [
      [formatHourFromNow(), 'in_future'],
      ['2026-01-01T09:59:59.999Z', 'too_early'],
    ]) {
      const { status, body } = await scan(ticket.id, { used_at })
      expect([status, listFaults(body)]).toEqual([400, [[code, '#/used_at']]])
    }
    expect([await listUses(ticket.id), await listAnnounced(ticket)]).toEqual([[], []])
  })

  it('refuses invalid quantities, and places of other editions', async () => {
    const ticket = await givenTicket(shop, { is_unlimited_use: true })
    const sibling = await seedEdition({ id: shop.organization_id })
    await givenTicket({ ...shop, edition_id: sibling.id }, { location: 'South gate' })
    const [elsewhere] = await db.all(sql<{ id: string }>`select id from locations where edition_id = ${sibling.id}`)
    for (const [name, value, code] of [
      ['quantity', 0, 'min_value'],
      ['quantity', -1, 'min_value'],
      ['quantity', 10_001, 'max_value'],
      ['quantity', 1e15, 'max_value'],
      ['quantity', 1.5, 'invalid_type'],
      ['quantity', '1', 'invalid_type'],
      ['location_id', elsewhere?.id, 'does_not_exist'],
      ['location_id', 'loc_none', 'does_not_exist'],
      ['location_id', ticket.id, 'invalid_id'],
      ['place', 'north', 'unknown_field'],
    ] as const) {
      const { status, body } = await scan(ticket.id, { [name]: value })
      expect([value, status, listFaults(body)]).toEqual([value, 400, [[code, `#/${name}`]]])
    }
    expect(await loadPurchase(ticket.id)).toMatchObject({ uses_count: 0, version: 1 })
  })

  it.each([
    ['pending', 'not paid yet'],
    ['cancelled', 'cancelled'],
    ['refunded', 'refunded'],
    ['expired', 'no longer valid'],
  ])('refuses a purchase that is %s', async (current_status, word) => {
    const ticket = await givenTicket(shop)
    await db.batch([sql`update purchases set status = ${current_status} where id = ${ticket.id}`])
    const { status, body } = await scan(ticket.id)
    expect([status, body]).toMatchObject([409, { code: 'purchase_not_usable', current_status }])
    expect(body.detail).toContain(word)
    expect([await listUses(ticket.id), await listAnnounced(ticket)]).toEqual([[], []])
  })

  it('refuses a purchase from the exact millisecond at which its validity ends', async () => {
    const over = await givenTicket(shop, { valid_until: '2026-02-01T00:00:00Z' })
    const { status, body } = await scan(over.id)
    expect([status, body]).toMatchObject([409, { code: 'purchase_not_usable', current_status: 'expired' }])
    const valid = await givenTicket(shop, { valid_until: formatHourFromNow() })
    expect((await scan(valid.id)).status).toBe(201)
  })

  it('counts a repeated scan with the same Idempotency-Key once', async () => {
    const ticket = await givenTicket(shop, { uses_limit: 3 })
    const send = () =>
      call(`/v1/purchases/${ticket.id}/uses`, {
        method: 'POST',
        body: {},
        headers: { 'idempotency-key': `scan-${ticket.id}` },
      })
    const first = await send()
    const secondReply = await parallel(3, send)
    expect(first.status).toBe(201)
    for (const reply of secondReply) {
      expect([reply.status, reply.body]).toEqual([201, first.body])
      expect(reply.headers.get('idempotency-replayed')).toBe('true')
    }
    expect([await listUses(ticket.id), await listAnnounced(ticket)]).toMatchObject([
      [{ id: first.body.id }],
      ['used:active'],
    ])
  })

  it('requires an admin or manager of the organisation or of the same edition', async () => {
    const ticket = await givenTicket(shop, { is_unlimited_use: true })
    const organisation = { id: shop.organization_id }
    const sibling = await seedEdition(organisation)
    const statuses = []
    for (const [role, edition] of [
      ['admin', undefined],
      ['manager', undefined],
      ['viewer', undefined],
      ['admin', shop.edition_id],
      ['manager', shop.edition_id],
      ['viewer', shop.edition_id],
      ['admin', sibling.id],
    ] as const) {
      const { token } = await givenMember(organisation, role, edition)
      statuses.push((await scan(ticket.id, {}, { token })).status)
    }
    const { token } = await givenMember({ id: (await seedShop()).organization_id }, 'admin')
    statuses.push((await scan(ticket.id, {}, { token })).status)
    expect(statuses).toEqual([201, 201, 403, 201, 201, 403, 404, 404])
    expect(await loadPurchase(ticket.id)).toMatchObject({ uses_count: 4 })
  })

  it('takes as many queries for the hundredth use as for the second', async () => {
    // The shop has no endpoint, because each delivery would write rows of its own.
    const ticket = await givenTicket(await seedShop(), { is_unlimited_use: true })
    // The first use of a day also records when the customer was last seen: a row and an entry of an index.
    // The first use of a product adds a series to the statistics, which is as much.
    expect(readCost(await scan(ticket.id))).toMatchObject({ queries: 9, round_trips: 2, rows_written: 13 })
    const second = readCost(await scan(ticket.id))
    expect(second).toMatchObject({ queries: 9, round_trips: 2, rows_written: 9 })
    for (let count = 0; count < 97; count++) await scan(ticket.id)
    expect(readCost(await scan(ticket.id))).toEqual(second)
    const { body } = await get(`/v1/purchases/${ticket.id}`)
    expect(body.uses).toHaveLength(50)
    expect(readCost(await get(`/v1/purchases/${ticket.id}`)).rows_read).toBeLessThanOrEqual(12 + 50)
  })
})

describe('revertPurchaseUse', () => {
  it('gives the uses back, and makes a used ticket active again', async () => {
    const ticket = await givenTicket(shop, { uses_limit: 2 })
    const { body: use } = await scan(ticket.id, { quantity: 2 })
    const reply = await revert(ticket.id, use.id)
    expect([reply.status, reply.body]).toMatchObject([200, { id: use.id, purchase: { status: 'active' } }])
    expect(reply.body.reverted_at).not.toBeNull()
    expect((await get(`/v1/purchases/${ticket.id}`)).body).toMatchObject({
      status: 'active',
      available_uses: 2,
      uses: [{ id: use.id, reverted_at: reply.body.reverted_at }],
    })
    expect(await listAnnounced(ticket)).toEqual(['used:used', 'use_reverted:active'])
    expect((await scan(ticket.id, { quantity: 2 })).status).toBe(201)
  })

  it('answers repeated and simultaneous requests alike, and sends one webhook', async () => {
    const ticket = await givenTicket(shop, { uses_limit: 3 })
    const { body: use } = await scan(ticket.id, { quantity: 2 })
    await scan(ticket.id)
    const replies = await parallel(5, () => revert(ticket.id, use.id))
    expect(tally(replies)).toEqual({ 200: 5 })
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
    expect(await loadPurchase(ticket.id)).toMatchObject({ uses_count: 1, status: 'active' })
    expect(await listAnnounced(ticket)).toEqual(['used:active', 'used:used', 'use_reverted:active'])
    const entries = await get(`/v1/audit-log?organization_id=${shop.organization_id}&action=revertPurchaseUse`)
    expect(entries.body.results.filter((entry: { resource_id: string }) => entry.resource_id === use.id)).toHaveLength(
      1,
    )
  })

  it.each(['refunded', 'cancelled', 'expired'])('changes no purchase that is %s', async (current_status) => {
    const ticket = await givenTicket(shop, { uses_limit: 2 })
    const { body: use } = await scan(ticket.id)
    await db.batch([sql`update purchases set status = ${current_status} where id = ${ticket.id}`])
    const { status, body } = await revert(ticket.id, use.id)
    expect([status, body]).toMatchObject([409, { code: 'purchase_not_usable', current_status }])
    expect(await loadPurchase(ticket.id)).toMatchObject({ status: current_status, uses_count: 1 })
    expect(await listUses(ticket.id)).toMatchObject([{ reverted_at: null }])
  })

  it('finds only uses of its own purchase', async () => {
    const [one, two] = [await givenTicket(shop), await givenTicket(shop)]
    const { body: use } = await scan(one.id)
    const elsewhere = await seedShop()
    const { token } = await givenMember({ id: elsewhere.organization_id }, 'admin')
    const replies = [
      await revert(two.id, use.id),
      await revert(one.id, one.id),
      await revert(one.id, 'use_none'),
      await revert(use.id, use.id),
      await revert(one.id, use.id, token),
    ]
    expect(tally(replies)).toEqual({ '404 not_found': 5 })
    expect(await listUses(one.id)).toMatchObject([{ reverted_at: null }])
  })
})
