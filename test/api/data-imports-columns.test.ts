import { describe, expect, it } from 'vitest'
import { post, get } from '../support/api.ts'
import {
  encodeCsv,
  giveDate,
  mapColumns,
  pathOf,
  process,
  loadStagedRows,
  loadImport,
  readTargets,
  readColumns,
  joinCsvLines,
} from '../support/data-imports.ts'
import { givenImport } from '../support/seeding/imports/data-imports.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'
import { seedShop } from '../support/seeding/sales/orders.ts'

const buildTable = (rows: readonly string[]) => joinCsvLines(['Order ID;E-mail;Product;Quantity;Price', ...rows])
const twoOrders = buildTable(['A-1;ana@example.dk;Day ticket;2;225,00', 'A-2;bo@example.dk;Day ticket;1;225,00'])

describe('updateColumnMappings', () => {
  it('changes all columns or none, and points at each fault', async () => {
    const tenant = await seedShop()
    const { id } = await givenImport(tenant, twoOrders)
    const before = await readTargets(id)
    const reply = await mapColumns(
      id,
      [
        { source_column: 'E-mail', target_field: null },
        { source_index: 77, target_field: 'item.product' },
        { source_index: 2, target_field: 'item.produkt' },
        { source_index: 1, is_ignored: true },
        { target_field: 'item.product' },
      ],
      [{ target_field: 'order.currency', value: 'dollars of the moon' }],
    )
    expect(reply.status).toBe(400)
    expect(reply.body.errors.map(({ code, attr }: { code: string; attr: string }) => [code, attr])).toEqual([
      ['does_not_exist', 'mappings.1.source_index'],
      ['unknown_target_field', 'mappings.2.target_field'],
      ['repeated', 'mappings.3'],
      ['required', 'mappings.4.id'],
    ])
    const constant = await mapColumns(id, [], [{ target_field: 'order.currency', value: 'dollars of the moon' }])
    expect(constant.body.errors).toMatchObject([{ attr: 'constants.0.value' }])
    expect(await readTargets(id)).toEqual(before)
  })

  it('explains that a column with buyers and ticket holders has one target', async () => {
    const { id } = await givenImport(await seedShop(), twoOrders)
    const reply = await mapColumns(id, [
      { source_column: 'E-mail', target_field: 'customer.email' },
      { source_column: 'E-mail', target_field: 'item.user.email' },
    ])
    expect(reply.status).toBe(400)
    expect(reply.body.errors).toMatchObject([{ code: 'repeated', attr: 'mappings.1' }])
    expect(reply.body.errors[0].detail).toContain(
      'map it to the buyer: another person in a later row of the order becomes the holder of that ticket',
    )
  })

  it('tells columns of the same name apart by their position', async () => {
    const tenant = await seedShop()
    const { id } = await givenImport(tenant, encodeCsv('Order ID;Name;Name\r\nA-1;Ana;Day ticket\r\n'))
    const refusal = await mapColumns(id, [{ source_column: 'Name', target_field: 'item.product' }])
    expect(refusal.body.errors).toMatchObject([{ code: 'invalid_choice', attr: 'mappings.0.source_column' }])
    const mapReply = await mapColumns(id, [{ source_index: 2, target_field: 'item.product' }])
    expect(mapReply.body.results[2]).toMatchObject({ target_field: 'item.product', is_suggested: false, confidence: 1 })
  })

  it('accepts constants, value maps that exclude rows, and two columns for one time', async () => {
    const tenant = await seedShop()
    const table = encodeCsv(
      'Order ID;E-mail;Product;Price;Day;Clock;State\r\nA-1;a@b.dk;Ticket;10;31.12.2025;20:30;ok\r\nA-2;b@b.dk;Ticket;10;01.01.2026;10:00;test\r\n',
    )
    const { id } = await givenImport(tenant, table)
    const reply = await mapColumns(
      id,
      [
        { source_column: 'Day', target_field: 'order.created', target_position: 0 },
        { source_column: 'Clock', target_field: 'order.created', target_position: 1 },
        {
          source_column: 'State',
          target_field: 'order.status',
          value_map: { OK: { to: 'completed' }, test: { ignore_row: true } },
        },
      ],
      [{ target_field: 'order.currency', value: 'EUR' }],
    )
    expect(reply.status, reply.text).toBe(200)
    expect(reply.body.constants).toEqual([{ target_field: 'order.currency', value: 'EUR', suggested_by: null }])
    expect(await process(id)).toMatchObject({ status: 'ready', total_orders: 1, valid_rows: 1, invalid_rows: 0 })
    const [first, second] = await loadStagedRows(id)
    expect(JSON.parse(first?.data ?? '').values).toMatchObject({
      'order.created': Date.UTC(2025, 11, 31, 19, 30),
      'order.currency': 'eur',
      'order.status': 'completed',
    })
    expect(second).toMatchObject({ outcome: 'ignored', group_key: null })
  })

  it('refuses two columns for a target that takes one, and names them', async () => {
    const tenant = await seedShop()
    const { id } = await givenImport(tenant, twoOrders)
    await giveDate(id)
    const { body } = await mapColumns(id, [{ source_column: 'Quantity', target_field: 'item.unit_price' }])
    expect(body.results[4].errors).toMatchObject([{ code: 'duplicate_target' }])
    const checked = await post(pathOf(id, '/column-mappings/validate'), {})
    expect(checked.body).toMatchObject({ is_valid: false, duplicate_targets: ['item.unit_price'], checked_rows: 2 })
    expect((await post(pathOf(id, '/column-mappings/process'), {})).body.errors).toMatchObject([
      { code: 'duplicate_target', attr: 'mappings.4.target_field' },
    ])
  })
})

describe('validateColumnMappings', () => {
  it('reads the first rows and changes nothing', async () => {
    const tenant = await seedShop()
    const { id } = await givenImport(
      tenant,
      buildTable(['A-1;nobody;Day ticket;2;225,00', 'A-2;b@b.dk;Day ticket;1;10,00', 'A-3;c@b.dk;Day ticket;1;10,00']),
    )
    await giveDate(id)
    const before = await loadImport(id)
    const { body } = await post(pathOf(id, '/column-mappings/validate'), {})
    expect(body).toMatchObject({
      is_valid: true,
      checked_rows: 3,
      errors: [
        {
          row: 2,
          column: 'E-mail',
          source_index: 1,
          target_field: 'customer.email',
          code: 'invalid_email',
          value: 'nobody',
        },
      ],
    })
    expect(await loadImport(id)).toEqual(before)
  })
})

describe('listColumnMappings', () => {
  it('returns each column with samples and its target, all target fields, and the first rows', async () => {
    const { id } = await givenImport(await seedShop(), twoOrders)
    const { results, target_fields, sample_rows } = await readColumns(id)
    expect(results).toHaveLength(5)
    expect(results[1]).toMatchObject({
      source_column: 'E-mail',
      source_index: 1,
      target_field: 'customer.email',
      sample_values: ['ana@example.dk', 'bo@example.dk'],
      is_suggested: true,
    })
    expect(target_fields.map(({ key }: { key: string }) => key)).toContain('item.unit_price')
    expect(sample_rows[0]).toMatchObject({ cells: ['A-1', 'ana@example.dk', 'Day ticket', '2', '225,00'] })
  })
})

describe('listImportTargetFields', () => {
  it('lists the fields of orders, and of the consents that the edition asks for', async () => {
    const [shop, other] = [await seedShop(), await seedShop()]
    const [ownConsent, foreign] = [await givenConsent(shop.organization_id), await givenConsent(other.organization_id)]
    const { body } = await get(`/v1/data-imports/target-fields?edition_id=${shop.edition_id}`)
    const keys = body.results.map(({ key }: { key: string }) => key)
    expect(keys).toEqual(expect.arrayContaining(['order.external_id', 'customer.email', `consent.${ownConsent.key}`]))
    expect(keys).not.toContain(`consent.${foreign.key}`)
  })
})
