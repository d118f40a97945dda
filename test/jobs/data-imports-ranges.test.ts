import { expect, it } from 'vitest'
import { bodyFor, csv, jobAt, storedImport, work } from '../support/data-imports.ts'
import { givenTable } from '../support/seeding/imports/data-imports.ts'
import { post } from '../support/api.ts'
import { seedShop } from '../support/seeding/sales/orders.ts'

const mostAtOnce = 2_097_152

it('an import reads a long file in short ranges, which the store sends completely to a slow reader', async () => {
  const note = 'n'.repeat(50_000)
  const lines = Array.from({ length: 90 }, (_, index) => `L-${index},l${index}@example.test,Day ticket,225,${note}`)
  const bytes = csv(['Order ID,E-mail,Product,Price,Note', ...lines, ''].join('\r\n'))
  const tenant = await seedShop()
  const file = await givenTable(tenant.organization_id, bytes)
  const { id } = (await post('/v1/data-imports', bodyFor(tenant, file))).body
  const job = jobAt()
  const lengths: number[] = []
  const open: typeof job.files.open = (key, range) => {
    lengths.push(range?.length ?? bytes.length)
    return job.files.open(key, range)
  }
  await work(id, { ...job, files: { ...job.files, open } })
  expect(await storedImport(id)).toMatchObject({ status: 'mapping_columns', total_rows: 90 })
  expect(Math.max(...lengths)).toBe(mostAtOnce)
})
