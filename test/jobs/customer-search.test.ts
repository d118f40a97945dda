import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { get, patch } from '../support/api.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { db } from '../support/seeding/rows.ts'
import { anOrder, givenOrders, type Shop, seedShop } from '../support/seeding/sales/orders.ts'

interface CustomerTexts {
  email: string
  phone_digits: string
  search_text: string
}

const loadCustomer = (shop: Shop) =>
  db.first(sql<CustomerTexts>`select email, phone_digits, search_text from users
    where organization_id = ${shop.organization_id}`)

const searchCustomers = async (shop: Shop, text: string): Promise<number[]> => {
  const search = encodeURIComponent(text)
  const counts = [
    `/v1/user?organization_id=${shop.organization_id}&search=${search}`,
    `/v1/user?edition_id=${shop.edition_id}&search=${search}`,
    `/v1/orders?edition_id=${shop.edition_id}&customer_email=${search}`,
  ]
  return Promise.all(counts.map(async (path) => (await get(path)).body.count as number))
}

const seedShopWith = async (email: string): Promise<Shop> => {
  const shop = await seedShop()
  await givenOrders(shop, [anOrder({ customer: { email, first_name: 'Ægir', last_name: 'Holm' } })])
  return shop
}

it('listUsers finds an address in any case and without its accents', async () => {
  const shop = await seedShopWith('søren.Müller@example.dk')
  expect(await loadCustomer(shop)).toMatchObject({ search_text: 'aegir holm\nsoren.muller@example.dk\n' })
  expect(await searchCustomers(shop, 'soren.MULLER')).toEqual([1, 1, 1])
  expect(await searchCustomers(shop, 'Søren.Müller')).toEqual([1, 1, 1])
  expect(await searchCustomers(shop, 'aegir')).toEqual([1, 1, 0])
})

it('listUsers finds words of a name and an address, and no letters across both', async () => {
  const shop = await seedShopWith('mail@example.dk')
  expect(await searchCustomers(shop, 'holm mail')).toEqual([1, 1, 0])
  for (const text of ['holmmail', 'lmma']) expect([text, await searchCustomers(shop, text)]).toEqual([text, [0, 0, 0]])
})

it('listUsers finds a customer only by the present address and name', async () => {
  const shop = await seedShop()
  await givenOrders(shop, [anOrder({ customer: { email: 'kept@example.dk', first_name: 'Ann', last_name: 'OLSEN' } })])
  expect(await searchCustomers(shop, 'ann OLS')).toEqual([1, 1, 0])
  const { body } = await get(`/v1/user?organization_id=${shop.organization_id}`)
  const changes = [
    [{ first_name: 'Eva' }, 'eva olsen', 'ann olsen'],
    [{ last_name: 'Møller' }, 'eva møl', 'olsen'],
    [{ first_name: '', last_name: '' }, 'kept@', 'eva'],
    [{ last_name: 'x\u0301' }, 'kept@', 'moller'],
    [{ email: 'other@example.dk' }, 'other@exam', 'kept@'],
  ] as const
  for (const [change, present, former] of changes) {
    expect((await patch(`/v1/user/${body.results[0].id}`, change)).status).toBe(200)
    expect([change, (await searchCustomers(shop, present))[0], (await searchCustomers(shop, former))[0]]).toEqual([
      change,
      1,
      0,
    ])
  }
})

it('listUsers finds a customer of two editions by the contact data of the edition that searches', async () => {
  const shop = await seedShop()
  const customer = { email: 'shared@example.dk', first_name: 'Ann', last_name: 'OLSEN' }
  await givenOrders(shop, [anOrder({ customer })])
  const organization = { id: shop.organization_id }
  const other = { ...shop, edition_id: (await seedEdition(organization)).id }
  await givenOrders(other, [anOrder({ customer: { ...customer, first_name: 'Zoë', last_name: 'Holm' } })])
  const foundBy = async (edition: string, text: string) => {
    const { token } = await givenMember(organization, 'viewer', edition)
    return (await get(`/v1/user?search=${encodeURIComponent(text)}`, token)).body.count as number
  }
  for (const [edition, ownText, others] of [
    [shop.edition_id, 'OLSEN', 'zoë'],
    [other.edition_id, 'ZOË', 'olsen'],
    [shop.edition_id, 'Ls', 'ZO'],
    [other.edition_id, 'Zö', 'LS'],
  ] as const)
    expect([await foundBy(edition, ownText), await foundBy(edition, others)]).toEqual([1, 0])
})
