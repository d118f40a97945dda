import { expect, it } from 'vitest'
import { bodyFor, jobAt, storedImport } from '../support/data-imports.ts'
import { givenTable } from '../support/seeding/imports/data-imports.ts'
import { workOnImport } from '../../src/modules/data-imports/jobs.ts'
import { post } from '../support/api.ts'
import { textRow, workbook } from '../support/xlsx.ts'
import { seedShop } from '../support/seeding/sales/orders.ts'

const note = 'n'.repeat(8000)
const rows = (count: number) =>
  Array.from({ length: count }, (_, index) => textRow(index + 2, [`R-${index}`, `r${index}@example.test`, note])).join(
    '',
  )

/** Makes a job for which each read of a file takes five seconds, and everything else takes no time. */
function slowReader() {
  let now = Date.now()
  const job = jobAt(now)
  const open: typeof job.files.open = (key, range) => {
    now += 5000
    return job.files.open(key, range)
  }
  return { ...job, now: () => now, files: { ...job.files, open } }
}

it('a long workbook is copied for the time of a step, even if reaching its position takes long', async () => {
  const tenant = await seedShop()
  const bytes = workbook({ sheets: [{ name: 'x', rows: textRow(1, ['Order ID', 'E-mail', 'Note']) + rows(2200) }] })
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
  const file = await givenTable(tenant.organization_id, bytes, {
    name: 'orders.xlsx',
    type,
    query: { purpose: 'import' },
  })
  const { id } = (await post('/v1/data-imports', bodyFor(tenant, file))).body
  const job = slowReader()
  let steps = 0
  for (let row = await storedImport(id); row.phase !== null; row = await storedImport(id)) {
    await workOnImport(job, id, row.epoch)
    steps++
  }
  const { format, total_rows, status } = await storedImport(id)
  const { segments } = JSON.parse(String(format)) as { segments: unknown[] }
  expect({ status, total_rows, segments: segments.length }).toEqual({
    status: 'mapping_columns',
    total_rows: 2200,
    segments: 17,
  })
  // One step reads the header, one copies all parts, and one suggests mappings.
  expect(steps).toBeLessThanOrEqual(3)
})
