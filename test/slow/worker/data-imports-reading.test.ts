import { zipSync } from 'fflate'
import { expect, it } from 'vitest'
import { buildTextRow, buildWorkbook } from '../../../packages/table-reader/test/support/xlsx.ts'
import { workOnImport } from '../../../src/modules/data-imports/jobs.ts'
import { post } from '../../support/api.ts'
import {
  buildBody,
  encodeCsv,
  createJobAt,
  process,
  loadStagedRows,
  loadImport,
  work,
} from '../../support/data-imports.ts'
import { givenImport, givenTable } from '../../support/seeding/imports/data-imports.ts'
import { seedShop } from '../../support/seeding/sales/orders.ts'

it('an import reads a very long row like others, and its neighbours too', async () => {
  const lines = ['Order ID;E-mail;Product;Price;Note']
  for (const [index, length] of [10, 200_000, 90_000, 200_000, 10].entries())
    lines.push(`L-${index};l${index}@example.test;Day ticket;225;${'æ'.repeat(length)}`)
  // The letter takes one byte in the file and two in its copy.
  const bytes = Uint8Array.from(`${lines.join('\r\n')}\r\n`, (letter) => letter.charCodeAt(0))
  const tenant = await seedShop()
  const { id, status } = await givenImport(tenant, bytes, { options: { encoding: 'iso-8859-1' } })
  expect(status).toBe('mapping_columns')
  expect(await process(id)).toMatchObject({ total_rows: 5, valid_rows: 5, total_orders: 5 })
  const rows = await loadStagedRows(id)
  expect(rows.map(({ group_key }) => group_key)).toEqual(['L-0', 'L-1', 'L-2', 'L-3', 'L-4'])
  expect(rows.map(({ file_line }) => file_line)).toEqual([2, 3, 4, 5, 6])
})

const mostAtOnce = 2_097_152

it('an import reads a long file in short ranges, which the store sends completely to a slow reader', async () => {
  const note = 'n'.repeat(50_000)
  const lines = Array.from({ length: 90 }, (_, index) => `L-${index},l${index}@example.test,Day ticket,225,${note}`)
  const bytes = encodeCsv(['Order ID,E-mail,Product,Price,Note', ...lines, ''].join('\r\n'))
  const tenant = await seedShop()
  const file = await givenTable(tenant.organization_id, bytes)
  const { id } = (await post('/v1/data-imports', buildBody(tenant, file))).body
  const job = createJobAt()
  const lengths: number[] = []
  const open: typeof job.files.open = (key, range) => {
    lengths.push(range?.length ?? bytes.length)
    return job.files.open(key, range)
  }
  await work(id, { ...job, files: { ...job.files, open } })
  expect(await loadImport(id)).toMatchObject({ status: 'mapping_columns', total_rows: 90 })
  expect(Math.max(...lengths)).toBe(mostAtOnce)
})

const longNote = 'n'.repeat(8000)
const buildRows = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    buildTextRow(index + 2, [`R-${index}`, `r${index}@example.test`, longNote]),
  ).join('')

/** Makes a job for which each read of a file takes this time, and everything else takes no time. */
function slowReader(readMs: number) {
  let now = Date.now()
  const job = createJobAt(now)
  const open: typeof job.files.open = (key, range) => {
    now += readMs
    return job.files.open(key, range)
  }
  return { ...job, now: () => now, files: { ...job.files, open } }
}

it('a long workbook is copied for the time of a step, even if reaching its position takes long', async () => {
  const tenant = await seedShop()
  const bytes = buildWorkbook({
    sheets: [{ name: 'x', rows: buildTextRow(1, ['Order ID', 'E-mail', 'Note']) + buildRows(2200) }],
  })
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
  const file = await givenTable(tenant.organization_id, bytes, {
    name: 'orders.xlsx',
    type,
    query: { purpose: 'import' },
  })
  const { id } = (await post('/v1/data-imports', buildBody(tenant, file))).body
  const job = slowReader(5000)
  let steps = 0
  for (let row = await loadImport(id); row.phase !== null; row = await loadImport(id)) {
    await workOnImport(job, id, row.epoch)
    steps++
  }
  const { format, total_rows, status } = await loadImport(id)
  const { segments } = JSON.parse(String(format)) as { segments: unknown[] }
  expect({ status, total_rows, segments: segments.length }).toEqual({
    status: 'mapping_columns',
    total_rows: 2200,
    segments: 17,
  })
  // One step reads the header, one copies all parts, and one suggests mappings.
  expect(steps).toBeLessThanOrEqual(3)
})

it('an archive that is copied in many steps has each row of its files once', async () => {
  const tenant = await seedShop()
  const buildFile = (name: string) =>
    encodeCsv(
      [
        `Order ID,E-mail,Product,Price,${name}`,
        ...Array.from({ length: 400 }, (_, index) => `${name}-${index},x@example.test,Day ticket,225,${longNote}`),
      ].join('\r\n'),
    )
  const names = ['one', 'two', 'three']
  const files = Object.fromEntries(names.map((name) => [`${name}.csv`, buildFile(name)]))
  const upload = { name: 'orders.zip', type: 'application/zip', query: { purpose: 'import' } }
  const file = await givenTable(tenant.organization_id, zipSync(files, { level: 0 }), upload)
  const { id } = (await post('/v1/data-imports', buildBody(tenant, file))).body
  const job = slowReader(60_000)
  let steps = 0
  for (let row = await loadImport(id); row.phase !== null; row = await loadImport(id)) {
    await workOnImport(job, id, row.epoch)
    steps++
  }
  expect(steps).toBeGreaterThan(4)
  expect(await process(id)).toMatchObject({ total_rows: 1200, valid_rows: 1200, total_orders: 1200 })
  const rows = await loadStagedRows(id)
  expect(rows.map(({ group_key }) => group_key)).toEqual(
    names.flatMap((name) => Array.from({ length: 400 }, (_, index) => `${name}-${index}`)),
  )
  expect(rows.map(({ file_line }) => file_line)).toEqual(
    names.flatMap((_, at) => Array.from({ length: 400 }, (__, index) => at * 401 + index + 2)),
  )
})
