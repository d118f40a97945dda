import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get, patch, post, rootToken } from '../support/api.ts'
import { seedSenderDomain } from '../support/seeding/messaging/sender-domains.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, givenOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'

/** One mailbox, as a shop, a provider's event, an old export and a Japanese keyboard write it. */
const spellings = [
  'anna@bücher.example',
  'anna@xn--bcher-kva.example',
  'Anna@XN--BCHER-KVA.example',
  'anna@BÜCHER.example',
  'anna@bu\u0308cher.example',
  'ａｎｎａ＠ｂｕ\u0308ｃｈｅｒ．ｅｘａｍｐｌｅ',
  'anna@bücher。example',
  '"anna"@bücher.example',
  '"an\\na"@BÜCHER.example.',
  'anna@xn--bcher-kva.example.',
  'anna@bücher。example。',
  'an\u3164na@bü\u034Fcher.example\u2800',
]
const [mailbox = ''] = spellings

const listCustomers = async (shop: Shop, query = ''): Promise<{ id: string; email: string }[]> =>
  (await get(`/v1/user?organization_id=${shop.organization_id}${query}`, rootToken)).body.results

describe('one mailbox in several spellings', () => {
  it('belongs to one customer, who is shown with the Unicode form', async () => {
    const shop = await seedShop()
    await givenOrders(
      shop,
      spellings.map((email) => anOrder({ customer: { email } })),
    )
    expect((await listCustomers(shop)).map(({ email }) => email)).toEqual([mailbox])
  })

  it('is found in every spelling, by searches for customers and orders', async () => {
    const shop = await seedShop()
    const [id] = await givenOrders(shop, [anOrder({ customer: { email: spellings[1] } })])
    await givenOrders(shop, [anOrder({ customer: { email: 'other@example.dk' } })])
    for (const spelling of [...spellings, 'xn--bcher-kva.example', '@bücher']) {
      const needle = encodeURIComponent(spelling)
      expect(await listCustomers(shop, `&search=${needle}`), spelling).toHaveLength(1)
      for (const filter of ['search', 'customer_email']) {
        const { body } = await get(`/v1/orders?edition_id=${shop.edition_id}&${filter}=${needle}`)
        expect(
          body.results.map((order: { id: string }) => order.id),
          `${filter} ${spelling}`,
        ).toEqual([id])
      }
    }
  })

  it('is refused for a second customer', async () => {
    const shop = await seedShop()
    await givenOrders(shop, [
      anOrder({ customer: { email: mailbox } }),
      anOrder({ customer: { email: 'b@example.dk' } }),
    ])
    const other = (await listCustomers(shop)).find(({ email }) => email === 'b@example.dk')
    for (const email of spellings) {
      const { status, body } = await patch(`/v1/user/${other?.id}`, { email })
      expect([status, body.errors?.[0]?.code], email).toEqual([400, 'unique'])
    }
  })

  it('stays suppressed in every spelling', async () => {
    const shop = await seedShop()
    await write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
      values (${shop.organization_id}, 'email', ${mailbox}, 'unsubscribed', 1)`)
    for (const email of spellings.slice(1)) await givenOrders(shop, [anOrder({ customer: { email } })])
    const [customer] = await listCustomers(shop)
    const rows = await db.all(sql`select suppressions.reason from users join suppressions
      on suppressions.organization_id = users.organization_id and suppressions.address = users.email
      where users.id = ${customer?.id}`)
    expect(rows).toEqual([{ reason: 'unsubscribed' }])
  })

  it('is matched in every spelling by expressions of segments', async () => {
    const shop = await seedShop()
    await givenOrders(shop, [
      anOrder({ customer: { email: mailbox, phone_number: '+4520123456' } }),
      anOrder({ customer: { email: 'other@example.dk' } }),
    ])
    const count = async (expression: string) =>
      (await post('/v1/segments/validate-cel', { ...shop, expression })).body.estimated_user_count
    const emails = spellings
      .map((spelling) => JSON.stringify(spelling))
      .flatMap((literal) => [
        `user.email == ${literal}`,
        `${literal} == user.email`,
        `user.email != ${literal}`,
        `user.email in ["nobody@example.dk", ${literal}]`,
        `user.email.lowerAscii() == ${literal}`,
        `user.email != null && user.email.startsWith(${literal})`,
      ])
    const parts = ['@xn--bcher-kva.example', '@BÜCHER.example', '@bu\u0308cher.example']
    const ends = parts.map((part) => `user.email.endsWith("${part}")`)
    const numbers = ['+45 20 12 34 56', '0045 20123456', '(+45) 20123456']
    const phones = numbers.map((number) => `user.phone_number == "${number}"`)
    for (const expression of [...emails, ...ends, ...phones]) expect(await count(expression), expression).toBe(1)
    expect(await count(`user.first_name == "${spellings[2]}"`)).toBe(0)
  })

  it('makes one member of spellings that differ by case and by the form of the domain', async () => {
    const { organization_id } = await seedShop()
    const [first, ...others] = spellings.map((email) =>
      email.replace(/^("?)[^@＠]*?("?)(?=[@＠])/u, `$1m-${organization_id.slice(-6)}$2`),
    )
    const add = (email: string | undefined) =>
      post(`/v1/organizations/${organization_id}/members`, { email, role: 'viewer' })
    expect((await add(first)).status).toBe(201)
    // What only looks alike is refused, because members sign in by their addresses.
    const looksAlike = (email: string) => /[^a-z0-9@.。ü-]/i.test(email.normalize('NFC'))
    for (const email of others)
      expect((await add(email)).body.errors?.[0]?.code, email).toBe(looksAlike(email) ? 'invalid_email' : 'unique')
  })

  it('sends from a verified domain, whichever spelling the edition uses', async () => {
    const shop = await seedShop()
    const name = `bücher-${shop.edition_id.slice(-8).toLowerCase()}.example`
    const ascii = new URL(`http://${name}`).hostname
    await seedSenderDomain(shop.organization_id, { domain: ascii, status: 'verified' })
    for (const domain of [name, ascii, name.toUpperCase(), `${name}.`, `${ascii}.`, `${name}。`]) {
      const { body } = await patch(`/v1/editions/${shop.edition_id}`, { email_sender_address: `hello@${domain}` })
      expect(body.email_sender_address, domain).toBe(`hello@${ascii}`)
      const { body: health } = await get(`/v1/editions/${shop.edition_id}/healthcheck`)
      const check = health.checks.find((candidate: { check_id: string }) =>
        candidate.check_id.includes('sender_domain'),
      )
      expect([check?.check_id, check?.passed], domain).toEqual([expect.any(String), true])
    }
  })
})

describe('a suppressed mailbox', () => {
  it('is found, listed in a CSV and counted once in every spelling', async () => {
    const { organization_id } = await seedShop()
    const added = await post('/v1/suppressions', { organization_id, channel: 'email', address: spellings[8] })
    expect([added.status, added.body.address]).toEqual([201, mailbox])
    for (const address of spellings) {
      const again = await post('/v1/suppressions', { organization_id, channel: 'email', address })
      expect(again.body.errors?.[0]?.code, address).toBe('unique')
      const filter = `organization_id=${organization_id}&address=${encodeURIComponent(address)}`
      expect((await get(`/v1/suppressions?${filter}`)).body.count, address).toBe(1)
    }
    const cells = spellings.map((address) => `"${address.replaceAll('"', '""')}"`)
    const csv = ['Email\u3164', ...cells].join('\n')
    const { body } = await post('/v1/suppressions/import', { organization_id, csv })
    expect(body).toMatchObject({ added: 0, existing: spellings.length, invalid: 0 })
  })
})

describe('the address of a ticket holder', () => {
  it('is one person, whom the orders of all spellings give their tickets to', async () => {
    const shop = await seedShop()
    const orders = spellings.map((email) =>
      anOrder({ items: [{ product: 'Day ticket', quantity: 1, unit_price: 1, user: { email } }] }),
    )
    await givenOrders(shop, orders)
    const { body } = await get(`/v1/purchases?edition_id=${shop.edition_id}`)
    const holders = body.results.map(({ user }: { user: { api_id: string; email: string } }) => user)
    expect(new Set(holders.map((one: { email: string }) => one.email))).toEqual(new Set([mailbox]))
    expect(new Set(holders.map((one: { api_id: string }) => one.api_id)).size).toBe(1)
  })
})
