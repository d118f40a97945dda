import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { get, patch, post } from '../support/api.ts'
import { answer } from '../support/consents.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedSibling } from '../support/seeding/customers.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenQuestion, givenConsent } from '../support/seeding/messaging/consents.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedBuyer, type Buyer, seedTrade } from '../support/seeding/sales/trades.ts'

let shop: Buyer
beforeAll(async () => {
  shop = await seedBuyer()
})

const askQuestion = (fields?: Record<string, unknown>) => givenQuestion(shop, fields)

describe('listConsentRecords', () => {
  it('shows the whole history, newest first, each record with the hash of the one before', async () => {
    const at = await askQuestion()
    for (const action of ['skip', 'give', 'withdraw'] as const) await answer(action, at)
    const { body } = await get(`/v1/user/${shop.user}/consents/${at.consent}/records`)
    const records = body.results as { status: string; previous_hash: string | null; record_hash: string }[]
    expect(records.map(({ status }) => status)).toEqual(['withdrawn', 'given', 'skipped'])
    expect(records.map(({ previous_hash }) => previous_hash)).toEqual([
      ...records.slice(1).map(({ record_hash }) => record_hash),
      null,
    ])
    const paged = await get(`/v1/user/${shop.user}/consents/${at.consent}/records?page=2&page_size=2`)
    expect([paged.body.count, paged.body.results[0].status]).toEqual([3, 'skipped'])
  })
})

describe('getConsentProof', () => {
  it('proves the wording that was shown, and detects a changed record', async () => {
    const at = await askQuestion()
    expect((await get(`/v1/user/${shop.user}/consents/${at.consent}/proof`)).status).toBe(404)
    await answer('give', at)
    await patch(`/v1/consents/${at.consent}`, { text: { en: 'Other words.', da: 'Andre ord.' } })
    const proof = await get(`/v1/user/${shop.user}/consents/${at.consent}/proof`)
    expect(proof.body).toMatchObject({
      wording: { version: 1, language: 'da', title: 'Nyhedsbrev', text: 'Skriv til mig.' },
      chain: [{ number: 1, status: 'given' }],
      is_intact: true,
    })
    await write(sql`update consent_records set source = 'checkouT' where consent_id = ${at.consent}`)
    expect((await get(`/v1/user/${shop.user}/consents/${at.consent}/proof`)).body.is_intact).toBe(false)
  })
})

describe('listUserConsents', () => {
  it('returns the current state and the possible actions of each consent', async () => {
    const [open, agreed] = [await askQuestion(), await askQuestion()]
    await answer('give', agreed)
    const { body } = await get(`/v1/user/${shop.user}/consents`)
    const findConsent = (id: string) => body.results.find((item: { id: string }) => item.id === id)
    expect(findConsent(open.consent)).toMatchObject({ status: 'none', allowed_actions: ['give', 'skip'], record: null })
    expect(findConsent(agreed.consent)).toMatchObject({
      status: 'given',
      allowed_actions: ['withdraw'],
      is_current: true,
    })
  })
})

/** Makes a customer of one edition, a manager of it, and a consent of the organisation and of the edition. */
async function givenCustomer() {
  const { user } = await seedTrade({ organization: shop.organization, edition: shop.edition })
  const { token } = await givenMember({ id: shop.organization }, 'manager', shop.edition)
  return {
    customer: user,
    token,
    everywhere: await askQuestion(),
    here: await askQuestion({ edition_id: shop.edition }),
  }
}

describe('a role of an edition', () => {
  it('changes the organisation’s consents of a customer until another edition knows that customer', async () => {
    const { customer, token, everywhere } = await givenCustomer()
    const at = { user: customer, consent: everywhere.consent }
    expect((await answer('give', at, {}, token)).status).toBe(200)
    await seedSibling(shop, customer)
    expect(describeRefusal(await answer('withdraw', at, {}, token))).toBe('403 shared_customer')
  })

  it('changes the consents of its edition of a customer whom other editions know', async () => {
    const { customer, token, here } = await givenCustomer()
    await seedSibling(shop, customer)
    expect((await answer('give', { user: customer, consent: here.consent }, {}, token)).status).toBe(200)
  })

  it('does not find the consents of other editions', async () => {
    const { customer, token } = await givenCustomer()
    const other = await seedSibling(shop, customer)
    const theirs = await givenConsent(shop.organization, { edition_id: other })
    expect((await answer('give', { user: customer, consent: theirs.id }, {}, token)).status).toBe(404)
    const { body } = await get(`/v1/user/${customer}/consents`, token)
    expect(body.results.map(({ id }: { id: string }) => id)).not.toContain(theirs.id)
  })

  it('sees the organisation’s consents without what other roles recorded', async () => {
    const { customer, token, everywhere, here } = await givenCustomer()
    const at = { user: customer, consent: everywhere.consent }
    await answer('give', at, {}, token)
    await answer('give', { user: customer, consent: here.consent }, {}, token)
    await seedSibling(shop, customer)
    await answer('withdraw', at, { source: 'secret-desk', evidence: { note: 'secret' } })
    const listReply = await get(`/v1/user/${customer}/consents`, token)
    expect(listReply.text).not.toContain('secret')
    const ids = listReply.body.results.map(({ id }: { id: string }) => id)
    expect(ids).toEqual(expect.arrayContaining([here.consent, everywhere.consent]))
    for (const path of ['records', 'proof']) {
      const reply = await get(`/v1/user/${customer}/consents/${everywhere.consent}/${path}`, token)
      expect([reply.status, reply.text.includes('secret')]).toEqual([200, false])
    }
  })
})

describe('an answer and its audit entry', () => {
  it('are stored together: the entry names the customer and the state before and after', async () => {
    const at = await askQuestion()
    await answer('give', at)
    const entry = await db.first(sql<{ action: string; changes: string }>`select action, changes from audit_log
      where resource_id = ${shop.user} order by id desc limit 1`)
    expect(entry?.action).toBe('giveConsent')
    expect(JSON.parse(entry?.changes ?? '[]')).toContainEqual({ field: 'status', before: 'none', after: 'given' })
    await post(`/v1/user/${shop.user}/erase`, { reason: 'asked' })
    expect(describeRefusal(await answer('withdraw', at))).toBe('409 user_erased')
  })
})
