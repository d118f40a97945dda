import { beforeAll, describe, expect, it } from 'vitest'
import { get } from '../support/api.ts'
import { loadPurchase, scan } from '../support/purchases.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedShop, type Shop, givenTicket } from '../support/seeding/sales/orders.ts'

let shop: Shop
beforeAll(async () => {
  shop = await seedShop()
})

const list = (query: Record<string, string>, token?: string) =>
  get(`/v1/purchases?${new URLSearchParams({ edition_id: shop.edition_id, ...query }).toString()}`, token)

const ids = ({ body }: { body: { results: { id: string }[] } }) => body.results.map(({ id }) => id)

describe('listPurchases', () => {
  it('finds a purchase by its code in any case, with its order and its customer', async () => {
    const ticket = await givenTicket(
      shop,
      { vendor_code: 'Gate-77' },
      { order_number: '4711', external_id: 'shop-4711' },
    )
    await givenTicket(shop, { vendor_code: 'Gate-770' })
    const reply = await list({ vendor_code: 'gate-77' })
    expect(reply.body).toMatchObject({
      count: 1,
      results: [
        {
          id: ticket.id,
          vendor_code: 'Gate-77',
          status: 'active',
          available_uses: 1,
          valid_until: null,
          order: { order_number: '4711', external_id: 'shop-4711' },
          user: { full_name: 'Ægir Holm' },
        },
      ],
    })
    expect(ids(await list({ vendor_code: 'Gate' }))).toEqual([])
  })

  it('finds purchases by the beginning of a code, and by exact numbers and ids', async () => {
    const one = await givenTicket(shop, { vendor_code: 'ZX%1' }, { order_number: 'N-0042', external_id: 'shop-42' })
    const two = await givenTicket(shop, { vendor_code: 'zx%2' })
    const { order_id } = await loadPurchase(one.id)
    for (const [search, expectedIds] of [
      ['Zx%', [two.id, one.id]],
      ['zx%1', [one.id]],
      ['x%', []],
      ['%', []],
      ['n-42', [one.id]],
      ['n-4', []],
      ['shop-42', [one.id]],
      ['shop-4', []],
      [one.id, [one.id]],
      [order_id, [one.id]],
      ['z\u{10FFFF}', []],
    ] as const)
      expect([search, ids(await list({ search })).toSorted()]).toEqual([search, [...expectedIds].toSorted()])
    expect(ids(await list({ search: 'zx%', vendor_code: 'zx%2' }))).toEqual([two.id])
  })

  it('filters by status', async () => {
    const ticket = await givenTicket(shop, { vendor_code: 'STATUS-1' })
    await scan(ticket.id)
    expect(ids(await list({ status: 'used' }))).toContain(ticket.id)
    expect(ids(await list({ status: 'used', vendor_code: 'STATUS-1' }))).toEqual([ticket.id])
    expect(ids(await list({ status: 'active', vendor_code: 'STATUS-1' }))).toEqual([])
  })

  it('requires an edition', async () => {
    const { status, body } = await get('/v1/purchases?vendor_code=Gate-77')
    expect([status, body.errors]).toMatchObject([400, [{ code: 'required_filter' }]])
    expect((await list({ edition_id: 'edt_none', vendor_code: 'Gate-77' })).body).toMatchObject({ count: 0 })
  })

  it('shows an edition role only its own edition, and customers as that edition knows them', async () => {
    const sibling = { ...shop, edition_id: (await seedEdition({ id: shop.organization_id })).id }
    const customer = (last_name: string) => ({ customer: { email: 'shared@example.dk', first_name: 'Eva', last_name } })
    const here = await givenTicket(shop, { vendor_code: 'SHARED' }, customer('Here'))
    const there = await givenTicket(sibling, { vendor_code: 'SHARED' }, customer('There'))
    const organisation = { id: shop.organization_id }
    const { token } = await givenMember(organisation, 'viewer', shop.edition_id)
    const ownPurchases = await list({ vendor_code: 'SHARED' }, token)
    expect(ownPurchases.body.results).toMatchObject([{ id: here.id, user: { full_name: 'Eva Here' } }])
    for (const search of ['SHARED', there.id, (await loadPurchase(there.id)).order_id]) {
      expect(ids(await list({ edition_id: sibling.edition_id, search }, token))).toEqual([])
      expect(ids(await list({ search }, token))).toEqual(search === 'SHARED' ? [here.id] : [])
    }
    const stranger = await givenMember({ id: (await seedShop()).organization_id }, 'admin')
    expect((await list({}, stranger.token)).body).toMatchObject({ count: 0, results: [] })
  })

  it('lists a purchase once when both its code and its order number match', async () => {
    const here = await seedShop()
    const first = await givenTicket(here, { vendor_code: '77-A' }, { order_number: '77' })
    const second = await givenTicket(here, {}, { order_number: '0077' })
    const third = await givenTicket(here, { vendor_code: '770' })
    await givenTicket(here, { vendor_code: '78' }, { order_number: '78' })
    const place = { edition_id: here.edition_id, search: '77' }
    const all = await list({ ...place, ordering: 'created' })
    expect([all.body.count, ids(all)]).toEqual([3, [first.id, second.id, third.id]])
    const page = await list({ ...place, page_size: '1', page: '2' })
    expect([page.body.count, ids(page)]).toEqual([3, [second.id]])
    expect(ids(await list({ ...place, status: 'used' }))).toEqual([])
  })
})

type TicketName = 'day' | 'camp' | 'later' | 'foreign'
type Scene = Awaited<ReturnType<typeof seedScene>>

/** Makes purchases of one holder in two editions, one of another holder, and one of another organisation. */
async function seedScene() {
  const place = await seedShop()
  const sibling = { ...place, edition_id: (await seedEdition({ id: place.organization_id })).id }
  const other = await seedShop()
  const customer = { email: 'holder@example.dk' }
  const guest = { email: 'guest@example.dk' }
  const tickets = {
    day: await givenTicket(place, { vendor_code: 'D-1' }, { customer, created: '2026-03-01T10:00:00Z' }),
    camp: await givenTicket(place, { product: 'Camping' }, { customer, created: '2026-03-02T10:00:00Z' }),
    later: await givenTicket(sibling, { vendor_code: 'D-2' }, { customer, created: '2026-03-03T10:00:00Z' }),
    foreign: await givenTicket(place, { vendor_code: 'D-3' }, { customer: guest, created: '2026-03-04T10:00:00Z' }),
  } satisfies Record<TicketName, object>
  await givenTicket(other, { vendor_code: 'D-1' })
  expect((await scan(tickets.day.id)).status).toBe(201)
  const { user_id, product_id } = await loadPurchase(tickets.day.id)
  return {
    tickets,
    user_id,
    product_id: product_id ?? '',
    edition: { edition_id: place.edition_id },
    organization: { organization_id: place.organization_id },
    sibling_id: sibling.edition_id,
    stranger: { organization_id: other.organization_id },
  }
}

describe('filters of listPurchases', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await seedScene()
  })

  const readNames = async (query: Record<string, string>, token?: string) => {
    const reply = await get(`/v1/purchases?${new URLSearchParams(query).toString()}`, token)
    expect(reply.status).toBe(200)
    const names = new Map(Object.entries(scene.tickets).map(([name, { id }]) => [id, name]))
    return ids(reply).map((id) => names.get(id) ?? id)
  }

  it.each<[string, (scene: Scene) => Record<string, string>, TicketName[]]>([
    ['product', ({ edition, product_id }) => ({ ...edition, product_id }), ['foreign', 'day']],
    ['holder in an edition', ({ edition, user_id }) => ({ ...edition, user_id }), ['camp', 'day']],
    ['holder in all editions', ({ user_id }) => ({ user_id }), ['later', 'camp', 'day']],
    ['holder and beginning of the code', ({ user_id }) => ({ user_id, search: 'd-' }), ['later', 'day']],
    ['holder and code', ({ user_id }) => ({ user_id, vendor_code: 'd-2' }), ['later']],
    ['the lack of a code', ({ edition }) => ({ ...edition, has_vendor_code: 'false' }), ['camp']],
    ['a code in an edition', ({ edition }) => ({ ...edition, has_vendor_code: 'true' }), ['foreign', 'day']],
    ['a code', ({ organization }) => ({ ...organization, has_vendor_code: 'true' }), ['foreign', 'later', 'day']],
    ['use', ({ organization }) => ({ ...organization, is_used: 'true' }), ['day']],
    ['the lack of a use', ({ organization }) => ({ ...organization, is_used: 'false' }), ['foreign', 'later', 'camp']],
    [
      'time',
      ({ organization }) => ({
        ...organization,
        created_after: '2026-03-02T10:00:00Z',
        created_before: '2026-03-03T10:00:00Z',
      }),
      ['camp'],
    ],
    ['an edition of another organisation', ({ edition, stranger }) => ({ ...edition, ...stranger }), []],
  ])('find purchases by %s', async (_, buildQuery, expected) => {
    expect(await readNames(buildQuery(scene))).toEqual(expected)
  })

  it('order the purchases of an organisation by time', async () => {
    expect(await readNames({ ...scene.organization, ordering: 'created' })).toEqual(['day', 'camp', 'later', 'foreign'])
  })

  it('find nothing outside the edition of the role', async () => {
    const { token } = await givenMember({ id: scene.organization.organization_id }, 'viewer', scene.sibling_id)
    expect(await readNames(scene.organization, token)).toEqual(['later'])
    expect(await readNames({ user_id: scene.user_id }, token)).toEqual(['later'])
    expect(await readNames(scene.edition, token)).toEqual([])
  })

  it('find nothing for a role of another organisation', async () => {
    const { token } = await givenMember({ id: scene.stranger.organization_id }, 'admin')
    expect(await readNames({ user_id: scene.user_id }, token)).toEqual([])
    expect(await readNames(scene.organization, token)).toEqual([])
  })
})

describe('an import of external orders', () => {
  it('takes names with another hyphen or apostrophe for the same product, variant and location', async () => {
    const place = await seedShop()
    const spellings = [
      ['Early-bird', "Kids' area"],
      ['Early\u2010bird', 'Kids’ area'],
      ['Early\u2011bird', 'Kids\u00B4 area'],
      ['early\u2013bird', 'kids` area'],
    ]
    const rows = []
    for (const [name, location] of spellings) {
      const { id } = await givenTicket(place, { product: name, variant: name, location })
      rows.push(await loadPurchase(id))
    }
    for (const column of ['product_id', 'variant_id', 'location_id'] as const)
      expect(new Set(rows.map((row) => row[column])).size).toBe(1)
  })
})
