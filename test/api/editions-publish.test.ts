import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { commitPart } from '../../src/db/commit.ts'
import { openEditions } from '../../src/modules/editions/index.ts'
import { call, get, patch, post, remove } from '../support/api.ts'
import { dump } from '../support/dump.ts'
import { describeRefusal } from '../support/refusals.ts'
import { loadEdition, type EditionRow, seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenEvent, givenOrganization } from '../support/seeding/organizations.ts'
import { write, db } from '../support/seeding/rows.ts'
import { seedMerchantAccount } from '../support/seeding/sales/merchant-accounts.ts'
import { seedProduct } from '../support/seeding/sales/trades.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'

async function seedDraft(columns: Partial<EditionRow> = {}) {
  const organisation = await givenOrganization()
  const edition = await seedEdition(organisation, columns)
  return { organisation, edition, path: `/v1/editions/${edition.id}` }
}

const sell = (edition: { id: string; organization_id: string }, price_minor: number) =>
  seedProduct({ organization: edition.organization_id, edition: edition.id }, { price_minor })

const describeChecks = (reply: Awaited<ReturnType<typeof get>>) => ({
  status: reply.status,
  code: reply.body.code,
  checks: ((reply.body.checks ?? []) as { check_id: string }[]).map(({ check_id }) => check_id),
})

describe('publishing an edition', () => {
  it('is possible for a new edition with only a name', async () => {
    const organisation = await givenOrganization()
    const event = await givenEvent(organisation)
    const created = await post('/v1/editions', { organization_id: organisation.id, event_id: event.id, name: '2026' })
    const published = await patch(`/v1/editions/${created.body.id}`, { is_draft: false })
    expect(published.body).toMatchObject({ is_draft: false, published_at: published.body.modified })
    expect((await get(`/v1/editions/${created.body.id}/healthcheck`)).body.can_publish).toBe(true)
  })

  it('is refused with the critical checks that fail, and changes nothing', async () => {
    const { edition, path } = await seedDraft({ enabled_languages: ['da'], default_deposit_tax_rate: 101 })
    await sell(edition, 100)
    const before = await dump()
    const reply = await patch(path, { is_draft: false, name: 'Renamed', metadata: { a: 1 } })
    expect(describeChecks(reply)).toEqual({
      status: 409,
      code: 'edition_not_publishable',
      checks: ['localization.default_enabled', 'payments.merchant_for_paid', 'tax.rate_range'],
    })
    const { checks, edition_name } = (await get(`${path}/healthcheck`)).body
    const failedChecks = checks.filter(
      (check: { passed: boolean; severity: string }) => !check.passed && check.severity === 'critical',
    )
    // The refusal names the edition as it would be.
    const name = 'Nordlys Festival Renamed'
    expect(reply.body.checks).toEqual(JSON.parse(JSON.stringify(failedChecks).replaceAll(edition_name, name)))
    expect(await dump()).toEqual(before)
  })

  it('checks the edition with the other changes of the same request', async () => {
    const { organisation, edition, path } = await seedDraft({ enabled_languages: ['da'] })
    await sell(edition, 100)
    const account = await seedMerchantAccount(organisation)
    const mended = { enabled_languages: ['en', 'da'], merchant_account_id: account }
    expect(describeChecks(await patch(path, { is_draft: false, ...mended, currency: 'sek' })).checks).toEqual([
      'payments.currency_supported',
    ])
    expect(await loadEdition(edition.id)).toMatchObject({
      is_draft: true,
      merchant_account_id: null,
      published_at: null,
    })
    const reply = await patch(path, { is_draft: false, ...mended })
    expect(reply.body).toMatchObject({ is_draft: false, ...mended })
    expect(describeChecks(await patch(path, { is_draft: false, merchant_account_id: null })).status).toBe(200)
  })

  it.each([
    ['are free', { price_minor: 0 }],
    ['are drafts', { price_minor: 100, is_draft: true }],
    ['have no price', { price_minor: null }],
  ])('needs no merchant account when products %s', async (_, columns) => {
    const { edition, path } = await seedDraft()
    await seedProduct({ organization: edition.organization_id, edition: edition.id }, columns)
    expect((await patch(path, { is_draft: false })).status).toBe(200)
  })

  it('needs a merchant account once products have a price, and not for other changes', async () => {
    const { edition, path } = await seedDraft()
    await sell(edition, 100)
    expect((await patch(path, { is_draft: false })).status).toBe(409)
    expect((await patch(path, { name: 'Still a draft' })).status).toBe(200)
  })

  it('keeps the time of the first publication through drafts and refusals', async () => {
    const { edition, path } = await seedDraft()
    const first = (await patch(path, { is_draft: false })).body.published_at
    await patch(path, { is_draft: true })
    await sell(edition, 100)
    expect((await patch(path, { is_draft: false })).status).toBe(409)
    await write(sql`update products set price_minor = 0 where edition_id = ${edition.id}`)
    expect((await patch(path, { is_draft: false })).body.published_at).toBe(first)
  })

  it('succeeds with the same key once the faults are repaired', async () => {
    const { edition, path } = await seedDraft()
    await sell(edition, 100)
    const publish = () =>
      call(path, {
        method: 'PATCH',
        body: { is_draft: false },
        headers: { 'idempotency-key': `publish ${edition.id}` },
      })
    expect((await publish()).status).toBe(409)
    await write(sql`update products set price_minor = 0 where edition_id = ${edition.id}`)
    expect((await publish()).status).toBe(200)
  })
})

const isArchived = '409 edition_archived'

describe('an archived edition', () => {
  it('is hidden from lists unless asked for, and can still be read', async () => {
    const { organisation, edition, path } = await seedDraft({ is_archived: true })
    const list = `/v1/editions?organization_id=${organisation.id}`
    expect((await get(list)).body.count).toBe(0)
    expect((await get(`${list}&is_archived=true`)).body.results[0].id).toBe(edition.id)
    expect((await get(path)).body.is_archived).toBe(true)
    expect((await get(`${path}/healthcheck`)).body).toMatchObject({ can_publish: false, status: 'critical' })
  })

  it('can only be unarchived', async () => {
    const { organisation, path } = await seedDraft({ is_archived: true })
    const before = await dump()
    for (const body of [{ name: 'New' }, { is_draft: false }, { is_archived: true, name: 'New' }, { metadata: {} }])
      expect(describeRefusal(await patch(path, body))).toBe(isArchived)
    expect(await dump()).toEqual(before)
    expect((await patch(path, { is_archived: true })).status).toBe(200)
    const manager = await givenMember(organisation, 'manager')
    expect((await patch(path, { is_archived: false }, manager.token)).status).toBe(200)
    const reply = await patch(path, { is_archived: false, name: 'Back', is_draft: false })
    expect(reply.body).toMatchObject({ is_archived: false, name: 'Back', is_draft: false })
  })

  it('can be archived together with another change, and not together with publishing', async () => {
    const { path } = await seedDraft()
    expect(describeChecks(await patch(path, { is_archived: true, is_draft: false })).checks).toEqual([
      'basics.not_archived',
    ])
    expect((await patch(path, { is_archived: true, name: 'Over' })).body).toMatchObject({
      is_archived: true,
      name: 'Over',
    })
  })

  it('refuses new webhook endpoints and changes to existing ones', async () => {
    const { organisation, edition } = await seedDraft({ is_archived: true })
    const open = await seedEdition(organisation)
    const place = { organization: organisation.id, edition: edition.id }
    const ownEndpoint = await seedEndpoint(place)
    const other = await seedEndpoint({ ...place, edition: open.id })
    const body = {
      organization_id: organisation.id,
      edition_id: edition.id,
      name: 'Warehouse',
      url: 'https://hooks.example.com/events',
      events: ['consent.given'],
    }
    const before = await dump()
    expect(describeRefusal(await post('/v1/webhooks', body))).toBe(isArchived)
    expect(describeRefusal(await patch(`/v1/webhooks/${ownEndpoint.id}`, { name: 'New' }))).toBe(isArchived)
    expect(describeRefusal(await patch(`/v1/webhooks/${ownEndpoint.id}`, { edition_id: null }))).toBe(isArchived)
    expect(describeRefusal(await patch(`/v1/webhooks/${other.id}`, { edition_id: edition.id }))).toBe(isArchived)
    expect(await dump()).toEqual(before)
    expect((await post('/v1/webhooks', { ...body, edition_id: open.id })).status).toBe(201)
    expect((await remove(`/v1/webhooks/${ownEndpoint.id}`)).status).toBe(204)
  })

  it('does not change by a request that began before it was archived', async () => {
    const { edition } = await seedDraft({ is_archived: true })
    const open = await seedDraft()
    const rename = (id: string) => sql`update editions set name = 'Written' where id = ${id}`
    const both = [rename(open.edition.id), ...openEditions(open.edition.id, null, undefined, edition.id)]
    await expect(commitPart({ db }, both)).rejects.toMatchObject({ code: 'edition_archived' })
    expect((await loadEdition(open.edition.id))?.name).not.toBe('Written')
    await commitPart({ db }, [rename(open.edition.id), ...openEditions(open.edition.id)])
    expect((await loadEdition(open.edition.id))?.name).toBe('Written')
    expect(openEditions(null, undefined)).toEqual([])
  })
})
