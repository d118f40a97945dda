import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { get } from '../support/api.ts'
import { seedFeeRule } from '../support/seeding/catalogue.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedReceiptMessage } from '../support/seeding/messaging/email-messages.ts'
import { givenEvent, givenOrganization } from '../support/seeding/organizations.ts'
import { db } from '../support/seeding/rows.ts'
import { seedMerchantAccount } from '../support/seeding/sales/merchant-accounts.ts'

// The platform's own messages would appear in every list.
beforeAll(() => db.batch([sql`delete from email_messages where organization_id is null`]))

describe('getEditionMeta', () => {
  const dynamic = ['fee_rules', 'merchant_accounts', 'receipt_emails', 'refund_confirmation_emails', 'events']
  const values = (choices: { value: string }[]) => choices.map(({ value }) => value)

  it('returns the choices that are the same for all', async () => {
    const { body, headers } = await get('/v1/editions/_meta')
    expect(values(body.languages)).toEqual(['en', 'da', 'se', 'nl', 'pl'])
    expect(values(body.currencies)).toEqual(['eur', 'usd', 'gbp', 'pln', 'dkk', 'sek', 'nok'])
    expect(values(body.tax_types)).toEqual(['none', 'vat', 'sales'])
    expect(values(body.sms_sender_names)).toEqual(['Unset', 'Platform', 'Store'])
    expect(body.country_codes).toHaveLength(13)
    expect(body.country_codes).toContainEqual({
      value: '+45',
      label: 'Denmark (+45)',
      description: 'Starts with the currency dkk',
    })
    expect(body.timezones[0]).toMatchObject({ value: 'UTC', label: '(UTC+00:00) UTC' })
    expect(values(body.timezones)).toContain('Europe/Kyiv')
    expect(headers.get('cache-control')).toBe('private, max-age=300')
    expect(headers.get('vary')?.toLowerCase()).toContain('authorization')
    expect(headers.get('etag')).toBeTruthy()
  })

  it('returns the choices of the organisation', async () => {
    const organisation = await givenOrganization('Nordlys')
    const event = await givenEvent(organisation, 'Festival')
    const edition = await seedEdition(organisation, { event_id: event.id, full_name: 'Festival 2026' })
    const fee = await seedFeeRule(organisation)
    await seedFeeRule(organisation, { name: 'Retired', is_active: false })
    const account = await seedMerchantAccount(organisation)
    await seedMerchantAccount(organisation, { is_active: false })
    const receipt = await seedReceiptMessage(organisation, { title: 'B' })
    const online = await seedReceiptMessage(organisation, {
      title: 'A',
      type: 'receipt_online',
      edition_id: edition.id,
    })
    const refund = await seedReceiptMessage(organisation, { title: 'Refund', type: 'refund_confirmation' })
    await seedReceiptMessage(organisation, { type: 'campaign' })
    const viewer = await givenMember(organisation, 'viewer')
    const { body } = await get('/v1/editions/_meta', viewer.token)
    expect(body).toMatchObject({
      fee_rules: [{ value: fee, label: 'Standard', description: '3 %' }],
      merchant_accounts: [
        { value: account, label: 'Main', description: '', type: 'manual', supported_currencies: ['dkk', 'eur'] },
      ],
      receipt_emails: [
        { value: online, label: 'A', description: 'Festival 2026' },
        { value: receipt, label: 'B', description: 'Nordlys' },
      ],
      refund_confirmation_emails: [{ value: refund, label: 'Refund', description: 'Nordlys' }],
      events: [{ value: event.id, label: 'Festival', description: 'Nordlys' }],
    })
  })

  it('can be limited to one organisation, and returns nothing for foreign or unknown ones', async () => {
    const [ours, theirs] = await Promise.all([givenOrganization(), givenOrganization()])
    const [ourFee, theirFee] = [await seedFeeRule(ours), await seedFeeRule(theirs)]
    await seedReceiptMessage(theirs)
    const platform = await seedReceiptMessage(null)
    const admin = await givenMember(ours, 'admin')
    const meta = async (organization: string, token?: string) =>
      (await get(`/v1/editions/_meta?organization_id=${organization}`, token)).body
    expect(values((await meta(ours.id, admin.token)).fee_rules)).toEqual([ourFee])
    expect(values((await meta(ours.id, admin.token)).receipt_emails)).toEqual([platform])
    expect(values((await meta(theirs.id)).fee_rules)).toEqual([theirFee])
    for (const body of [
      await meta(theirs.id, admin.token),
      await meta('org_nobody', admin.token),
      await meta('org_nobody'),
    ]) {
      expect(dynamic.map((key) => body[key])).toEqual([[], [], [], [], []])
      expect(body.languages).toHaveLength(5)
      expect(body.timezones.length).toBeGreaterThan(400)
    }
    const all = await get('/v1/editions/_meta', admin.token)
    expect(values(all.body.fee_rules)).toEqual([ourFee])
    await db.batch([sql`delete from email_messages where id = ${platform}`])
  })

  it('returns a member of one edition the rules of the organisation, and no messages of other editions', async () => {
    const organisation = await givenOrganization()
    const [mine, other] = [await seedEdition(organisation), await seedEdition(organisation)]
    const fee = await seedFeeRule(organisation)
    const ownMessage = await seedReceiptMessage(organisation, { edition_id: mine.id })
    await seedReceiptMessage(organisation, { edition_id: other.id })
    const member = await givenMember(organisation, 'admin', mine.id)
    const { body } = await get('/v1/editions/_meta', member.token)
    expect(values(body.fee_rules)).toEqual([fee])
    expect(values(body.receipt_emails)).toEqual([ownMessage])
    expect(values(body.events)).toEqual([mine.event_id])
  })
})
