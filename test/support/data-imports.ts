import { expect } from 'vitest'
import type { JobCtx } from '../../src/context.ts'
import { utf8 } from '../../src/domain/text/encoding.ts'
import { workOnImport } from '../../src/modules/data-imports/jobs.ts'
import { get, patch, post, type Reply } from './api.ts'
import { createContextAt } from './context.ts'
import { queryRows } from './files.ts'
import type { Shop } from './seeding/sales/orders.ts'

export const encodeCsv = (text: string): Uint8Array<ArrayBuffer> => utf8(text)

/** Joins the lines of a CSV file. */
export const joinCsvLines = (lines: readonly string[]): Uint8Array<ArrayBuffer> =>
  encodeCsv(lines.map((line) => `${line}\r\n`).join(''))

export const buildBody = (shop: Shop, file_id?: string, more: object = {}) => ({
  ...shop,
  ...(file_id ? { file_id } : {}),
  ...more,
})

export const pathOf = (id: string, more = ''): string => `/v1/data-imports/${id}${more}`

interface StoredImport {
  epoch: number
  phase: string | null
  status: string
}

export const loadImport = async (id: string): Promise<StoredImport & Record<string, unknown>> => {
  const [row] = await queryRows<StoredImport & Record<string, unknown>>('select * from data_imports where id = ?', id)
  if (!row) throw new Error('no such import')
  return row
}

/** The context of background work; the test runs what it would enqueue. */
export const createJobAt = (now = Date.now()): JobCtx => createContextAt(now)

/** Runs steps until the phase of an import has ended. */
export async function work(id: string, job: JobCtx = createJobAt()): Promise<StoredImport & Record<string, unknown>> {
  for (let messages = 0; messages < 1000; messages++) {
    const row = await loadImport(id)
    if (row.phase === null) return row
    await workOnImport(job, id, row.epoch)
  }
  throw new Error('The work does not end.')
}

export const readColumns = async (id: string): Promise<Reply['body']> =>
  (await get(pathOf(id, '/column-mappings'))).body

/** Maps the header of each column to its target. */
export async function readTargets(id: string): Promise<Record<string, string>> {
  const { results } = await readColumns(id)
  return Object.fromEntries(
    (results as { source_column: string; target_field: string | null }[]).flatMap(({ source_column, target_field }) =>
      target_field === null ? [] : [[source_column, target_field]],
    ),
  )
}

export const mapColumns = (id: string, mappings: object[], constants: object[] = []): Promise<Reply> =>
  patch(pathOf(id, '/column-mappings'), { mappings, constants })

/** Gives the orders of a file without dates one, as its user has to. */
export async function giveDate(id: string): Promise<void> {
  const { body } = await get(pathOf(id))
  if (!body.column_summary.missing_required.includes('order.created')) return
  const reply = await mapColumns(id, [], [{ target_field: 'order.created', value: '2026-01-05' }])
  expect(reply.status, reply.text).toBe(200)
}

/** Processes the columns and stages the rows. */
export async function process(id: string): Promise<Reply['body']> {
  await giveDate(id)
  const reply = await post(pathOf(id, '/column-mappings/process'), {})
  expect(reply.status, reply.text).toBe(200)
  await work(id)
  return (await get(pathOf(id))).body
}

export interface StagedRow {
  row_number: number
  file_line: number
  group_key: string | null
  data: string
  errors: string
  warnings: string
  outcome: string | null
}

export const loadStagedRows = (id: string): Promise<StagedRow[]> =>
  queryRows(
    `select import_rows.*, coalesce(import_rows.outcome, its.outcome) as outcome
      from import_rows left join import_orders its
        on its.import_id = import_rows.import_id and its.group_key = import_rows.group_key
      where import_rows.import_id = ? order by row_number`,
    id,
  )
