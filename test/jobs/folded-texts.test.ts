import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { get, patch } from '../support/api.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, givenOrders, type Shop, seedShop } from '../support/seeding/sales/orders.ts'

interface Stored {
  email: string
  email_folded: string
  search: string
  search_text: string
}

const storedOf = (shop: Shop) =>
  db.first(sql<Stored>`select email, email_folded, search, search_text from users
    where organization_id = ${shop.organization_id}`)

const found = async (shop: Shop, text: string): Promise<number[]> => {
  const search = encodeURIComponent(text)
  const counts = [
    `/v1/user?organization_id=${shop.organization_id}&search=${search}`,
    `/v1/user?edition_id=${shop.edition_id}&search=${search}`,
    `/v1/orders?edition_id=${shop.edition_id}&customer_email=${search}`,
  ]
  return Promise.all(counts.map(async (path) => (await get(path)).body.count as number))
}

const shopWith = async (email: string): Promise<Shop> => {
  const shop = await seedShop()
  await givenOrders(shop, [anOrder({ customer: { email, first_name: 'Ægir', last_name: 'Holm' } })])
  return shop
}

it('an address is stored once, and found in any case', async () => {
  const shop = await shopWith('Kept.One@example.dk')
  expect(await storedOf(shop)).toMatchObject({ email_folded: '', search: 'aegir holm' })
  expect(await found(shop, 'KEPT.one@EXAMPLE')).toEqual([1, 1, 1])
  expect(await found(shop, 'aegir')).toEqual([1, 1, 0])
})

it('an address whose folded text is another than that in lower case is stored with it', async () => {
  const shop = await shopWith('søren.müller@example.dk')
  expect(await storedOf(shop)).toMatchObject({
    email_folded: 'soren.muller@example.dk',
    search: `aegir holm\nsoren.muller@example.dk`,
  })
  expect(await found(shop, 'soren.muller')).toEqual([1, 1, 1])
  expect(await found(shop, 'Søren.Müller')).toEqual([1, 1, 1])
})

it('a row that stores what it could make has the same text in the search index, before and after a change', async () => {
  const shop = await shopWith('kept@example.dk')
  const before = await storedOf(shop)
  await write(
    sql`update users set email_folded = email, search = name_folded || char(10) || email
      where organization_id = ${shop.organization_id}`,
    sql`update edition_customers set email_folded = email
      where user_seq = (select seq from users where organization_id = ${shop.organization_id})`,
  )
  expect((await storedOf(shop))?.search_text).toBe(before?.search_text)
  expect(await found(shop, 'kept@exam')).toEqual([1, 1, 1])
  const { body } = await get(`/v1/user?organization_id=${shop.organization_id}`)
  await patch(`/v1/user/${body.results[0].id}`, { email: 'other@example.dk' })
  expect(await storedOf(shop)).toMatchObject({ email_folded: '', search: 'aegir holm' })
  expect(await found(shop, 'other@exam')).toEqual([1, 1, 1])
  expect((await found(shop, 'kept@exam'))[0]).toBe(0)
})

it('a name is stored once, and found by its present letters alone', async () => {
  const shop = await seedShop()
  await givenOrders(shop, [anOrder({ customer: { email: 'kept@example.dk', first_name: 'Ann', last_name: 'OLSEN' } })])
  expect(await storedOf(shop)).toMatchObject({ search: '\u001e' })
  expect(await found(shop, 'ann OLS')).toEqual([1, 1, 0])
  const { body } = await get(`/v1/user?organization_id=${shop.organization_id}`)
  const names = [
    [{ first_name: 'Eva' }, '\u001e', 'eva olsen', 'ann olsen'],
    [{ last_name: 'Møller' }, 'eva moller', 'eva møl', 'olsen'],
    [{ first_name: '', last_name: '' }, '', 'kept@', 'eva'],
    [{ last_name: 'x\u0301' }, 'x', 'kept@', 'moller'],
    [{ last_name: '\u0301' }, '', 'kept@', 'olsen'],
  ] as const
  for (const [change, search, present, former] of names) {
    expect((await patch(`/v1/user/${body.results[0].id}`, change)).status).toBe(200)
    expect([change, await storedOf(shop)]).toMatchObject([change, { search }])
    expect([change, (await found(shop, present))[0], (await found(shop, former))[0]]).toEqual([change, 1, 0])
  }
})

it('a name that an edition was given is stored once, and found in any case where another edition hides the customer', async () => {
  const shop = await seedShop()
  const given = { email: 'shared@example.dk', first_name: 'Ann', last_name: 'OLSEN' }
  await givenOrders(shop, [anOrder({ customer: given })])
  const organization = { id: shop.organization_id }
  const other = { ...shop, edition_id: (await seedEdition(organization)).id }
  await givenOrders(other, [anOrder({ customer: { ...given, first_name: 'Zoë', last_name: 'Holm' } })])
  const names = (edition: string) =>
    db.first(sql`select name_folded, given_name_folded from edition_customers
      where edition_short_id = (select short_id from editions where id = ${edition})`)
  expect(await names(shop.edition_id)).toEqual({ name_folded: '', given_name_folded: 'ann olsen' })
  expect(await names(other.edition_id)).toEqual({ name_folded: 'zoe holm', given_name_folded: 'zoe holm' })
  const foundBy = async (edition: string, text: string) => {
    const { token } = await givenMember(organization, 'viewer', edition)
    return (await get(`/v1/user?search=${encodeURIComponent(text)}`, token)).body.count as number
  }
  for (const [edition, own, others] of [
    [shop.edition_id, 'OLSEN', 'zoë'],
    [other.edition_id, 'ZOË', 'olsen'],
    [shop.edition_id, 'Ls', 'ZO'],
    [other.edition_id, 'Zö', 'LS'],
  ] as const)
    expect([await foundBy(edition, own), await foundBy(edition, others)]).toEqual([1, 0])
})
