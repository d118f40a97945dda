import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get, post } from '../../support/api.ts'
import { listRecords } from '../../support/consents.ts'
import { readColumns, mapColumns, pathOf, joinCsvLines } from '../../support/data-imports.ts'
import { previewOrders, startImport, readSuggestions } from '../../support/imported-tables.ts'
import { seedEdition } from '../../support/seeding/editions.ts'
import { givenImport } from '../../support/seeding/imports/data-imports.ts'
import { givenConsent } from '../../support/seeding/messaging/consents.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { type Shop, seedShop } from '../../support/seeding/sales/orders.ts'

/** Seeds a definition that is older than the orders. */
async function givenOldConsent(
  { organization_id }: Shop,
  fields: object = {},
): Promise<{ id: string; target: string }> {
  const { id, key } = await givenConsent(organization_id, { ...fields })
  await write(
    sql`update consents set created_at = 0 where id = ${id}`,
    sql`update consent_versions set created_at = 0 where consent_id = ${id}`,
  )
  return { id, target: `consent.${key}` }
}

const answersOf = async ({ organization_id }: Shop, email: string, consent: string) => {
  const user = await db.first(
    sql<{ id: string }>`select id from users where organization_id = ${organization_id} and email = ${email}`,
  )
  return listRecords(user?.id ?? '', consent)
}

const danish = joinCsvLines([
  'Ordrenr.;E-mail;Billettype;Pris;Købt den;Nyhedsbrev',
  'N-1;ja@example.dk;Partout;100,00;15-01-2026 10:00;ja',
  'N-2;nej@example.dk;Partout;100,00;15-01-2026 11:00;nej',
  'N-3;tavs@example.dk;Partout;100,00;15-01-2026 12:00;',
])

describe('a column with answers to a consent', () => {
  it('is suggested when the edition asks for the consent, and its answers have the time of the order', async () => {
    const tenant = await seedShop()
    const consent = await givenOldConsent(tenant)
    const id = (await givenImport(tenant, danish, { options: { skipped: true } })).id
    const { results } = await readColumns(id)
    expect(results[5]).toMatchObject({ target_field: consent.target, is_suggested: true, confidence: 0.82 })
    await previewOrders(id)
    expect(await startImport(id)).toMatchObject({ status: 'completed', created_orders: 3 })
    const [firstAnswer, ...more] = await answersOf(tenant, 'ja@example.dk', consent.id)
    expect(more).toEqual([])
    expect(firstAnswer).toMatchObject({
      status: 'given',
      method: 'import',
      occurred_at: Date.parse('2026-01-15T09:00:00Z'),
      import_id: id,
    })
    expect((await answersOf(tenant, 'nej@example.dk', consent.id)).map(({ status }) => status)).toEqual(['skipped'])
    expect(await answersOf(tenant, 'tavs@example.dk', consent.id)).toEqual([])
  })

  it('stores nothing for a no, unless the import says that the question was shown', async () => {
    const tenant = await seedShop()
    const consent = await givenOldConsent(tenant)
    const id = (await givenImport(tenant, danish)).id
    await previewOrders(id)
    await startImport(id)
    expect(await answersOf(tenant, 'nej@example.dk', consent.id)).toEqual([])
    expect(await answersOf(tenant, 'ja@example.dk', consent.id)).toHaveLength(1)
  })

  it('is not suggested when two consents fit or only consents of others do, and you can map it', async () => {
    const [tenant, other] = [await seedShop(), await seedShop()]
    const foreign = await givenOldConsent(other)
    const unasked = (await givenImport(tenant, danish)).id
    expect((await readColumns(unasked)).results[5]).toMatchObject({ target_field: null, is_suggested: false })
    const [first] = [await givenOldConsent(tenant), await givenOldConsent(tenant, { name: 'Partners' })]
    const id = (await givenImport(tenant, danish)).id
    expect((await readColumns(id)).results[5]).toMatchObject({ target_field: null, confidence: 0 })
    for (const target_field of [foreign.target, 'consent.of-nobody']) {
      const refusal = await mapColumns(id, [{ source_index: 5, target_field }])
      expect(refusal.body.errors).toMatchObject([
        { code: 'unknown_target_field', pointer: '#/mappings/0/target_field' },
      ])
    }
    expect((await mapColumns(id, [{ source_index: 5, target_field: first.target }])).status).toBe(200)
    await previewOrders(id)
    await startImport(id)
    expect(await answersOf(tenant, 'ja@example.dk', first.id)).toHaveLength(1)
  })

  it('stops the reading of rows once the edition no longer asks for the consent', async () => {
    const tenant = await seedShop()
    const consent = await givenOldConsent(tenant)
    const id = (await givenImport(tenant, danish)).id
    await write(sql`update consents set is_active = 0 where id = ${consent.id}`)
    const refusal = await post(pathOf(id, '/column-mappings/process'), {})
    expect(refusal.body.errors).toMatchObject([
      {
        code: 'unknown_target_field',
        pointer: '#/mappings/5/target_field',
        detail: expect.stringContaining(consent.target),
      },
    ])
    await mapColumns(id, [{ source_index: 5, is_ignored: true, target_field: null }])
    await previewOrders(id)
    expect(await startImport(id)).toMatchObject({ status: 'completed', created_orders: 3 })
  })
})

const buildOwnTable = (order: string) =>
  joinCsvLines(['Løbenummer;Skriv til;Hvad;Betalt beløb;Bemærkning', `${order};ane@example.dk;Partout;100,00;ingen`])
const ownMapping = [
  { source_index: 0, target_field: 'order.external_id' },
  { source_index: 1, target_field: 'customer.email' },
  { source_index: 2, target_field: 'item.product' },
  { source_index: 3, target_field: 'item.unit_price' },
  { source_index: 4, is_ignored: true },
]
const noSuggestions = {
  '0 Løbenummer': null,
  '1 Skriv til': null,
  '2 Hvad': null,
  '3 Betalt beløb': null,
  '4 Bemærkning': null,
}

describe('an unknown header', () => {
  it('gets no suggestion and no confidence', async () => {
    const tenant = await seedShop()
    const id = (await givenImport(tenant, buildOwnTable('1'))).id
    expect(await readSuggestions(id)).toEqual(noSuggestions)
    const { results } = await readColumns(id)
    expect(results.map(({ confidence }: { confidence: number }) => confidence)).toEqual([0, 0, 0, 0, 0])
  })

  it('gets the target that it had in the last started import of the edition, or else of the organisation', async () => {
    const [tenant, stranger] = [await seedShop(), await seedShop()]
    const first = (await givenImport(tenant, buildOwnTable('1'))).id
    await previewOrders(first, { mappings: ownMapping })
    const before = (await givenImport(tenant, buildOwnTable('2'))).id
    expect(await readSuggestions(before)).toEqual(noSuggestions)
    await startImport(first)
    const sibling = { ...tenant, edition_id: (await seedEdition({ id: tenant.organization_id })).id }
    const second = (await givenImport(sibling, buildOwnTable('3'))).id
    const { results } = await readColumns(second)
    expect(
      results.map((item: Record<string, unknown>) => [item['target_field'], item['confidence'], item['is_suggested']]),
    ).toEqual([
      ['order.external_id', 0.98, true],
      ['customer.email', 0.98, true],
      ['item.product', 0.98, true],
      ['item.unit_price', 0.98, true],
      [null, 0, false],
    ])
    expect(await readSuggestions((await givenImport(stranger, buildOwnTable('4'))).id)).toEqual(noSuggestions)
    await previewOrders(second, { mappings: [{ source_index: 3, target_field: 'item.line_total' }] })
    await startImport(second)
    const third = { ...tenant, edition_id: (await seedEdition({ id: tenant.organization_id })).id }
    const readAmount = async (shop: Shop) =>
      (await readSuggestions((await givenImport(shop, buildOwnTable('5'))).id))['3 Betalt beløb']
    expect(await readAmount(tenant)).toBe('item.unit_price')
    expect(await readAmount(sibling)).toBe('item.line_total')
    expect(await readAmount(third)).toBe('item.line_total')
  })

  it('does not get a former target that its values contradict', async () => {
    const tenant = await seedShop()
    const first = (await givenImport(tenant, buildOwnTable('1'))).id
    await previewOrders(first, { mappings: ownMapping })
    await startImport(first)
    const turned = joinCsvLines(['Løbenummer;Skriv til;Hvad;Betalt beløb', '9;20 12 34 56;Partout;på fakturaen'])
    expect(await readSuggestions((await givenImport(tenant, turned)).id)).toEqual({
      '0 Løbenummer': 'order.external_id',
      '1 Skriv til': null,
      '2 Hvad': 'item.product',
      '3 Betalt beløb': null,
    })
  })
})

describe('rows with an id column that was not detected', () => {
  it('are grouped by it once you map the column', async () => {
    const tenant = await seedShop()
    const rows = ['7;ane@example.dk;Partout;100,00', '8;bo@example.dk;Partout;100,00', '7;;Camping;50,50']
    const id = (await givenImport(tenant, joinCsvLines(['Løbenummer;E-mail;Billettype;Stykpris', ...rows]))).id
    expect((await get(pathOf(id))).body.options.group_by).toBeNull()
    const mappings = [{ source_index: 0, target_field: 'order.external_id' }]
    const { totals } = await previewOrders(id, { mappings })
    expect(totals).toMatchObject({ create: 2, error: 0 })
    expect(await startImport(id)).toMatchObject({ status: 'completed', created_orders: 2, total_orders: 2 })
  })
})

describe('listImportTargetFields', () => {
  it('lists the consents of the edition beside the fields of orders', async () => {
    const [tenant, other] = [await seedShop(), await seedShop()]
    const [consent, foreign] = [await givenOldConsent(tenant), await givenOldConsent(other)]
    const listKeys = async (query: string) => {
      const { body } = await get(`/v1/data-imports/target-fields${query}`)
      return (body.results as { key: string }[]).map(({ key }) => key)
    }
    const all = await listKeys('')
    const keys = await listKeys(`?edition_id=${tenant.edition_id}`)
    expect(keys.filter((key) => !all.includes(key))).toEqual([consent.target])
    expect(keys).not.toContain(foreign.target)
  })
})
