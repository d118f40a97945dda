import { describe, expect, it } from 'vitest'
import { call, get, patch, publicUrl, post } from '../support/api.ts'
import { codes, buildRefusal } from '../support/editions.ts'
import { seedFeeRule } from '../support/seeding/catalogue.ts'
import { loadEdition, type EditionRow, seedEdition } from '../support/seeding/editions.ts'
import { seedFile } from '../support/seeding/files.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedReceiptMessage } from '../support/seeding/messaging/email-messages.ts'
import { givenEvent, givenOrganization } from '../support/seeding/organizations.ts'
import { seedMerchantAccount } from '../support/seeding/sales/merchant-accounts.ts'

async function seedPlace(columns: Partial<EditionRow> = {}) {
  const organisation = await givenOrganization()
  const edition = await seedEdition(organisation, { created_at: 1000, modified_at: 1000, ...columns })
  return { organisation, edition, path: `/v1/editions/${edition.id}` }
}

describe('updateEdition', () => {
  it('changes the fields of the body and no others', async () => {
    const { organisation, edition, path } = await seedPlace()
    const fields = {
      name: 'Vinter',
      start_date: '2026-12-01T09:00:00.000Z',
      end_date: '2026-12-02T09:00:00.000Z',
      timezone: 'Europe/Oslo',
      default_country_code: '+47',
      default_language: 'da',
      enabled_languages: ['da', 'en'],
      tax_type: 'vat',
      default_price_tax_rate: 25,
      default_deposit_tax_rate: 12.5,
      default_packaging_deposit_tax_rate: 100,
      currency: 'nok',
      fee_rule_id: await seedFeeRule(organisation),
      merchant_account_id: await seedMerchantAccount(organisation),
      merchant_account_extra_parameters: { split: [1, { b: null }] },
      merchant_id: { main: 'M-1' },
      metadata: { code: 'A-17' },
      sms_sender_name: 'Store',
      email_sender_name: 'Nordlys',
      email_sender_address: 'hello@example.dk',
      email_reply_to: 'reply@example.dk',
      meta_title: { en: 'Winter', da: 'Vinter' },
      meta_description: { en: 'Cold' },
      meta_image_id: await seedFile({ organization: organisation.id, edition: null }, { access_key: 'key-of-it' }),
      transaction_receipt_email_id: await seedReceiptMessage(organisation, { type: 'receipt_online' }),
      refund_confirmation_email_id: await seedReceiptMessage(null, {
        type: 'refund_confirmation',
        edition_id: edition.id,
      }),
    }
    const before = (await get(path)).body
    const reply = await patch(path, { ...fields, id: 'edt_other', slug: 'other', status: 'past', created: null })
    const base = `${publicUrl}/files/${fields.meta_image_id}/key-of-it`
    expect(reply.body).toEqual({
      ...before,
      ...fields,
      full_name: 'Nordlys Festival Vinter',
      status: 'upcoming',
      meta_image: {
        thumbnail: `${base}/thumbnail`,
        optimized: `${base}/optimized`,
        large: `${base}/large`,
        original: `${base}/original`,
      },
      modified: reply.body.modified,
    })
    expect(reply.body.modified > before.modified).toBe(true)
    expect((await get(path)).body).toEqual(reply.body)
    const row = await loadEdition(edition.id)
    expect(row).toMatchObject({
      slug: edition.slug,
      version: 2,
      is_draft: true,
      search: expect.stringContaining('vinter'),
    })
    const untouched = await patch(path, {})
    expect(untouched.body).toEqual({ ...reply.body, modified: untouched.body.modified })
  })

  it('sets optional fields to null', async () => {
    const { organisation, edition, path } = await seedPlace({ start_at: 1, end_at: 2 })
    const full = {
      fee_rule_id: await seedFeeRule(organisation),
      merchant_account_id: await seedMerchantAccount(organisation),
      meta_image_id: await seedFile({ organization: organisation.id, edition: null }, { edition_id: edition.id }),
      transaction_receipt_email_id: await seedReceiptMessage(organisation),
      refund_confirmation_email_id: await seedReceiptMessage(organisation, { type: 'refund_confirmation' }),
      email_sender_name: 'Nordlys',
      email_sender_address: 'hello@example.dk',
      email_reply_to: 'reply@example.dk',
    }
    expect((await patch(path, full)).body).toMatchObject(full)
    const names = ['start_date', 'end_date', ...Object.keys(full)]
    const nulls = Object.fromEntries(names.map((name) => [name, null]))
    const { body } = await patch(path, nulls)
    expect(body).toMatchObject({ ...nulls, meta_image: null, status: 'no_dates' })
    expect(await loadEdition(edition.id)).toMatchObject({ start_at: null, end_at: null, meta_image_id: null })
  })

  it('refuses null in fields that need a value, and values beyond their limits', async () => {
    const { edition, path } = await seedPlace()
    const never = `name timezone default_country_code is_draft is_archived default_language enabled_languages tax_type
      default_price_tax_rate default_deposit_tax_rate default_packaging_deposit_tax_rate currency
      merchant_account_extra_parameters merchant_id metadata sms_sender_name meta_title meta_description`.split(/\s+/)
    expect(codes(await patch(path, Object.fromEntries(never.map((name) => [name, null]))))).toEqual(
      buildRefusal(...never.map((name) => `#/${name} null`)),
    )
    const wrong = {
      name: 'x'.repeat(201),
      timezone: '+02:00',
      default_price_tax_rate: 100.01,
      default_deposit_tax_rate: -1,
      default_packaging_deposit_tax_rate: '25',
      currency: 'chf',
      metadata: { text: 'ø'.repeat(9000) },
      sms_sender_name: 'platform',
      email_sender_name: 'x'.repeat(51),
      email_sender_address: 'nobody',
      email_reply_to: `${'x'.repeat(250)}@example.dk`,
      meta_title: { de: 'Winter' },
      meta_description: { en: 5 },
    }
    expect(codes(await patch(path, wrong))).toEqual(
      buildRefusal(
        '#/name max_length',
        '#/timezone invalid_choice',
        '#/default_price_tax_rate max_value',
        '#/default_deposit_tax_rate min_value',
        '#/default_packaging_deposit_tax_rate invalid_type',
        '#/currency invalid_choice',
        '#/metadata max_length',
        '#/sms_sender_name invalid_choice',
        '#/email_sender_name max_length',
        '#/email_sender_address invalid_email',
        '#/email_reply_to max_length',
        '#/meta_title/de unknown_language',
        '#/meta_description/en invalid_type',
      ),
    )
    for (const name of ['A\nBcc: b@example.dk', 'A\u202Eb', 'A\u2066b', 'A\u200Fb', 'A\u2028b', '=?utf-8?q?a=40b.dk?='])
      expect(codes(await patch(path, { email_sender_name: name }))).toEqual(
        buildRefusal('#/email_sender_name invalid_characters'),
      )
    for (const name of ['pay@bank.dk', 'Nordlys <pay@bank.dk>', 'pay＠bank.dk', 'pay\u200B@\u200Dbank.dk', 'pay﹫bank'])
      expect(codes(await patch(path, { email_sender_name: name }))).toEqual(
        buildRefusal('#/email_sender_name holds_address'),
      )
    expect(await loadEdition(edition.id)).toMatchObject({ version: 1, name: edition.name })
  })

  it('compares a new date with the other date that is stored', async () => {
    const { edition, path } = await seedPlace({ start_at: 1000, end_at: 2000 })
    const formatTime = (ms: number) => new Date(ms).toISOString()
    expect(codes(await patch(path, { end_date: formatTime(999) }))).toEqual(buildRefusal('#/end_date end_before_start'))
    expect(codes(await patch(path, { start_date: formatTime(2001) }))).toEqual(
      buildRefusal('#/start_date end_before_start'),
    )
    expect(codes(await patch(path, { start_date: formatTime(5), end_date: formatTime(4) }))).toEqual(
      buildRefusal('#/end_date end_before_start'),
    )
    expect(await loadEdition(edition.id)).toMatchObject({ start_at: 1000, end_at: 2000 })
    expect((await patch(path, { start_date: formatTime(3000), end_date: null })).body.end_date).toBeNull()
  })

  it('keeps the time of the first publication', async () => {
    const { path } = await seedPlace()
    const published = (await patch(path, { is_draft: false })).body
    expect(published).toMatchObject({ is_draft: false, published_at: published.modified })
    const draft = (await patch(path, { is_draft: true })).body
    expect(draft).toMatchObject({ is_draft: true, published_at: published.published_at })
    const republished = (await patch(path, { is_draft: false })).body
    expect(republished).toMatchObject({ is_draft: false, published_at: published.published_at })
  })

  it('accepts only references that this edition may use', async () => {
    const { organisation, edition, path } = await seedPlace()
    const sibling = await seedEdition(organisation)
    const foreign = await givenOrganization()
    const manager = await givenMember(organisation, 'admin', edition.id)
    const send = async (body: Record<string, unknown>) => codes(await patch(path, body, manager.token))
    const foreignIds = {
      fee_rule_id: await seedFeeRule(foreign),
      merchant_account_id: await seedMerchantAccount(foreign),
      meta_image_id: await seedFile({ organization: foreign.id, edition: null }),
      transaction_receipt_email_id: await seedReceiptMessage(foreign),
      refund_confirmation_email_id: await seedReceiptMessage(foreign, { type: 'refund_confirmation' }),
    }
    const fields = Object.keys(foreignIds)
    const everyField = buildRefusal(...fields.map((field) => `#/${field} does_not_exist`))
    expect(await send(foreignIds)).toEqual(everyField)
    const unknownIds = Object.entries(foreignIds).map(([field, id]) => [field, `${id.slice(0, 4)}nobody`])
    expect(await send(Object.fromEntries(unknownIds))).toEqual(everyField)
    expect(await send(Object.fromEntries(fields.map((field) => [field, 'xxx_nobody'])))).toEqual(
      buildRefusal(...fields.map((field) => `#/${field} invalid_id`)),
    )
    const misfits = {
      meta_image_id: await seedFile({ organization: organisation.id, edition: null }, { purpose: 'attachment' }),
      transaction_receipt_email_id: await seedReceiptMessage(organisation, { type: 'refund_confirmation' }),
      refund_confirmation_email_id: await seedReceiptMessage(organisation, { type: 'receipt' }),
    }
    const siblings = {
      meta_image_id: await seedFile({ organization: organisation.id, edition: null }, { edition_id: sibling.id }),
      transaction_receipt_email_id: await seedReceiptMessage(organisation, { edition_id: sibling.id }),
      refund_confirmation_email_id: await seedReceiptMessage(organisation, {
        type: 'refund_confirmation',
        edition_id: sibling.id,
      }),
    }
    for (const body of [misfits, siblings])
      expect(await send(body)).toEqual(buildRefusal(...Object.keys(body).map((field) => `#/${field} does_not_exist`)))
    expect(await loadEdition(edition.id)).toMatchObject({ version: 1, fee_rule_id: null, meta_image_id: null })
  })

  it('lets an admin of the organisation use an image of another edition', async () => {
    const { organisation, path } = await seedPlace()
    const image = await seedFile(
      { organization: organisation.id, edition: null },
      { edition_id: (await seedEdition(organisation)).id },
    )
    const admin = await givenMember(organisation, 'admin')
    expect((await patch(path, { meta_image_id: image }, admin.token)).body.meta_image.large).toContain(image)
  })

  it('lets managers change every field', async () => {
    const { organisation, edition, path } = await seedPlace()
    const merchant_account_id = await seedMerchantAccount(organisation)
    const fee_rule_id = await seedFeeRule(organisation)
    const changed = {
      merchant_account_id,
      merchant_account_extra_parameters: { a: 1 },
      merchant_id: { a: 2, b: 2 },
      fee_rule_id,
      currency: 'eur',
      is_archived: true,
    }
    for (const scope of [undefined, edition.id]) {
      const { token } = await givenMember(organisation, 'manager', scope)
      const reply = await patch(path, changed, token)
      expect([reply.status, reply.body]).toMatchObject([200, changed])
      expect(await loadEdition(edition.id)).toMatchObject({
        ...changed,
        merchant_account_extra_parameters: { a: 1 },
        merchant_id: { a: 2, b: 2 },
        is_archived: true,
      })
      const back = {
        merchant_account_id: null,
        fee_rule_id: null,
        merchant_id: {},
        merchant_account_extra_parameters: {},
        currency: 'dkk',
        is_archived: false,
      }
      expect((await patch(path, back, token)).body).toMatchObject(back)
    }
  })

  it('is refused to viewers, and answers 404 to callers without a role there', async () => {
    const { organisation, edition, path } = await seedPlace()
    const viewer = await givenMember(organisation, 'viewer')
    expect(await patch(path, { name: 'x' }, viewer.token)).toMatchObject({
      status: 403,
      body: { required_roles: ['OA', 'OM', 'EA', 'EM'] },
    })
    const mixed = await givenMember(organisation, 'manager', (await seedEdition(organisation)).id)
    const stranger = await givenMember(await givenOrganization(), 'admin')
    for (const { token } of [mixed, stranger]) expect((await patch(path, { name: 'x' }, token)).status).toBe(404)
    expect(await loadEdition(edition.id)).toMatchObject({ name: edition.name, version: 1 })
  })

  it('keeps both of two simultaneous changes', async () => {
    const { edition, path } = await seedPlace()
    const replies = await Promise.all([
      patch(path, { name: 'Both' }),
      patch(path, { metadata: { both: true } }),
      patch(path, { tax_type: 'vat' }),
    ])
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await get(path)).body).toMatchObject({ name: 'Both', metadata: { both: true }, tax_type: 'vat' })
    expect((await loadEdition(edition.id))?.version).toBe(4)
  })

  it('refuses a change that was decided before another change', async () => {
    const { path } = await seedPlace()
    const etag = (await get(path)).headers.get('etag') ?? ''
    const send = (name: string, ifMatch: string) =>
      call(path, { method: 'PATCH', body: { name }, headers: { 'if-match': ifMatch } })
    const first = await send('First', etag)
    expect(first.status).toBe(200)
    expect(await send('Second', etag)).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
    expect((await get(path)).body.name).toBe('First')
    expect((await send('Third', first.headers.get('etag') ?? '')).body.name).toBe('Third')
  })

  it('keeps the slug when the name changes, and does not repeat the event’s name', async () => {
    const organisation = await givenOrganization()
    const event = await givenEvent(organisation, 'Nordlys')
    const { body } = await post('/v1/editions', { organization_id: organisation.id, event_id: event.id, name: '2026' })
    const renamed = await patch(`/v1/editions/${body.id}`, { name: 'Nordlys 2027' })
    expect(renamed.body).toMatchObject({ full_name: 'Nordlys 2027', slug: 'nordlys-2026' })
  })
})
