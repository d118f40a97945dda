import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { buildTextRow, buildWorkbook } from '../../../packages/table-reader/test/support/xlsx.ts'
import { deleteCopy } from '../../../src/modules/data-imports/retention/files.ts'
import { get, patch } from '../../support/api.ts'
import { encodeCsv, createJobAt, pathOf, loadImport, work } from '../../support/data-imports.ts'
import { loadUsedBytes } from '../../support/files.ts'
import { givenImport } from '../../support/seeding/imports/data-imports.ts'
import { seedShop } from '../../support/seeding/sales/orders.ts'

const text = encodeCsv('Order ID;E-mail;Product\r\nA-1;ana@example.dk;Ticket\r\nA-2;bo@example.dk;Ticket\r\n')

async function getCopySize(id: string): Promise<number> {
  const { segments } = JSON.parse(String((await loadImport(id)).format)) as { segments: { size: number }[] }
  return segments.reduce((sum, { size }) => sum + size, 0)
}

const limitStorage = (organization: string, bytes: number) =>
  env.DB.prepare('update organization_storage set limit_bytes = ? where organization_id = ?')
    .bind(bytes, organization)
    .run()

describe('the stored copy of an import file', () => {
  it('counts once in the storage of the organisation, however often it is read, until it is deleted', async () => {
    const shop = await seedShop()
    const { id } = await givenImport(shop, text)
    const copied = await getCopySize(id)
    expect(copied).toBeGreaterThan(text.length)
    expect(await loadUsedBytes(shop.organization_id)).toBe(text.length + copied)
    await patch(pathOf(id), { options: { encoding: 'windows-1252' } })
    expect(await work(id)).toMatchObject({ status: 'mapping_columns' })
    expect(await loadUsedBytes(shop.organization_id)).toBe(text.length + copied)
    const job = createJobAt(Date.now())
    await job.db.batch(await deleteCopy(job, id))
    await job.db.batch(await deleteCopy(job, id))
    expect(await loadUsedBytes(shop.organization_id)).toBe(text.length)
  })

  it('is not stored when it does not fit, and the import says so and can be read again', async () => {
    const shop = await seedShop()
    const { id } = await givenImport(shop, text)
    await limitStorage(shop.organization_id, text.length + 10)
    await patch(pathOf(id), { options: { encoding: 'windows-1252' } })
    await work(id)
    expect((await get(pathOf(id))).body).toMatchObject({ status: 'failed', error_code: 'storage_full' })
    expect(await loadUsedBytes(shop.organization_id)).toBe(text.length)
    await limitStorage(shop.organization_id, 1_000_000)
    await patch(pathOf(id), { options: { encoding: 'utf-8' } })
    expect(await work(id)).toMatchObject({ status: 'mapping_columns' })
  })

  it('is refused for a tiny workbook whose cells all name one long text', async () => {
    const shop = await seedShop()
    const rows = Array.from(
      { length: 1200 },
      (_, index) => `<row r="${index + 2}">${'<c t="s"><v>0</v></c>'.repeat(2)}</row>`,
    )
    const bytes = buildWorkbook({
      sharedStrings: `<si><t>${'x'.repeat(60_000)}</t></si>`,
      sheets: [{ name: 'x', rows: buildTextRow(1, ['Order ID', 'E-mail']) + rows.join('') }],
    })
    const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
    const upload = { name: 'orders.xlsx', type, query: { purpose: 'import' } }
    const imported = await givenImport(shop, bytes, {}, upload)
    expect(imported).toMatchObject({ status: 'failed', error_code: 'too_much_text' })
    expect(await loadUsedBytes(shop.organization_id)).toBe(bytes.length)
  })
})
