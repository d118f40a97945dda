import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { insertEditionCustomers } from '../../src/db/customers.ts'
import { unsubscribeAndCount } from '../../src/modules/message-events/subscription.ts'
import { get, patch } from '../support/api.ts'
import { createJob } from '../support/campaigns.ts'
import { buildBareMembership } from '../support/seeding/customers.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { seedMarketingConsent } from '../support/seeding/messaging/consents.ts'
import { write } from '../support/seeding/rows.ts'
import { anOrder, importOrders } from '../support/seeding/sales/orders.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'
import { attach, givenTwo, stranger } from '../support/shared-customers.ts'
import { listEvents, listPurchaseEvents } from '../support/webhook-rows.ts'

/** Makes a customer whose address only another edition knows, with an order in this one. */
async function givenAttached() {
  const two = await givenTwo()
  await importOrders(two.theirs, [anOrder({ customer: { email: 'secret@example.dk', phone_number: '+4520111111' } })])
  const attached = await attach(two, { phone_number: '+4520111111', first_name: 'Anna' })
  return { two, order_id: attached.body.results[0].order_id as string }
}

describe('what an edition imported about a customer', () => {
  it('is the latest value of each field, and survives an import with fewer fields', async () => {
    const two = await givenTwo()
    await attach(two, { email: stranger.email, first_name: 'Anna', phone_number: '20123456', locale: 'da' })
    await attach(two, { email: stranger.email, first_name: 'Anne', last_name: 'Ærø' })
    await attach(two, { email: stranger.email })
    const { body } = await get(`/v1/user/${two.user}`, two.viewer)
    expect(body).toMatchObject({ first_name: 'Anne', last_name: 'Ærø', phone_number: '+4520123456', locale: 'da' })
    const ids = async (search: string) =>
      (await get(`/v1/user?search=${encodeURIComponent(search)}`, two.viewer)).body.results.map(
        ({ id }: { id: string }) => id,
      )
    for (const needle of ['anne AERO', 'hidden@', '2012', '+45 20 12'])
      expect([needle, await ids(needle)]).toEqual([needle, [two.user]])
    for (const needle of ['anna', 'hemmelig', '3212', '+45 32 12'])
      expect([needle, await ids(needle)]).toEqual([needle, []])
  })

  it('never reveals hidden values by the order of a list', async () => {
    const two = await givenTwo()
    const addresses = ['b@example.dk', 'd@example.dk']
    await importOrders(two.theirs, [anOrder({ customer: { email: 'c@example.dk', phone_number: '+4520111111' } })])
    // The customer is known by the number, and the address stays hidden.
    await attach(two, { phone_number: '+4520111111', first_name: 'Anna' })
    for (const email of addresses) await attach(two, { email })
    const emails = async (ordering: string) =>
      (await get(`/v1/user?ordering=${ordering}`, two.viewer)).body.results.map(
        ({ email }: { email: string | null }) => email,
      )
    expect(await emails('email')).toEqual([...addresses, null])
    expect(await emails('-email')).toEqual([...addresses.toReversed(), null])
    expect(await emails('last_seen')).toHaveLength(3)
    const joined = (await get('/v1/user?ordering=date_joined', two.viewer)).body.results.map(
      ({ date_joined }: { date_joined: string }) => date_joined,
    )
    expect(joined).toEqual(joined.toSorted())
  })

  it('is found by searches of orders, and hidden values are not', async () => {
    const { two, order_id } = await givenAttached()
    const orders = async (query: string) =>
      (await get(`/v1/orders?edition_id=${two.mine.edition_id}&${query}`, two.viewer)).body.results.map(
        ({ id }: { id: string }) => id,
      )
    for (const query of ['customer_phone=2011', 'search=2011', 'search=%2B45%2020%2011', `search=${order_id}`])
      expect([query, await orders(query)]).toEqual([query, [order_id]])
    for (const query of ['customer_email=secret', 'search=secret', 'customer_email=@'])
      expect([query, await orders(query)]).toEqual([query, []])
  })

  it('hides no values of other editions from searches by a role of the organisation', async () => {
    const { two } = await givenAttached()
    const reply = await get(`/v1/orders?edition_id=${two.mine.edition_id}&search=secret`, two.organizationViewer)
    expect(reply.body.count).toBe(1)
  })

  it('is all that an order and a purchase show of the customer', async () => {
    const { two, order_id } = await givenAttached()
    const { body } = await get(`/v1/orders/${order_id}`, two.viewer)
    expect(body.customer).toMatchObject({ full_name: 'Anna', email: null, phone_number: '+4520111111', metadata: {} })
    expect(body.purchases[0].user).toMatchObject({ full_name: 'Anna', email: null })
    const purchase = await get(`/v1/purchases/${body.purchases[0].id}`, two.viewer)
    expect(purchase.body.user).toMatchObject({ full_name: 'Anna', email: null })
  })

  it('is what webhooks of the edition contain', async () => {
    const two = await givenTwo()
    await importOrders(two.theirs, [anOrder({ customer: { email: 'secret@example.dk', phone_number: '+4520111111' } })])
    await seedEndpoint(
      { organization: two.mine.organization_id, edition: two.mine.edition_id },
      { breaker_until: null },
    )
    const announced = { emit_webhooks: true }
    const phone = { phone_number: '+4520111111' }
    await importOrders(two.mine, [anOrder({ customer: phone })], announced, two.manager)
    await importOrders(two.mine, [anOrder({ customer: phone })], announced)
    await importOrders(
      two.mine,
      [anOrder({ customer: { ...phone, email: 'secret@example.dk' } })],
      announced,
      two.manager,
    )
    await importOrders(two.mine, [anOrder({ customer: phone })], announced, two.manager)
    const emails = (await listPurchaseEvents(two.mine.organization_id)).map(
      ({ payload }) => JSON.parse(payload).data.user.email,
    )
    const knownEmail = 'secret@example.dk'
    expect(emails).toEqual([null, null, null, null, knownEmail, knownEmail, knownEmail, knownEmail])
  })

  it('is what the webhook of a withdrawn consent contains for the edition', async () => {
    const crowd = await seedCrowd(2)
    const other = await seedEdition({ id: crowd.organization })
    const [shared, ownCustomer] = crowd.people
    await write(
      ...insertEditionCustomers([buildBareMembership(other.id, shared?.id ?? '')]),
      sql`update edition_customers set email = null where edition_id = ${crowd.edition} and user_seq = ${shared?.seq}`,
    )
    await seedMarketingConsent(crowd)
    const { campaign } = await seedReady(crowd)
    const emails: unknown[] = []
    for (const [person, edition] of [
      [shared, crowd.edition],
      [shared, null],
      [ownCustomer, crowd.edition],
    ] as const) {
      const user_id = person?.id ?? ''
      await write(
        sql`delete from webhook_events where organization_id = ${crowd.organization}`,
        sql`delete from consent_records where user_id = ${user_id} and status = 'withdrawn'`,
        sql`update consent_records set is_latest = 1, edition_id = ${edition} where user_id = ${user_id}`,
      )
      const leaving = { campaign_id: campaign.id, n: person?.seq ?? 0, user_id, address: person?.email ?? '' }
      const place = { organization_id: crowd.organization, organization_name: '', edition_id: crowd.edition }
      await unsubscribeAndCount(createJob(), { ...leaving, ...place, language: 'en', channel: 'email' })
      const events = await listEvents(crowd.organization)
      emails.push(...events.map(({ payload }) => JSON.parse(payload).data.user.email))
    }
    expect(emails).toEqual([null, shared?.email, ownCustomer?.email])
  })

  it('keeps its ETag while another edition changes the customer', async () => {
    const two = await givenTwo()
    await attach(two, { email: stranger.email, first_name: 'Anna' })
    const etag = async () => (await get(`/v1/user/${two.user}`, two.viewer)).headers.get('etag')
    const before = await etag()
    await patch(`/v1/user/${two.user}`, { last_name: 'Berg', phone_number: '+4520333333' })
    await importOrders(two.theirs, [anOrder({ customer: { email: stranger.email, first_name: 'Eva' } })])
    expect(await etag()).toBe(before)
  })
})
