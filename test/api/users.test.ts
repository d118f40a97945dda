import { describe, expect, it } from 'vitest'
import { call, get, patch, rootToken } from '../support/api.ts'
import { encodeCsv } from '../support/data-imports.ts'
import { previewOrders, startImport } from '../support/imported-tables.ts'
import { listIds, compareNullsLast, readAs, walkAs } from '../support/lists.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedPeople } from '../support/seeding/customers.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenImport } from '../support/seeding/imports/data-imports.ts'
import { givenMember } from '../support/seeding/members.ts'
import { anOrder, givenOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'

async function givenCustomer(shop: Shop, customer: Record<string, unknown>) {
  const [orderId] = await givenOrders(shop, [anOrder({ customer })])
  const { body } = await get(`/v1/orders/${orderId}`)
  return { id: body.customer.api_id as string, orderId }
}

describe('listUsers', () => {
  it('finds customers by name, address and number, in any spelling', async () => {
    const shop = await seedShop()
    const { id } = await givenCustomer(shop, {
      email: 'soren@example.dk',
      phone_number: '32123456',
      first_name: 'Søren',
      last_name: 'Æbelø',
    })
    await givenCustomer(shop, { email: 'other@example.dk' })
    for (const needle of ['soren', 'SØREN ÆB', 'aebelo', 'soren@EXAMPLE', '+45 32 12 34', '3212']) {
      const { body } = await get(`/v1/user?edition_id=${shop.edition_id}&search=${encodeURIComponent(needle)}`)
      expect(
        body.results.map((user: { id: string }) => user.id),
        needle,
      ).toEqual([id])
    }
  })

  it('finds words of names, addresses and numbers in any order, with any apostrophe and hyphen', async () => {
    const shop = await seedShop()
    const bodil = await givenCustomer(shop, {
      email: 'bodil@example.dk',
      phone_number: '32123456',
      first_name: 'Bodil\u2011Marie',
      last_name: 'Ørsted',
    })
    const brien = await givenCustomer(shop, { email: 'b@example.dk', first_name: 'Bo', last_name: 'O’Brien' })
    const { token } = await givenMember({ id: shop.organization_id }, 'viewer', shop.edition_id)
    for (const [needle, expectedIds] of [
      ['Ørsted Bodil', [bodil.id]],
      ['orsted, bodil', [bodil.id]],
      ['bodil-marie', [bodil.id]],
      ['marie bodil\u2013', [bodil.id]],
      ['3212 orsted', [bodil.id]],
      ['example.dk orsted', [bodil.id]],
      ['32\u201112\u201134', [bodil.id]],
      ["o'brien", [brien.id]],
      ['O\u02BCBrien bo', [brien.id]],
      ['bodil brien', []],
    ] as const)
      for (const as of [rootToken, token]) {
        const query = new URLSearchParams({ organization_id: shop.organization_id, search: needle })
        const { body } = await get(`/v1/user?${query.toString()}`, as)
        expect([needle, body.results.map(({ id }: { id: string }) => id)]).toEqual([needle, expectedIds])
      }
  })

  it('returns pages of a fixed size', async () => {
    const shop = await seedShop()
    await givenOrders(
      shop,
      Array.from({ length: 3 }, () => anOrder()),
    )
    const { body } = await get(`/v1/user?organization_id=${shop.organization_id}&page_size=1`)
    expect(body.results).toHaveLength(3)
  })

  it('lists customers who were seen first, then the others, each once, when you follow next', async () => {
    const shop = await seedShop()
    const people = await seedPeople(
      { organization: shop.organization_id },
      Array.from({ length: 120 }, (_, index) => ({ last_seen_at: index < 10 ? 1_000 + index : null })),
    )
    for (const [ordering, seenPeople] of [
      ['last_seen', people.slice(0, 10)],
      ['-last_seen', people.slice(0, 10).toReversed()],
    ] as const) {
      const { ids } = await walkAs(rootToken, `/v1/user?organization_id=${shop.organization_id}&ordering=${ordering}`)
      expect(ids.slice(0, 10)).toEqual(seenPeople.map(({ id }) => id))
      expect(ids.toSorted()).toEqual(people.map(({ id }) => id).toSorted())
    }
  })

  it('lists customers with and without a number or a visit in every ordering', async () => {
    const shop = await seedShop()
    const people = await seedPeople(
      { organization: shop.organization_id, edition: shop.edition_id },
      Array.from({ length: 400 }, (_, index) => ({
        created_at: 1_000 + ((index * 7) % 50),
        last_seen_at: index % 3 ? null : 2_000 + ((index * 5) % 40),
        ...(index % 7 < 3 ? {} : { phone_number: index % 7 === 3 ? '+4520100100' : null, phone_digits: '' }),
      })),
    )
    const keys = { date_joined: 'created_at', phone_number: 'phone_number', last_seen: 'last_seen_at' } as const
    for (const place of [`organization_id=${shop.organization_id}`, `edition_id=${shop.edition_id}`])
      for (const [name, key] of Object.entries(keys))
        for (const desc of [false, true]) {
          const expected = people.toSorted((left, right) => {
            const ties = desc ? [right, left] : [left, right]
            return compareNullsLast(desc)(left[key], right[key]) || (ties[0]?.seq ?? 0) - (ties[1]?.seq ?? 0)
          })
          const ids: string[] = []
          const first = `/v1/user?${place}&ordering=${desc ? '-' : ''}${name}`
          for (let at: string | null = first; at !== null;) {
            const reply = await readAs(rootToken, at)
            ids.push(...listIds(reply))
            at = reply.body.next
          }
          expect(ids, first).toEqual(expected.map(({ id }) => id))
        }
  })

  it('shows an edition role the customers of its edition only', async () => {
    const shop = await seedShop()
    await givenCustomer(shop, { email: 'mine@example.dk' })
    const elsewhere = await seedShop()
    const foreign = await givenCustomer(elsewhere, { email: 'theirs@example.dk' })
    const viewer = await givenMember({ id: shop.organization_id }, 'viewer', shop.edition_id)
    const { body } = await get('/v1/user', viewer.token)
    expect(body.results.map((user: { email: string }) => user.email)).toEqual(['mine@example.dk'])
    expect((await get(`/v1/user/${foreign.id}`, viewer.token)).status).toBe(404)
  })
})

describe('updateUser', () => {
  it('normalises address and number, and orders are found by the new values', async () => {
    const shop = await seedShop()
    const { id, orderId } = await givenCustomer(shop, { email: 'old@example.dk', first_name: 'Ada' })
    const reply = await patch(`/v1/user/${id}`, {
      email: 'NEW@Example.dk ',
      phone_number: '32 12 34 56',
      last_name: 'Holm',
    })
    expect(reply.body).toMatchObject({
      email: 'new@example.dk',
      phone_number: '+4532123456',
      first_name: 'Ada',
      last_name: 'Holm',
    })
    expect((await get(`/v1/user/${id}`)).body).toEqual(reply.body)
    const search = async (needle: string) =>
      (await get(`/v1/orders?edition_id=${shop.edition_id}&search=${needle}`)).body.results.map(
        (order: { id: string }) => order.id,
      )
    expect(await search('new@example.dk')).toEqual([orderId])
    expect(await search('3212')).toEqual([orderId])
    expect(await search('old@example.dk')).toEqual([])
  })

  it.each([
    [{ email: 'nobody' }, 'invalid_email', '#/email'],
    [{ email: 'a@b' }, 'invalid_email', '#/email'],
    [{ email: 'a\r\nBcc: b@example.dk' }, 'invalid_email', '#/email'],
    [{ phone_number: '12' }, 'invalid_phone', '#/phone_number'],
    [{ phone_number: '1'.repeat(33) }, 'max_length', '#/phone_number'],
    [{ first_name: 'x'.repeat(81) }, 'max_length', '#/first_name'],
    [{ first_name: null }, 'null', '#/first_name'],
    [{ email: null, phone_number: null }, 'contact_required', '#/email'],
  ])('refuses %j and changes nothing', async (body, code, pointer) => {
    const shop = await seedShop()
    const { id } = await givenCustomer(shop, { email: 'kept@example.dk' })
    const before = await get(`/v1/user/${id}`)
    const reply = await patch(`/v1/user/${id}`, body)
    expect(reply.status).toBe(400)
    expect(reply.body.errors[0]).toMatchObject({ code, pointer })
    expect((await get(`/v1/user/${id}`)).text).toBe(before.text)
  })

  it('refuses an address that another customer of the organisation has', async () => {
    const shop = await seedShop()
    await givenCustomer(shop, { email: 'taken@example.dk' })
    const { id } = await givenCustomer(shop, { email: 'second@example.dk' })
    const reply = await patch(`/v1/user/${id}`, { email: 'Taken@example.dk' })
    expect(describeRefusal(reply)).toBe('400 validation_error: unique #/email')
  })

  it('accepts the address that the customer has, and one of another organisation', async () => {
    const { id } = await givenCustomer(await seedShop(), { email: 'taken@example.dk' })
    expect((await patch(`/v1/user/${id}`, { email: 'taken@example.dk' })).status).toBe(200)
    const elsewhere = await givenCustomer(await seedShop(), { email: 'third@example.dk' })
    expect((await patch(`/v1/user/${elsewhere.id}`, { email: 'taken@example.dk' })).status).toBe(200)
  })

  it('ignores read-only fields', async () => {
    const shop = await seedShop()
    const { id } = await givenCustomer(shop, { email: 'a@example.dk' })
    const reply = await patch(`/v1/user/${id}`, {
      locale: 'pl',
      msg_channel: 'sms',
      is_active: false,
      date_joined: '2000-01-01T00:00:00Z',
    })
    expect(reply.body).toMatchObject({ locale: 'en', msg_channel: 'email', is_active: true })
  })

  it('keeps both of two changes made at once', async () => {
    const shop = await seedShop()
    const { id } = await givenCustomer(shop, { email: 'a@example.dk' })
    const changes = [{ first_name: 'Ada' }, { last_name: 'Holm' }, { phone_number: '+4532123456' }]
    const replies = await Promise.all(changes.map((change) => patch(`/v1/user/${id}`, change)))
    expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200])
    expect((await get(`/v1/user/${id}`)).body).toMatchObject({
      first_name: 'Ada',
      last_name: 'Holm',
      phone_number: '+4532123456',
    })
  })

  it('keeps a change that another request made meanwhile', async () => {
    const shop = await seedShop()
    const { id } = await givenCustomer(shop, { email: 'a@example.dk' })
    const { headers } = await get(`/v1/user/${id}`)
    const etag = headers.get('etag') ?? ''
    const change = (first_name: string) =>
      call(`/v1/user/${id}`, { method: 'PATCH', body: { first_name }, headers: { 'if-match': etag } })
    expect((await change('Ada')).status).toBe(200)
    const lateReply = await change('Eva')
    expect(describeRefusal(lateReply)).toBe('412 precondition_failed')
    expect((await get(`/v1/user/${id}`)).body.first_name).toBe('Ada')
  })
})

describe('getUser', () => {
  it('returns a customer only to roles of the customer’s editions', async () => {
    const shop = await seedShop()
    const { id } = await givenCustomer(shop, { email: 'soren@example.dk', first_name: 'Søren', last_name: 'Æbelø' })
    const expectedCustomer = { id, email: 'soren@example.dk', first_name: 'Søren', last_name: 'Æbelø', is_active: true }
    const organization = { id: shop.organization_id }
    const sibling = await seedEdition(organization)
    const here = await givenMember(organization, 'viewer', shop.edition_id)
    const there = await givenMember(organization, 'viewer', sibling.id)
    expect((await get(`/v1/user/${id}`, here.token)).body).toMatchObject(expectedCustomer)
    expect((await get(`/v1/user/${id}`, there.token)).status).toBe(404)
  })
})

describe('exportUser', () => {
  it('returns all data of a customer to admins of the organisation', async () => {
    const shop = await seedShop()
    const { id, orderId } = await givenCustomer(shop, { email: 'soren@example.dk', first_name: 'Søren' })
    const [admin, manager] = [
      await givenMember({ id: shop.organization_id }, 'admin'),
      await givenMember({ id: shop.organization_id }, 'manager'),
    ]
    const reply = await get(`/v1/user/${id}/export`, admin.token)
    expect(reply.status, reply.text).toBe(200)
    expect(reply.text).toContain('soren@example.dk')
    expect(reply.text).toContain(orderId)
    expect((await get(`/v1/user/${id}/export`, manager.token)).status).toBe(403)
  })

  it('has amounts, times and flags as everywhere in the API', async () => {
    const shop = await seedShop()
    const { id } = await givenCustomer(shop, { email: `public-${crypto.randomUUID()}@example.dk` })
    const [user, orders] = [await get(`/v1/user/${id}`), await get(`/v1/orders?customer_id=${id}`)]
    const { body, text } = await get(`/v1/user/${id}/export`)
    const { msg_channel, is_active, is_verified, date_joined, last_seen, email } = user.body
    expect(body.user).toMatchObject([{ id, email, msg_channel, is_active, is_verified, date_joined, last_seen }])
    const [order] = orders.body.results
    const { amount, created, modified, has_payment, source, external_id } = order
    expect(body.orders).toMatchObject([{ id: order.id, amount, created, modified, has_payment, source, external_id }])
    expect(text).not.toMatch(/_minor"|"(?:is|has)_\w+":[01]|_at":\d/)
  })

  it('has the rows of files with amounts and times as everywhere in the API', async () => {
    const shop = await seedShop({ timezone: 'UTC' })
    const email = `row-${crypto.randomUUID()}@example.dk`
    const lines = ['Order ID;Email;Order date;Ticket type;Price', `A;${email};2026-05-01;Partout;225,50`]
    const { id } = await givenImport(shop, encodeCsv(lines.map((line) => `${line}\r\n`).join('')))
    await previewOrders(id)
    await startImport(id)
    const [user] = (await get(`/v1/user?organization_id=${shop.organization_id}&search=${email}`)).body.results
    const { body } = await get(`/v1/user/${user.id}/export`)
    const values = { 'item.unit_price': 225.5, 'order.created': '2026-05-01T00:00:00.000Z' }
    expect(body.import_rows).toMatchObject([{ import_id: id, outcome: 'created', values }])
    const rows = await get(`/v1/data-imports/${id}/rows`)
    expect(rows.body.results).toMatchObject([{ values }])
  })

  it('is a page in the language of the customer or of the request, which runs no text of theirs', async () => {
    const shop = await seedShop()
    const hostile = '<script>alert(1)</script><img src=x onerror="alert(2)">'
    const { id } = await givenCustomer(shop, {
      email: `page-${crypto.randomUUID()}@example.dk`,
      first_name: hostile,
      locale: 'da',
      metadata: { '<b>key</b>': `${hostile}</pre>` },
    })
    const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
    const pages = [
      await call(`/v1/user/${id}/export`, { token: rootToken, headers: browser }),
      await get(`/v1/user/${id}/export?format=html&language=pl`),
    ]
    expect(pages.map(({ status }) => status)).toEqual([200, 200])
    for (const page of pages) {
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(page.headers.get('content-disposition')).toBeNull()
      expect(page.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
      expect(page.text).not.toMatch(/<script|<img|<b>/)
    }
    expect(pages.map(({ text }) => /<html lang="(\w+)"/.exec(text)?.[1])).toEqual(['da', 'pl'])
    expect(pages[0]?.text).toContain('Dine oplysninger')
    expect(pages[1]?.text).toContain('Twoje dane')
    const json = await call(`/v1/user/${id}/export?format=json`, { token: rootToken, headers: browser })
    expect(json.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect((await get(`/v1/user/${id}/export?format=html&language=xx`)).status).toBe(400)
  })
})
