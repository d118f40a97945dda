import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JobCtx } from '../../../src/context.ts'
import { heartbeatLostMs, maxStalls } from '../../../src/domain/data-imports/data-imports.ts'
import { sweepImports, workOnImport, workOnImports } from '../../../src/modules/data-imports/jobs.ts'
import { get, patch, post } from '../../support/api.ts'
import {
  buildBody,
  encodeCsv,
  createJobAt,
  mapColumns,
  pathOf,
  process,
  loadStagedRows,
  loadImport,
  work,
} from '../../support/data-imports.ts'
import { queryRows } from '../../support/files.ts'
import { givenTable, givenImport } from '../../support/seeding/imports/data-imports.ts'
import { type Shop, seedShop } from '../../support/seeding/sales/orders.ts'

const table = encodeCsv(
  [
    'Order ID;E-mail;Product;Quantity;Price;Order date',
    'A-1;ana@example.dk;Day ticket;2;225,00;2026-01-05',
    'A-2;bo@example.dk;Camping;1;150,00;2026-01-05',
    'A-1;;Camping;1;99,00;',
    'A-3;nobody;Day ticket;1;10,00;2026-01-05',
  ]
    .map((line) => `${line}\r\n`)
    .join(''),
)

/** Crashes at every fifth call, before and after it in turn, because all crashes would take minutes. */
const crashStep = 5

class Crash extends Error {}

/** Runs background work whose database and store fail from this call on, half of the time after the call is done. */
function crashing(number: number): { job: JobCtx; hasCrashed: () => boolean } {
  const job = createJobAt()
  let calls = 0
  let isDown = false
  const crash = (): never => {
    isDown = true
    throw new Crash()
  }
  const watched =
    <Given extends unknown[], Result>(call: (...given: Given) => Promise<Result>) =>
    async (...args: Given): Promise<Result> => {
      calls++
      if (isDown || (calls * 2 === number + 1 && number % 2 === 1)) crash()
      const result = await call(...args)
      if (calls * 2 === number) crash()
      return result
    }
  const all = job.db.all.bind(job.db)
  job.db.batch = watched(job.db.batch.bind(job.db))
  job.db.all = watched(all)
  job.files = {
    ...job.files,
    put: watched(job.files.put),
    open: watched(job.files.open),
    list: watched(job.files.list),
  }
  return { job, hasCrashed: () => isDown }
}

async function begun(tenant: Shop, file: string): Promise<string> {
  const { body } = await post('/v1/data-imports', buildBody(tenant, file))
  return body.id as string
}

const createLaterJob = () => createJobAt(Date.now() + heartbeatLostMs + 1000)

/** Returns what an import made, without ids and times. */
async function madeBy(id: string) {
  const { status, total_rows, valid_rows, invalid_rows, total_orders, column_summary, product_summary } =
    await loadImport(id)
  return {
    status,
    total_rows,
    valid_rows,
    invalid_rows,
    total_orders,
    column_summary,
    product_summary,
    columns: await queryRows(
      'select source_index, source_column, target_field, sample_values, statistics from import_columns where import_id = ? order by source_index',
      id,
    ),
    rows: (await loadStagedRows(id)).map(({ row_number, file_line, group_key, data, errors, outcome }) => ({
      row_number,
      file_line,
      group_key,
      data,
      errors,
      outcome,
    })),
    orders: await queryRows(
      'select number, group_key, rows_count from import_orders where import_id = ? order by number',
      id,
    ),
    products: await queryRows(
      'select position, product, rows_count, action from import_products where import_id = ? order by position',
      id,
    ),
  }
}

const beginStage = (id: string) => post(pathOf(id, '/column-mappings/process'), {})

describe('the background work of an import', () => {
  it('has the same result after a crash at any point, once the sweep has enqueued it again', async () => {
    const tenant = await seedShop()
    const file = await givenTable(tenant.organization_id, table)
    const model = await begun(tenant, file)
    await work(model)
    await beginStage(model)
    await work(model)
    const expected = await madeBy(model)
    expect(expected).toMatchObject({ status: 'ready', total_rows: 4, total_orders: 3 })
    for (const phase of ['parse', 'stage'] as const)
      for (let number = 1, isOver = false; !isOver; number += crashStep) {
        const id = await begun(tenant, file)
        if (phase === 'stage') {
          await work(id)
          await beginStage(id)
        }
        const { job, hasCrashed } = crashing(number)
        const { epoch } = await loadImport(id)
        await workOnImport(job, id, epoch).catch((error: unknown) => {
          if (!(error instanceof Crash)) throw error
        })
        isOver = !hasCrashed()
        await sweepImports(createLaterJob())
        await work(id)
        if (phase === 'parse') {
          await beginStage(id)
          await work(id)
        }
        expect([phase, number, await madeBy(id)]).toEqual([phase, number, expected])
      }
  }, 240_000)

  it('takes effect once when messages are repeated, late, or taken by several consumers', async () => {
    const tenant = await seedShop()
    const file = await givenTable(tenant.organization_id, table)
    const id = await begun(tenant, file)
    const message = { type: 'import.work' as const, import_id: id, epoch: 1 }
    await Promise.all([1, 2, 3].map(() => workOnImports(createJobAt(), [message, message])))
    await work(id)
    await beginStage(id)
    const { epoch } = await loadImport(id)
    const stage = { ...message, epoch }
    await Promise.all([1, 2, 3].map(() => workOnImports(createJobAt(), [stage, message, stage])))
    await work(id)
    await workOnImports(createJobAt(), [stage, message])
    expect(await madeBy(id)).toMatchObject({
      status: 'ready',
      total_rows: 4,
      valid_rows: 3,
      invalid_rows: 1,
      total_orders: 3,
    })
    expect(await loadStagedRows(id)).toHaveLength(4)
  })

  it('stops at once when the import is cancelled', async () => {
    const tenant = await seedShop()
    const file = await givenTable(tenant.organization_id, table)
    const id = await begun(tenant, file)
    const before = await loadImport(id)
    expect((await post(pathOf(id, '/cancel'), {})).body).toMatchObject({ status: 'cancelled', allowed_actions: [] })
    await workOnImport(createJobAt(), id, before.epoch)
    await sweepImports(createLaterJob())
    expect(await loadImport(id)).toMatchObject({ status: 'cancelled', phase: null, format: null })
    expect((await post(pathOf(id, '/cancel'), {})).body.code).toBe('invalid_transition')
  })

  it('ends as failed after repeated crashes, and can be started again', async () => {
    const tenant = await seedShop()
    const file = await givenTable(tenant.organization_id, table)
    const id = await begun(tenant, file)
    for (let sweep = 0; sweep <= maxStalls; sweep++)
      await sweepImports(createJobAt(Date.now() + (sweep + 1) * (heartbeatLostMs + 1000)))
    expect((await get(pathOf(id))).body).toMatchObject({ status: 'failed', error_code: 'import_stalled' })
    expect((await patch(pathOf(id), { name: 'Again' })).body.status).toBe('parsing')
    expect(await work(id)).toMatchObject({ status: 'mapping_columns', error_code: null, total_rows: 4 })
  })
})

const word = fc.stringMatching(/^[A-Za-zæøåÆØÅ][A-Za-z æøå"']{0,12}[A-Za-z]$/)
const record = fc.record({ order: fc.integer({ min: 1, max: 8 }), product: word, note: fc.string({ maxLength: 12 }) })
const quoteCell = (cell: string) => `"${cell.replaceAll('"', '""')}"`

describe('the stored rows of an import', () => {
  it('are exactly those of the file, for any delimiter and line breaks', async () => {
    const tenant = await seedShop()
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { minLength: 1, maxLength: 30 }),
        fc.constantFrom(',', ';', '\t'),
        fc.constantFrom('\r\n', '\n'),
        async (records, delimiter, lineBreak) => {
          const lines = records.map(({ order, product, note }) =>
            [
              `A-${order}`,
              `p${order}@example.dk`,
              quoteCell(product),
              '10',
              quoteCell(note.replaceAll(/[\r\n]/g, ' ')),
            ].join(delimiter),
          )
          const header = ['Order ID', 'E-mail', 'Product', 'Price', 'Remark'].join(delimiter)
          const bytes = encodeCsv([header, ...lines, ''].join(lineBreak))
          const { id, total_rows } = await givenImport(tenant, bytes)
          expect(total_rows).toBe(records.length)
          await mapColumns(id, [
            { source_index: 0, target_field: 'order.external_id' },
            { source_index: 1, target_field: 'customer.email' },
            { source_index: 2, target_field: 'item.product', value_map: null },
            { source_index: 3, target_field: 'item.unit_price' },
            { source_index: 4, target_field: null },
          ])
          const actionReply = await process(id)
          expect(actionReply).toMatchObject({ valid_rows: records.length, invalid_rows: 0 })
          expect(actionReply.total_orders).toBe(new Set(records.map(({ order }) => order)).size)
          const rows = await loadStagedRows(id)
          expect(rows.map(({ file_line, data }) => [file_line, JSON.parse(data).values['item.product']])).toEqual(
            records.map(({ product }, index) => [index + 2, product.replaceAll(/\s+/g, ' ')]),
          )
          await post(pathOf(id, '/cancel'), {})
        },
      ),
      { numRuns: 6 },
    )
  })
})
