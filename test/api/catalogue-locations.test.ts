import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { LostRace } from '../../src/domain/errors.ts'
import { findLocation } from '../../src/modules/catalogue/locations/queries.ts'
import { deleteLocation } from '../../src/modules/catalogue/locations/write.ts'
import { get, patch, post, remove } from '../support/api.ts'
import { listEntries } from '../support/audit.ts'
import { createContextAt, interruptBefore } from '../support/context.ts'
import { readCost } from '../support/cost.ts'
import { buildRefusal, codes } from '../support/editions.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedLocation, seedLocations, seedOwner } from '../support/seeding/catalogue.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { seedImport, seedImportProducts } from '../support/seeding/imports/data-imports.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedSegment } from '../support/seeding/messaging/segments.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, importOrders } from '../support/seeding/sales/orders.ts'
import { seedTrade, seedTrades } from '../support/seeding/sales/trades.ts'
import { undoToEnd } from '../support/undone-imports.ts'

const path = '/v1/locations'

const loadLocations = (edition: string) =>
  db.all(sql<{ id: string; name: string }>`select id, name from locations where edition_id = ${edition}`)

const seedPurchaseAt = async (place: { organization: string; edition: string }, location: string) => {
  const { purchase } = await seedTrade(place)
  await write(sql`update purchases set location_id = ${location} where id = ${purchase}`)
  return purchase
}

describe('listLocations', () => {
  it('lists locations by their name, with numbers as numbers', async () => {
    const { token, place } = await seedOwner()
    for (const name of ['Gate 10', 'gate 9', 'Åben port'])
      await seedLocation(place, { name, is_draft: name === 'gate 9' })
    const listNames = async (query: string) =>
      (await get(`${path}?edition_id=${place.edition}${query}`, token)).body.results.map(
        ({ name }: { name: string }) => name,
      )
    expect(await listNames('')).toEqual(['Åben port', 'gate 9', 'Gate 10'])
    expect(await listNames('&is_draft=true')).toEqual(['gate 9'])
    expect(await listNames('&search=aben')).toEqual(['Åben port'])
  })
})

describe('createLocation', () => {
  it('makes a pickup point, which the health check then finds', async () => {
    const { token, owner, place } = await seedOwner()
    await seedTrade(place)
    await write(sql`update products set is_pickup_required = 1 where edition_id = ${place.edition}`)
    const hasPassed = async () =>
      (await get(`/v1/editions/${place.edition}/healthcheck`, token)).body.checks.find(
        ({ check_id }: { check_id: string }) => check_id === 'fulfilment.pickup_points',
      ).passed
    const draft = await post(path, { ...owner, name: 'Main gate', is_draft: true }, token)
    expect([draft.status, await hasPassed()]).toEqual([201, false])
    expect((await patch(`${path}/${draft.body.id}`, { is_draft: false }, token)).status).toBe(200)
    expect(await hasPassed()).toBe(true)
  })

  it('is found by imports in any spelling of its name', async () => {
    const { token, owner, place } = await seedOwner()
    const { body } = await post(path, { ...owner, name: 'Østporten' }, token)
    const item = { product: 'Day ticket', location: 'OSTPORTEN', quantity: 1, unit_price: 10 }
    await importOrders(owner, [anOrder({ items: [item] })])
    expect(await loadLocations(place.edition)).toEqual([{ id: body.id, name: 'Østporten' }])
    expect(codes(await post(path, { ...owner, name: 'ostporten' }, token))).toEqual(buildRefusal('#/name unique'))
  })

  it('is refused in an edition that has 500 locations', async () => {
    const { token, place, owner } = await seedOwner()
    await seedLocations(place, 500)
    expect(describeRefusal(await post(path, { ...owner, name: 'One more' }, token))).toBe('409 catalogue_full')
  })
})

describe('getLocation', () => {
  it('shows a location that an import has added', async () => {
    const { token, owner, place } = await seedOwner()
    const item = { product: 'Day ticket', location: 'Harbour', quantity: 1, unit_price: 10 }
    await importOrders(owner, [anOrder({ items: [item] })])
    const [location] = await loadLocations(place.edition)
    const { body } = await get(`${path}/${location?.id}`, token)
    expect(body).toMatchObject({ ...owner, name: 'Harbour', is_draft: false })
    expect(body.modified).toBe(body.created)
  })
})

describe('updateLocation', () => {
  it('renames the location in what shows it', async () => {
    const { token, place } = await seedOwner()
    const id = await seedLocation(place, { name: 'Gate A' })
    const purchase = await seedPurchaseAt(place, id)
    const reply = await patch(`${path}/${id}`, { name: '<b>Gate "B"</b>' }, token)
    expect(reply.body).toMatchObject({ id, name: '<b>Gate "B"</b>' })
    expect((await get(`/v1/purchases/${purchase}`, token)).body.location).toMatchObject({ name: '<b>Gate "B"</b>' })
  })

  it('is refused to viewers, and to managers of another edition', async () => {
    const { admin, place } = await seedOwner()
    const id = await seedLocation(place, { name: 'Gate A' })
    const other = await seedEdition(admin)
    const viewer = await givenMember(admin, 'viewer', place.edition)
    const manager = await givenMember(admin, 'manager', other.id)
    const rename = (token: string) => patch(`${path}/${id}`, { name: 'Gate B' }, token)
    expect(describeRefusal(await rename(viewer.token))).toBe('403 permission_denied')
    expect(describeRefusal(await rename(manager.token))).toBe('404 not_found')
    expect(await loadLocations(place.edition)).toEqual([{ id, name: 'Gate A' }])
  })
})

describe('deleteLocation', () => {
  it('deletes a location that nothing names', async () => {
    const { token, place } = await seedOwner()
    const [id, other] = await seedLocations(place, 2)
    const reply = await remove(`${path}/${id}`, token)
    expect(reply.status).toBe(204)
    expect(await listEntries(reply)).toMatchObject([{ action: 'deleteLocation', resource_id: id }])
    expect((await loadLocations(place.edition)).map((row) => row.id)).toEqual([other])
  })

  it('is refused while purchases, their uses, segments or unfinished imports name it, with their numbers', async () => {
    const { token, place } = await seedOwner()
    const id = await seedLocation(place)
    const [purchase] = [await seedPurchaseAt(place, id), await seedPurchaseAt(place, id)]
    expect((await post(`/v1/purchases/${purchase}/uses`, { location_id: id }, token)).status).toBe(201)
    const importId = await seedImport(place, 'mapping_products')
    await seedImportProducts(importId, 2)
    await write(sql`update import_products set location_id = ${id} where import_id = ${importId}`)
    await seedSegment(place, { expression: `purchases.exists(p, p.location == "${id}")` })
    const refusal = await remove(`${path}/${id}`, token)
    expect([describeRefusal(refusal), refusal.body.counts]).toEqual([
      '409 location_in_use',
      { purchases: 2, purchase_uses: 1, data_imports: 1, segments: 1, email_messages: 0 },
    ])
    expect(await loadLocations(place.edition)).toHaveLength(1)
  })

  it('counts only segments that the caller sees, and says that others use it', async () => {
    const { admin, token, place } = await seedOwner()
    const id = await seedLocation(place)
    const manager = await givenMember(admin, 'manager', place.edition)
    await seedSegment(
      { organization: admin.id, edition: null },
      { expression: `purchases.exists(p, p.location == "${id}")` },
    )
    const refusal = await remove(`${path}/${id}`, manager.token)
    expect([describeRefusal(refusal), refusal.body.counts]).toEqual([
      '409 location_in_use',
      { purchases: 0, purchase_uses: 0, data_imports: 0, segments: 0, email_messages: 0 },
    ])
    expect(refusal.body.detail).toContain('Something outside your editions uses it.')
    expect((await remove(`${path}/${id}`, token)).body.counts.segments).toBe(1)
  })

  it('is lost to a purchase that gets the location at the same time', async () => {
    const { place } = await seedOwner()
    const id = await seedLocation(place)
    const row = await findLocation(createContextAt(Date.now()), id)
    await expect(
      deleteLocation(
        interruptBefore(() => seedPurchaseAt(place, id)),
        row,
      ),
    ).rejects.toThrow(LostRace)
    expect(await loadLocations(place.edition)).toHaveLength(1)
  })

  it('reads none of the purchases of other locations', async () => {
    const { token, place } = await seedOwner()
    const [id, other = ''] = await seedLocations(place, 2)
    await seedTrades(place, 300)
    await write(sql`update purchases set location_id = ${other} where edition_id = ${place.edition}`)
    const reply = await remove(`${path}/${id}`, token)
    expect(reply.status).toBe(204)
    expect(readCost(reply).rows_read).toBeLessThan(50)
  })

  it('takes the location out of mappings of finished imports', async () => {
    const { token, place } = await seedOwner()
    const id = await seedLocation(place)
    const importId = await seedImport(place, 'completed')
    await seedImportProducts(importId, 1)
    await write(sql`update import_products set location_id = ${id} where import_id = ${importId}`)
    expect((await remove(`${path}/${id}`, token)).status).toBe(204)
    const rows = await db.all(sql<{ location_id: string | null }>`select location_id from import_products
      where import_id = ${importId}`)
    expect(rows).toEqual([{ location_id: null }])
  })

  it('leaves a location to you that the undo of its import would delete, once you have changed it', async () => {
    const { token, owner, place } = await seedOwner()
    const items = ['Gate A', 'Gate B'].map((location) => ({ product: 'Pass', location, quantity: 1, unit_price: 10 }))
    const { body } = await importOrders(owner, [anOrder({ items })])
    const [changed] = await loadLocations(place.edition)
    expect((await patch(`${path}/${changed?.id}`, { name: 'Harbour' }, token)).status).toBe(200)
    expect((await undoToEnd(body.id)).status).toBe('undone')
    expect(await loadLocations(place.edition)).toEqual([{ id: changed?.id, name: 'Harbour' }])
  })
})
