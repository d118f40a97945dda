import { expect, it } from 'vitest'
import { givenImport } from '../support/seeding/imports/data-imports.ts'
import { process, stagedRows } from '../support/data-imports.ts'
import { seedShop } from '../support/seeding/sales/orders.ts'

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
  const rows = await stagedRows(id)
  expect(rows.map(({ group_key }) => group_key)).toEqual(['L-0', 'L-1', 'L-2', 'L-3', 'L-4'])
  expect(rows.map(({ file_line }) => file_line)).toEqual([2, 3, 4, 5, 6])
})
