import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { call, get, post } from '../support/api.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedNamedPeople, seedPeople, seedSuppression } from '../support/seeding/customers.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { seedAnswer, seedConsent } from '../support/seeding/messaging/consents.ts'
import { seedSegment, givenSegment } from '../support/seeding/messaging/segments.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { db } from '../support/seeding/rows.ts'
import { calculate, listMembers, loadSegment } from '../support/segments.ts'

let tenant: { organization: string; edition: string }

beforeAll(async () => {
  const organisation = await givenOrganization()
  tenant = { organization: organisation.id, edition: (await seedEdition(organisation)).id }
})

describe('recalculateSegment', () => {
  it('starts a calculation, and refuses a second one until it has ended', async () => {
    const newOrganization = await givenOrganization()
    const people = await seedPeople({ organization: newOrganization.id }, [{}, {}, {}])
    const segment = await givenSegment({
      organization_id: newOrganization.id,
      expression: `user.id != "${people[1]?.id}"`,
    })
    const begun = await post(`/v1/segments/${segment.id}/recalculate`, undefined)
    expect(begun.body).toMatchObject({ status: 'calculating', progress: 0, user_count: 0 })
    const secondReply = await post(`/v1/segments/${segment.id}/recalculate`, undefined)
    expect(describeRefusal(secondReply)).toBe('409 segment_calculating')
    expect(secondReply.body.current_status).toBe('calculating')
    await db.batch([sql`update segments set status = 'failed' where id = ${segment.id}`])
    const row = await calculate(segment.id)
    expect(row).toMatchObject({ status: 'ready', epoch: 2, members_epoch: 2, user_count: 2 })
    expect(await listMembers(segment.id)).toEqual([people[0]?.id, people[2]?.id])
    expect((await get(`/v1/segments/${segment.id}`)).body).toMatchObject({
      status: 'ready',
      user_count: 2,
      progress: 1,
    })
  })

  it('excludes people who must not get marketing, with the first reason that applies', async () => {
    const newOrganization = await givenOrganization()
    const consent = await seedConsent({ organization: newOrganization.id, edition: null })
    const sms = await seedConsent({ organization: newOrganization.id, edition: null }, { channels: ['sms'] })
    const terms = await seedConsent({ organization: newOrganization.id, edition: null }, { type: 'terms' })
    const asksAgain = await seedConsent(
      { organization: newOrganization.id, edition: null },
      { reconsent_on_change: true, wording_version: 2 },
    )
    const people = await seedNamedPeople(
      { organization: newOrganization.id },
      {
        agreed: {},
        agreedAgain: {},
        withoutAddress: { email: null },
        silent: {},
        agreedToSms: {},
        agreedToTerms: {},
        skipped: {},
        expired: {},
        outdated: {},
        withdrawn: {},
        complained: {},
        bounced: {},
        off: { is_active: false },
      },
    )
    await Promise.all([
      seedAnswer(people.agreed, consent, 'given'),
      seedSuppression(people.agreed, 'sms', 'unsubscribed'),
      seedAnswer(people.agreedAgain, asksAgain, 'given', { consent_version: 2 }),
      seedAnswer(people.withoutAddress, consent, 'given'),
      seedAnswer(people.agreedToSms, sms, 'given'),
      seedAnswer(people.agreedToTerms, terms, 'given'),
      seedAnswer(people.skipped, consent, 'skipped'),
      seedAnswer(people.expired, consent, 'given', { expires_at: Date.now() - 1000 }),
      seedAnswer(people.outdated, asksAgain, 'given', { consent_version: 1 }),
      seedAnswer(people.withdrawn, consent, 'withdrawn'),
      seedAnswer(people.complained, consent, 'given'),
      seedSuppression(people.complained, 'email', 'complaint'),
      seedAnswer(people.bounced, consent, 'given'),
      seedSuppression(people.bounced, 'email', 'hard_bounce'),
      seedAnswer(people.off, consent, 'given'),
    ])
    const segment = await givenSegment({ organization_id: newOrganization.id, communication_type: 'marketing' })
    await calculate(segment.id)
    expect(await listMembers(segment.id)).toEqual([people.agreed.id, people.agreedAgain.id])
    expect((await get(`/v1/segments/${segment.id}`)).body).toMatchObject({
      user_count: 2,
      excluded: { no_address: 1, no_consent: 6, unsubscribed: 2, bounced: 1, inactive: 1 },
    })
  })

  it('excludes only dead addresses and inactive people from transactional messages', async () => {
    const newOrganization = await givenOrganization()
    const people = await seedNamedPeople(
      { organization: newOrganization.id },
      { plain: {}, complained: {}, dead: {}, invalid: {}, off: { is_active: false }, mailOnly: { phone_number: null } },
    )
    await seedSuppression(people.complained, 'sms', 'complaint')
    await seedSuppression(people.dead, 'sms', 'hard_bounce')
    await seedSuppression(people.invalid, 'sms', 'invalid')
    const segment = await givenSegment({ organization_id: newOrganization.id, communication_channel: 'sms' })
    await calculate(segment.id)
    expect(await listMembers(segment.id)).toEqual([people.plain.id, people.complained.id])
    expect((await loadSegment(segment.id)).excluded).toMatchObject({
      bounced: 2,
      inactive: 1,
      no_address: 1,
    })
  })

  it('includes only people of its edition, and never those of another organisation', async () => {
    const [newOrganization, other] = [await givenOrganization(), await givenOrganization()]
    const at = await seedEdition(newOrganization)
    const [inside] = await seedPeople({ organization: newOrganization.id, edition: at.id }, [{}])
    await seedPeople({ organization: newOrganization.id }, [{}])
    const strangers = await seedPeople({ organization: other.id, edition: at.id }, [{}])
    const narrow = await givenSegment({ organization_id: newOrganization.id, edition_id: at.id })
    const wide = await givenSegment({
      organization_id: newOrganization.id,
      expression: `user.id == "${strangers[0]?.id}" || user.is_active`,
    })
    await calculate(narrow.id)
    await calculate(wide.id)
    expect(await listMembers(narrow.id)).toEqual([inside?.id])
    const members = await listMembers(wide.id)
    expect([members.length, members.includes(strangers[0]?.id ?? '')]).toEqual([2, false])
  })
})

describe('resetSegmentToDraft', () => {
  const reset = (id: string) => post(`/v1/segments/${id}/reset-to-draft`, undefined)

  it('is refused while a calculation runs, with a time to retry', async () => {
    const { id } = await seedSegment(tenant, { status: 'calculating', epoch: 1, heartbeat_at: Date.now() - 60_000 })
    const { status, body, headers } = await reset(id)
    expect(describeRefusal({ status, body })).toBe('409 segment_not_stuck')
    expect(Number(headers.get('retry-after'))).toBe(body.retry_after)
    expect(body.retry_after).toBeGreaterThan(50)
    expect(body.retry_after).toBeLessThanOrEqual(60)
  })

  it.each([
    { status: 'calculating' as const, epoch: 4, heartbeat_at: 1 },
    { status: 'failed' as const, epoch: 4, error_message: 'no', members_epoch: 2, user_count: 3 },
    { status: 'ready' as const, epoch: 4, members_epoch: 4, user_count: 3 },
  ])('makes an empty draft, and stops the calculation: %j', async (columns) => {
    const { id } = await seedSegment(tenant, columns)
    const { status, body } = await reset(id)
    expect([status, body.status, body.user_count, body.error_message]).toEqual([200, 'draft', 0, ''])
    expect(await loadSegment(id)).toMatchObject({ epoch: 5, members_epoch: 0, heartbeat_at: null })
  })

  it('does not change a draft', async () => {
    const { id } = await seedSegment(tenant)
    const before = await loadSegment(id)
    expect((await reset(id)).status).toBe(200)
    expect(await loadSegment(id)).toEqual(before)
  })

  it('answers the same request with the same Idempotency-Key alike', async () => {
    const { id } = await seedSegment(tenant)
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const send = () => call(`/v1/segments/${id}/recalculate`, { method: 'POST', headers })
    const first = await send()
    const second = await send()
    expect([second.status, second.text]).toEqual([200, first.text])
    expect((await loadSegment(id)).epoch).toBe(1)
  })
})
