import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { campaignReceipts } from '../../../src/db/schema/campaigns.ts'
import { insert } from '../../../src/db/write.ts'
import { get, post, type Reply } from '../../support/api.ts'
import { seedEdition } from '../../support/seeding/editions.ts'
import { givenMember } from '../../support/seeding/members.ts'
import { seedCampaigns } from '../../support/seeding/messaging/campaigns.ts'
import { seedAnswer, seedConsent } from '../../support/seeding/messaging/consents.ts'
import { seedSegment, givenSegment } from '../../support/seeding/messaging/segments.ts'
import { givenOrganization, type Organization } from '../../support/seeding/organizations.ts'
import { write, db } from '../../support/seeding/rows.ts'
import { importOrders } from '../../support/seeding/sales/orders.ts'
import { createCalculator, listMembers, buildMessage, loadSegment } from '../../support/segments.ts'

interface User {
  id: string
  organization_id: string
}

let organisation: Organization
let mine: { id: string }
let theirs: { id: string }
/** A manager who has a role only in the edition `mine`. */
let manager: string
let shared: User
let foreignProduct: string
let foreignCampaign: string

const shop = (edition: { id: string }) => ({ organization_id: organisation.id, edition_id: edition.id })

/** A customer of both editions, with a cheap order in `mine` and an order with a secret value in `theirs`. */
beforeAll(async () => {
  organisation = await givenOrganization()
  mine = await seedEdition(organisation, { name: 'Summer' })
  theirs = await seedEdition(organisation, { name: 'Winter' })
  manager = (await givenMember(organisation, 'manager', mine.id)).token
  const customer = { email: 'shared@example.dk', locale: 'da' }
  const item = (product: string, unit_price: number) => ({ product, quantity: 1, unit_price })
  await importOrders(shop(mine), [{ external_id: 'm', currency: 'dkk', customer, items: [item('Day ticket', 10)] }])
  await importOrders(shop(theirs), [
    {
      external_id: 't',
      currency: 'eur',
      customer: { ...customer, metadata: { vip: 'SECRET' } },
      items: [item('Winter ticket', 5000)],
      metadata: { note: 'SECRET' },
    },
  ])
  const sharedCustomer = await db.first(sql<User>`select * from users where organization_id = ${organisation.id}`)
  if (!sharedCustomer) throw new Error('nobody')
  shared = sharedCustomer
  await write(sql`update users set metadata = '{"vip":"SECRET"}', last_name = 'SECRET', first_name = 'SECRET',
    phone_number = '+4531999999', is_verified = 1, last_seen_at = 1700000000000, created_at = 1600000000000
    where id = ${shared.id}`)
  await write(
    sql`update edition_customers set first_name = 'Given', email = 'given@example.dk' where edition_id = ${mine.id}`,
  )
  const consent = await seedConsent(
    { organization: organisation.id, edition: null },
    { key: 'winter-news', edition_id: theirs.id },
  )
  await seedAnswer(shared as never, consent, 'given')
  const place = { organization: organisation.id, edition: theirs.id }
  const [campaign] = await seedCampaigns(place, (await seedSegment(place)).id, 1, {
    status: 'sent',
    name: 'Winter mail',
  })
  foreignCampaign = campaign?.id ?? ''
  const stamps = { received_at: 1, opened_at: 1, clicked_at: 1, clicked_links: [0] }
  const receipt = { organization_id: organisation.id, user_id: shared.id, campaign_id: foreignCampaign, ...stamps }
  await write(insert(campaignReceipts, receipt))
  await write(
    sql`insert into campaign_links (campaign_id, position, url) values (${foreignCampaign}, 0, 'https://winter.example')`,
  )
  await write(sql`insert into purchase_uses (id, purchase_id, quantity, used_at, created_at)
    select 'pus_' || id, id, 3, 1, 1 from purchases where edition_id = ${theirs.id}`)
  foreignProduct =
    (await db.first(sql<{ id: string }>`select id from products where edition_id = ${theirs.id}`))?.id ?? ''
})

/** Conditions about data of the other edition. Each one is true in the organisation. */
const probes: [string, () => string][] = [
  ['metadata of an order', () => 'orders.exists(o, o.metadata.note.startsWith("S"))'],
  ['an order, by its edition', () => `orders.exists(o, o.edition_id != "${mine.id}")`],
  ['how many orders', () => 'size(orders) > 1'],
  ['the currency', () => 'orders.exists(o, o.currency == "eur")'],
  ['the amount', () => 'orders.map(o, o.amount_minor).exists(a, a > 100000)'],
  ['stats: count', () => 'stats.order_count > 1'],
  ['stats: amounts', () => 'stats.total_spent_minor > 100000'],
  ['stats: purchases', () => 'stats.purchase_count > 1'],
  ['stats: times', () => 'stats.first_order_at != stats.last_order_at'],
  ['a purchase', () => 'purchases.exists(p, p.price_paid_minor > 100000)'],
  ['a product, by its id', () => `purchases.exists(p, p.product_id == "${foreignProduct}")`],
  ['a product, by its name', () => 'purchases.exists(p, p.product_name == "Winter ticket")'],
  ['purchases inside of orders', () => 'orders.exists(o, purchases.exists(p, p.edition_id != o.edition_id))'],
  ['a consent', () => '"winter-news" in consents'],
  ['the answer to a consent', () => 'consents["winter-news"].status == "given"'],
  ['who got a campaign', () => `"${foreignCampaign}" in campaigns.received`],
  ['who opened campaigns', () => 'size(campaigns.opened) > 0'],
  ['who clicked in campaigns', () => 'campaigns.clicked.exists(c, c != "")'],
  ['a use of a purchase', () => 'purchases.exists(p, size(p.uses) > 0)'],
  ['where a purchase was used', () => 'purchases.exists(p, p.uses.exists(u, u.quantity == 3))'],
  ['what became of a message', () => `campaigns.messages.exists(m, m.campaign_id == "${foreignCampaign}")`],
  ['when somebody opened a message', () => 'campaigns.messages.exists(m, m.opened_at != null)'],
  ['which link somebody clicked', () => 'campaigns.messages.exists(m, size(m.clicked_links) > 0)'],
  ['metadata of a person', () => 'user.metadata.vip.startsWith("S")'],
  ['that metadata has a key', () => 'has(user.metadata.vip) || "vip" in user.metadata || size(user.metadata) > 0'],
  ['a first name', () => 'user.first_name.startsWith("S")'],
  ['a last name', () => 'user.last_name == "SECRET"'],
  ['an e-mail address', () => 'user.email == "shared@example.dk"'],
  ['a phone number', () => 'user.has_phone || user.phone_number.startsWith("+4531")'],
  ['a verified address', () => 'user.is_verified'],
  ['when somebody was known first', () => 'user.date_joined < timestamp("2021-01-01T00:00:00Z")'],
  ['when somebody was seen last', () => 'user.last_seen != null'],
]
/** Expressions that are an error or false for a person who has too little data in the edition. */
const probe = (expression: string) => `user.id == "${shared.id}" && (${expression})`

const countEstimated = async (body: Record<string, unknown>, token?: string): Promise<number> => {
  const reply = await post('/v1/segments/validate-cel', body, token)
  expect(reply.status, reply.text).toBe(200)
  expect(reply.body.errors).toEqual([])
  return reply.body.estimated_user_count
}

const expectSuccess = (reply: Reply) => {
  expect(reply.status, reply.text).toBeLessThan(300)
  return reply.body
}

async function calculatedBy(expression: string, token?: string): Promise<{ id: string; user_count: number }> {
  const { id } = await givenSegment({ ...shop(mine), expression }, token)
  expectSuccess(await post(`/v1/segments/${id}/recalculate`, undefined, token))
  await createCalculator().take([buildMessage(await loadSegment(id))])
  return expectSuccess(await get(`/v1/segments/${id}`, token))
}

describe('an expression of an edition role', () => {
  it.each(probes)('does not find %s of another edition by an estimate', async (_, source) => {
    const expression = probe(source())
    const organizationInput = { organization_id: organisation.id, expression }
    // An expression about the organisation does not see consents to an edition.
    if (!source().includes('winter-news')) expect(await countEstimated(organizationInput)).toBe(1)
    expect(await countEstimated({ ...shop(mine), expression }, manager)).toBe(0)
    expect(await countEstimated({ edition_id: mine.id, expression }, manager)).toBe(0)
    expect(await countEstimated(organizationInput, manager)).toBe(0)
    // An edition's expression has the same result for every caller.
    expect(await countEstimated({ ...shop(mine), expression })).toBe(0)
  })

  it.each(probes)('does not find %s of another edition by a segment', async (_, source) => {
    const expression = probe(source())
    const { id, user_count } = await calculatedBy(expression, manager)
    expect(user_count).toBe(0)
    expect(await listMembers(id)).toEqual([])
    const file = await get(`/v1/segments/${id}/export`, manager)
    expect([file.status, file.text.trim().split('\r\n')]).toEqual([200, [expect.stringMatching(/^id,/)]])
    const explained = expectSuccess(await get(`/v1/segments/${id}/explain?user_id=${shared.id}`, manager))
    expect(explained.is_member).toBe(false)
    expect(explained.parts.filter(({ value }: { value: boolean }) => value)).toEqual([
      expect.objectContaining({ text: `user.id == "${shared.id}"` }),
    ])
    expect(expectSuccess(await get(`/v1/segments/${id}/explain?user_id=${shared.id}`)).parts).toEqual(explained.parts)
  })

  it('finds the data of its own edition', async () => {
    const expressions = [
      'stats.order_count == 1 && stats.total_spent_minor == 1000 && stats.purchase_count == 1',
      `size(orders) == 1 && orders.all(o, o.edition_id == "${mine.id}")`,
      'purchases.exists(p, p.product_name == "Day ticket")',
      'user.first_name == "Given" && user.last_name == "" && user.email == "given@example.dk" && user.has_email',
      '!user.has_phone && user.phone_number == null && user.last_seen == null && !user.is_verified',
      'size(user.metadata) == 0 && user.locale == "da" && user.is_active',
      'user.date_joined > timestamp("2021-01-01T00:00:00Z")',
      'size(campaigns.received) == 0 && !("winter-news" in consents)',
    ]
    for (const source of expressions) {
      const expression = probe(source)
      expect([source, await countEstimated({ ...shop(mine), expression }, manager)]).toEqual([source, 1])
      expect([source, (await calculatedBy(expression, manager)).user_count]).toEqual([source, 1])
    }
  })

  it('finds all data of customers whom only this edition knows', async () => {
    await importOrders(shop(mine), [
      {
        external_id: 'own',
        currency: 'dkk',
        customer: { email: 'own@example.dk', first_name: 'Own', metadata: { vip: 'yes' } },
        items: [{ product: 'Day ticket', quantity: 1, unit_price: 10 }],
      },
    ])
    const expression = 'user.email == "own@example.dk" && user.first_name == "Own" && user.metadata.vip == "yes"'
    expect(await countEstimated({ ...shop(mine), expression }, manager)).toBe(1)
    expect(await countEstimated({ organization_id: organisation.id, expression }, manager)).toBe(1)
  })
})

describe('an expression about an organisation', () => {
  describe('in two of whose editions the caller has roles', () => {
    let token: string
    beforeAll(async () => {
      const third = await seedEdition(organisation, { name: 'Third' })
      const member = await givenMember(organisation, 'manager', mine.id)
      token = member.token
      const account = await db.first(sql<{ email: string }>`select email from accounts where id = ${member.account_id}`)
      const role = { email: account?.email, role: 'viewer', edition_id: third.id }
      expectSuccess(await post(`/v1/organizations/${organisation.id}/members`, role))
      const order = (external_id: string, email: string) => ({
        external_id,
        currency: 'sek',
        customer: { email },
        items: [{ product: 'Third', quantity: 1, unit_price: 1 }],
      })
      await importOrders(shop(third), [order('x', 'shared@example.dk'), order('y', 'third@example.dk')])
    })

    it.each([
      ['takes the orders of both together', () => probe('size(orders) == 2 && stats.order_count == 2'), 1],
      ['does not see orders of other editions', () => probe('orders.exists(o, o.currency == "eur")'), 0],
      ['finds the orders of either', () => 'orders.exists(o, o.currency == "sek")', 2],
      ['has no edition of its own', () => 'edition.id == "" || edition.id != ""', 0],
    ])('%s', async (_, buildExpression, expected) => {
      const body = { organization_id: organisation.id, expression: buildExpression() }
      expect(await countEstimated(body, token)).toBe(expected)
    })

    it('finds everyone for messages about orders', async () => {
      const channel = { communication_type: 'transactional', communication_channel: 'email' }
      const body = { organization_id: organisation.id, expression: 'size(orders) > 0', ...channel }
      expect(await countEstimated(body, token)).toBe(3)
    })

    it('offers the values of both', async () => {
      const { dynamic_values: values } = expectSuccess(
        await get(`/v1/segments/cel-context?organization_id=${organisation.id}`, token),
      )
      const listValues = (kind: string) =>
        values[kind].map(({ label, count }: { label: string; count: number }) => [label, count])
      expect(listValues('products')).toEqual([
        ['Day ticket', 2],
        ['Third', 2],
      ])
      expect(listValues('currencies')).toEqual([
        ['dkk', 2],
        ['sek', 2],
      ])
      expect(listValues('locales').reduce((sum: number, [, count]: [string, number]) => sum + count, 0)).toBe(3)
      expect(listValues('editions').toSorted()).toEqual([
        ['Summer', 2],
        ['Third', 2],
      ])
    })
  })

  it('ignores consents to other editions', async () => {
    const body = {
      organization_id: organisation.id,
      expression: probe('true'),
      communication_type: 'marketing',
      communication_channel: 'email',
    }
    expect(await countEstimated(body)).toBe(1)
    expect(await countEstimated(body, manager)).toBe(0)
  })
})

describe('suggested values', () => {
  it('are those of the editions that the caller reaches', async () => {
    await seedConsent({ organization: organisation.id, edition: null }, { key: 'org-news' })
    for (const query of [`edition_id=${mine.id}`, `organization_id=${organisation.id}`]) {
      const { dynamic_values, ...rest } = expectSuccess(await get(`/v1/segments/cel-context?${query}`, manager))
      const text = JSON.stringify([dynamic_values, rest])
      for (const hidden of [
        foreignProduct,
        foreignCampaign,
        theirs.id,
        'Winter',
        'winter-news',
        'eur',
        'winter.example',
      ])
        expect([query, hidden, text.includes(hidden)]).toEqual([query, hidden, false])
      expect(dynamic_values.editions.map(({ value }: { value: string }) => value)).toEqual([mine.id])
      expect(dynamic_values.consents.map(({ value }: { value: string }) => value)).toEqual(['org-news'])
    }
  })

  it('count answers to consents of the organisation among the visible people', async () => {
    const consent = await seedConsent({ organization: organisation.id, edition: null }, { key: 'counted' })
    await seedAnswer(shared as never, consent, 'given')
    await importOrders(shop(theirs), [
      {
        external_id: 'z',
        currency: 'eur',
        customer: { email: 'z@example.dk' },
        items: [{ product: 'Winter ticket', quantity: 1, unit_price: 1 }],
      },
    ])
    const other = await db.first(
      sql<User>`select * from users where organization_id = ${organisation.id} and email = 'z@example.dk'`,
    )
    await seedAnswer(other as never, consent, 'given')
    const countOf = async (query: string, token?: string) =>
      expectSuccess(await get(`/v1/segments/cel-context?${query}`, token)).dynamic_values.consents.find(
        ({ value }: { value: string }) => value === 'counted',
      ).count
    expect(await countOf(`organization_id=${organisation.id}`)).toBe(2)
    expect(await countOf(`edition_id=${mine.id}`, manager)).toBe(1)
    expect(await countOf(`organization_id=${organisation.id}`, manager)).toBe(1)
  })

  it('do not include values of other editions in an edition, for any caller', async () => {
    const expression = `purchases.exists(p, p.product_id == "${foreignProduct}")`
    for (const token of [manager, undefined]) {
      const { warnings } = expectSuccess(await post('/v1/segments/validate-cel', { ...shop(mine), expression }, token))
      expect(warnings).toMatchObject([
        { code: 'unknown_value', suggestion: expect.not.stringContaining(foreignProduct) },
      ])
    }
  })
})
