import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { get, patch } from '../support/api.ts'
import { answer, listEvents, expectWhole, listRecords } from '../support/consents.ts'
import { readCost } from '../support/cost.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedSibling } from '../support/seeding/customers.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenQuestion, givenConsent } from '../support/seeding/messaging/consents.ts'
import { write } from '../support/seeding/rows.ts'
import { seedBuyer, type Buyer } from '../support/seeding/sales/trades.ts'

let shop: Buyer
beforeAll(async () => {
  shop = await seedBuyer()
})

const askQuestion = (fields?: Record<string, unknown>) => givenQuestion(shop, fields)
const listEventKinds = async (consent: string) =>
  (await listEvents(shop.organization)).filter(({ payload }) => payload.includes(consent)).map(({ kind }) => kind)
const listStatuses = async (consent: string) => (await listRecords(shop.user, consent)).map(({ status }) => status)

describe('giveConsent', () => {
  it('records the answer with the wording that the person saw, and sends the webhook', async () => {
    const at = await askQuestion({ expires_after_days: 10 })
    const reply = await answer('give', at, { evidence: { form: 'f-1' }, order_id: shop.order })
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({
      id: at.consent,
      status: 'given',
      is_current: true,
      allowed_actions: ['withdraw'],
      record: {
        number: 1,
        status: 'given',
        consent_version: 1,
        content_hash: at.definition.content_hash,
        language: 'da',
        method: 'checkbox',
        source: 'checkout',
        order_id: shop.order,
        edition_id: shop.edition,
        evidence: { form: 'f-1' },
        previous_record_id: null,
        previous_hash: null,
      },
    })
    const { occurred_at, expires_at } = reply.body.record
    expect(Date.parse(expires_at) - Date.parse(occurred_at)).toBe(10 * 86_400_000)
    expect(await listEventKinds(at.consent)).toEqual(['consent.given'])
    const [event] = (await listEvents(shop.organization)).filter(({ payload }) => payload.includes(at.consent))
    expect(JSON.parse(event?.payload ?? '{}').data).toMatchObject({
      consent: { id: at.consent, version: 1 },
      user: { api_id: shop.user },
      record_id: reply.body.record.id,
      status: 'given',
      previous_status: null,
      source: 'checkout',
    })
    await expectWhole(shop.organization)
  })

  it('changes nothing when the person has already given the consent, and returns the same record', async () => {
    const at = await askQuestion()
    const first = await answer('give', at)
    const secondReply = await answer('give', at, { source: 'portal' })
    expect([secondReply.status, secondReply.body]).toEqual([200, first.body])
    expect(await listEventKinds(at.consent)).toEqual(['consent.given'])
  })

  it('records one answer when two are sent at the same time', async () => {
    const at = await askQuestion()
    const replies = await Promise.all([1, 2, 3, 4].map(() => answer('give', at)))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(new Set(replies.map(({ body }) => body.record.id)).size).toBe(1)
    expect(await listStatuses(at.consent)).toEqual(['given'])
    expect(await listEventKinds(at.consent)).toEqual(['consent.given'])
    const mixed = await Promise.all([answer('withdraw', at), answer('withdraw', at), answer('give', at)])
    expect(mixed.every(({ status }) => status === 200)).toBe(true)
    await expectWhole(shop.organization)
    expect(await listEventKinds(at.consent)).toEqual(
      (await listStatuses(at.consent)).map((status) => `consent.${status}`),
    )
  })

  it('needs a new answer once the wording has changed, if the consent requires it', async () => {
    const at = await askQuestion({ reconsent_on_change: true })
    await answer('give', at)
    expect((await patch(`/v1/consents/${at.consent}`, { text: { en: 'Write.', da: 'Skriv.' } })).body.version).toBe(2)
    const list = await get(`/v1/user/${shop.user}/consents`)
    const item = list.body.results.find(({ id }: { id: string }) => id === at.consent)
    expect(item).toMatchObject({
      status: 'given',
      is_current: false,
      version: 2,
      record: { consent_version: 1 },
      allowed_actions: ['give', 'withdraw'],
    })
    const renewed = await answer('give', at)
    expect(renewed.body).toMatchObject({ is_current: true, record: { number: 2, consent_version: 2 } })
    expect(await listEventKinds(at.consent)).toEqual(['consent.given', 'consent.given'])
  })

  it('records that the earlier consent expired before the new answer, and sends a webhook for both', async () => {
    const at = await askQuestion({ expires_after_days: 1 })
    await write(sql`update consents set created_at = 0 where id = ${at.consent}`)
    await answer('give', at, { occurred_at: new Date(Date.now() - 3 * 86_400_000).toISOString() })
    const [item] = (await get(`/v1/user/${shop.user}/consents?type=marketing&page_size=500`)).body.results.filter(
      ({ id }: { id: string }) => id === at.consent,
    )
    expect(item).toMatchObject({ status: 'expired', is_current: false, allowed_actions: ['give'] })
    expect((await answer('give', at)).body).toMatchObject({ status: 'given', record: { number: 3 } })
    expect(await listStatuses(at.consent)).toEqual(['given', 'expired', 'given'])
    expect(await listEventKinds(at.consent)).toEqual(['consent.given', 'consent.expired', 'consent.given'])
    await expectWhole(shop.organization)
  })
})

describe('withdrawConsent', () => {
  it('succeeds only after an answer that the lifecycle allows to withdraw', async () => {
    const at = await askQuestion()
    expect(describeRefusal(await answer('withdraw', at))).toBe('409 invalid_transition')
    expect((await answer('skip', at)).body.status).toBe('skipped')
    expect((await answer('skip', at)).body.record.number).toBe(1)
    expect(describeRefusal(await answer('withdraw', at))).toBe('409 invalid_transition')
    expect((await answer('give', at)).body.status).toBe('given')
    expect(describeRefusal(await answer('skip', at))).toBe('409 invalid_transition')
    expect((await answer('withdraw', at)).body).toMatchObject({ status: 'withdrawn', allowed_actions: ['give'] })
    expect((await answer('withdraw', at)).body.record.number).toBe(3)
    expect((await answer('give', at)).body.record.number).toBe(4)
    expect(await listEventKinds(at.consent)).toEqual([
      'consent.skipped',
      'consent.given',
      'consent.withdrawn',
      'consent.given',
    ])
    const { stats, has_records } = (await get(`/v1/consents/${at.consent}`)).body
    expect([stats, has_records]).toEqual([{ given: 1, skipped: 0, withdrawn: 0, expired: 0 }, true])
    await expectWhole(shop.organization)
  })

  it('succeeds for an inactive consent, which cannot be given', async () => {
    const closed = await askQuestion()
    await answer('give', closed)
    await patch(`/v1/consents/${closed.consent}`, { is_active: false })
    expect((await answer('withdraw', closed)).status).toBe(200)
    expect(describeRefusal(await answer('give', closed))).toBe('409 consent_inactive')
  })
})

describe('skipConsent', () => {
  it('refuses to skip a required consent, and one that was given', async () => {
    const required = await askQuestion({ is_required: true })
    expect(describeRefusal(await answer('skip', required))).toBe('409 consent_required')
    expect(await listStatuses(required.consent)).toEqual([])
    const agreed = await askQuestion()
    await answer('give', agreed)
    expect(describeRefusal(await answer('skip', agreed))).toBe('409 invalid_transition')
    expect(await listStatuses(agreed.consent)).toEqual(['given'])
  })
})

describe('an answer', () => {
  it.each([
    ['an unknown language', { language: 'fr' }, 'invalid_choice #/language'],
    ['a language without wording', { language: 'pl' }, 'text_missing_language #/language'],
    ['a time to come', { occurred_at: '9000-01-01T00:00:00Z' }, 'in_future #/occurred_at'],
    ['a time before the consent', { occurred_at: '2001-01-01T00:00:00Z' }, 'before_definition #/occurred_at'],
    ['evidence that is too large', { evidence: { text: 'a'.repeat(2050) } }, 'max_length #/evidence'],
    ['a source with an address', { source: 'anna@example.dk' }, 'invalid #/source'],
    ['a method of ours', { method: 'expiry' }, 'invalid_choice #/method'],
    ['an order of nobody', { order_id: 'ord_nobody' }, 'does_not_exist #/order_id'],
  ])('is refused and changes nothing: %s', async (_, fields, error) => {
    const at = await askQuestion()
    const reply = await answer('give', at, fields)
    expect(describeRefusal(reply)).toBe(`400 validation_error: ${error}`)
    expect(await listStatuses(at.consent)).toEqual([])
  })

  it('changes nothing when it is older than the latest one', async () => {
    const at = await askQuestion()
    await write(sql`update consents set created_at = 0 where id = ${at.consent}`)
    await answer('give', at, { occurred_at: '2026-01-03T00:00:00Z' })
    await answer('withdraw', at, { occurred_at: '2026-01-05T00:00:00Z' })
    const lateReply = await answer('give', at, { occurred_at: '2026-01-04T00:00:00Z' })
    expect(describeRefusal(lateReply)).toBe('400 validation_error: before_last_answer #/occurred_at')
    expect(await listStatuses(at.consent)).toEqual(['given', 'withdrawn'])
  })

  it('refers to the wording of its time', async () => {
    const at = await askQuestion()
    await write(
      sql`update consents set created_at = 0 where id = ${at.consent}`,
      sql`update consent_versions set created_at = 0 where consent_id = ${at.consent}`,
    )
    await patch(`/v1/consents/${at.consent}`, { text: { en: 'Other words.', da: 'Andre ord.' } })
    const early = await answer('give', at, { occurred_at: '2026-01-03T00:00:00Z' })
    expect(early.body.record).toMatchObject({ consent_version: 1, content_hash: at.definition.content_hash })
  })

  it('returns 404 for a person or a consent of another organisation', async () => {
    const other = await seedBuyer()
    const theirs = await givenConsent(other.organization)
    const mine = await askQuestion()
    const { token } = await givenMember({ id: shop.organization }, 'admin')
    expect((await answer('give', { user: other.user, consent: mine.consent }, {}, token)).status).toBe(404)
    expect((await answer('give', { user: shop.user, consent: theirs.id }, {}, token)).status).toBe(404)
    expect((await answer('give', { user: other.user, consent: theirs.id }, {}, token)).status).toBe(404)
    expect(await listRecords(other.user, theirs.id)).toEqual([])
  })

  it('returns 404 for a consent of an edition in which the person is unknown', async () => {
    const place = await seedSibling(shop)
    const theirs = await givenConsent(shop.organization, { edition_id: place })
    expect((await answer('give', { user: shop.user, consent: theirs.id })).status).toBe(404)
  })

  it('writes at most nine rows, besides those of webhooks', async () => {
    const at = await askQuestion({ expires_after_days: 10 })
    const written: number[] = []
    for (const action of ['give', 'withdraw', 'give'] as const) {
      // No endpoint subscribes to the event, which is one row and an entry in the order of commits.
      written.push(readCost(await answer(action, at)).rows_written - 2)
    }
    expect(written).toEqual([6, 6, 7])
  })
})
