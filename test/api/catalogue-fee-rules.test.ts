import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { LostRace } from '../../src/domain/errors.ts'
import { findFeeRule } from '../../src/modules/catalogue/fee-rules/queries.ts'
import { deleteFeeRule } from '../../src/modules/catalogue/fee-rules/write.ts'
import { get, patch, post, remove } from '../support/api.ts'
import { listEntries } from '../support/audit.ts'
import { createContextAt, interruptBefore } from '../support/context.ts'
import { buildRefusal, codes } from '../support/editions.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedFeeRule, seedFeeRules } from '../support/seeding/catalogue.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenAdmin, givenMember } from '../support/seeding/members.ts'
import { db } from '../support/seeding/rows.ts'

const path = '/v1/fee-rules'

const aFeeRule = (organization: { id: string }, fields: object = {}) => ({
  organization_id: organization.id,
  name: 'Standard fee',
  currency: 'DKK',
  rate: 2.5,
  fixed_amount: 4.35,
  ...fields,
})

const loadFeeRules = (organization: { id: string }) =>
  db.all(sql<{ id: string; fixed_amount_minor: number }>`select id, fixed_amount_minor from fee_rules
    where organization_id = ${organization.id}`)

const isValid = async (edition: string, token: string) =>
  (await get(`/v1/editions/${edition}/healthcheck`, token)).body.checks.find(
    ({ check_id }: { check_id: string }) => check_id === 'payments.fee_rule_valid',
  ).passed

describe('listFeeRules', () => {
  it('lists the rules of your organisation, newest first', async () => {
    const [admin, other] = [await givenAdmin(), await givenAdmin()]
    await seedFeeRule(other)
    const first = await seedFeeRule(admin, { name: 'Gebühr', created_at: 1 })
    const second = await seedFeeRule(admin, { name: 'Fee', currency: 'eur', is_active: false, created_at: 2 })
    const listIds = async (query: string) =>
      (await get(`${path}?${query}`, admin.token)).body.results.map(({ id }: { id: string }) => id)
    expect(await listIds('')).toEqual([second, first])
    expect(await listIds('search=GEBUHR')).toEqual([first])
    expect(await listIds('currency=EUR')).toEqual([second])
    expect(await listIds('is_active=true')).toEqual([first])
    expect(await listIds(`organization_id=${other.id}`)).toEqual([])
  })
})

describe('createFeeRule', () => {
  it('stores the amount exactly, and an edition can use the rule', async () => {
    const admin = await givenAdmin()
    const reply = await post(path, aFeeRule(admin), admin.token)
    expect([reply.status, reply.body]).toMatchObject([
      201,
      { name: 'Standard fee', description: '', currency: 'dkk', rate: 2.5, fixed_amount: 4.35, is_active: true },
    ])
    expect(await loadFeeRules(admin)).toEqual([{ id: reply.body.id, fixed_amount_minor: 435 }])
    expect(await listEntries(reply)).toMatchObject([
      { action: 'createFeeRule', organization_id: admin.id, resource_type: 'fee_rule', resource_id: reply.body.id },
    ])
    const edition = await seedEdition(admin)
    const fields = { fee_rule_id: reply.body.id }
    expect((await patch(`/v1/editions/${edition.id}`, fields, admin.token)).body).toMatchObject(fields)
    expect(await isValid(edition.id, admin.token)).toBe(true)
    const { body } = await get('/v1/editions/_meta', admin.token)
    expect(body.fee_rules).toEqual([{ value: reply.body.id, label: 'Standard fee', description: '' }])
  })

  it.each([
    [{ rate: 100.5 }, '#/rate max_value'],
    [{ rate: -1 }, '#/rate min_value'],
    [{ fixed_amount: 0.005 }, '#/fixed_amount max_decimal_places'],
    [{ fixed_amount: -1 }, '#/fixed_amount min_value'],
    [{ fixed_amount: 1e12 }, '#/fixed_amount max_value'],
    [{ currency: 'xyz' }, '#/currency invalid_choice'],
    [{ edition_id: 'edt_1' }, '#/edition_id unknown_field'],
  ])('refuses an invalid field: %o', async (more, error) => {
    const admin = await givenAdmin()
    expect(codes(await post(path, aFeeRule(admin, more), admin.token))).toEqual(buildRefusal(error))
    expect(await loadFeeRules(admin)).toEqual([])
  })

  it('is refused to managers, and for an organisation with 500 rules', async () => {
    const admin = await givenAdmin()
    const manager = await givenMember(admin, 'manager')
    expect(describeRefusal(await post(path, aFeeRule(admin), manager.token))).toBe('403 permission_denied')
    await seedFeeRules(admin, 500)
    expect(describeRefusal(await post(path, aFeeRule(admin), admin.token))).toBe('409 catalogue_full')
  })
})

describe('getFeeRule', () => {
  it('shows a rule to viewers of the organisation, and not to roles of an edition', async () => {
    const admin = await givenAdmin()
    const edition = await seedEdition(admin)
    const id = await seedFeeRule(admin)
    const [viewer, editionAdmin] = [await givenMember(admin, 'viewer'), await givenMember(admin, 'admin', edition.id)]
    expect((await get(`${path}/${id}`, viewer.token)).body).toMatchObject({ id, rate: 3, fixed_amount: 0 })
    expect(describeRefusal(await get(`${path}/${id}`, editionAdmin.token))).toBe('403 permission_denied')
  })
})

describe('updateFeeRule', () => {
  it('makes the rule of an edition valid again', async () => {
    const admin = await givenAdmin()
    const id = await seedFeeRule(admin, { currency: 'eur', is_active: false })
    const edition = await seedEdition(admin, { fee_rule_id: id })
    expect(await isValid(edition.id, admin.token)).toBe(false)
    const reply = await patch(`${path}/${id}`, { currency: 'dkk', is_active: true, fixed_amount: 0.1 }, admin.token)
    expect(reply.body).toMatchObject({ currency: 'dkk', is_active: true, rate: 3, fixed_amount: 0.1 })
    expect(await isValid(edition.id, admin.token)).toBe(true)
    expect(await loadFeeRules(admin)).toEqual([{ id, fixed_amount_minor: 10 }])
  })
})

describe('deleteFeeRule', () => {
  it('deletes a rule that no edition uses', async () => {
    const admin = await givenAdmin()
    const id = await seedFeeRule(admin)
    expect((await remove(`${path}/${id}`, admin.token)).status).toBe(204)
    expect(await loadFeeRules(admin)).toEqual([])
  })

  it('is refused while editions use the rule, with their number', async () => {
    const admin = await givenAdmin()
    const id = await seedFeeRule(admin)
    const edition = await seedEdition(admin, { name: 'Nordlys 2026', fee_rule_id: id })
    const refusal = await remove(`${path}/${id}`, admin.token)
    expect([describeRefusal(refusal), refusal.body.counts, refusal.body.related_objects]).toEqual([
      '409 fee_rule_in_use',
      { editions: 1 },
      [{ type: 'edition', id: edition.id, name: 'Nordlys 2026' }],
    ])
    expect((await patch(`/v1/editions/${edition.id}`, { fee_rule_id: null }, admin.token)).status).toBe(200)
    expect((await remove(`${path}/${id}`, admin.token)).status).toBe(204)
  })

  it('is lost to an edition that gets the rule at the same time', async () => {
    const admin = await givenAdmin()
    const id = await seedFeeRule(admin)
    const edition = await seedEdition(admin)
    const row = await findFeeRule(createContextAt(Date.now()), id)
    const choose = () => db.batch([sql`update editions set fee_rule_id = ${id} where id = ${edition.id}`])
    await expect(deleteFeeRule(interruptBefore(choose), row)).rejects.toThrow(LostRace)
    expect(await loadFeeRules(admin)).toHaveLength(1)
  })
})
