import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import { maxProducts } from '../../../domain/data-imports/data-imports.ts'
import type { RowsPosition } from '../../../domain/data-imports/import-position.ts'
import { commitStep, endPhase, type ImportRow, buildPositionError, type PhaseStep } from '../background/steps.ts'
import { buildProductMemory } from '../columns/history.ts'
import { emptyStaging } from '../mapping/state.ts'
import { productsStep } from '../products/suggest-products.ts'
import { rowsStep } from './stage-rows.ts'

const rowsPerClearing = 10_000

const firstRowsPosition: RowsPosition = { stage: 'grouped-rows', offset: 0, row: 0, progress: 0 }

interface Leftovers {
  rows: number
  orders: number
}

const buildClearing = (table: 'import_rows' | 'import_orders', key: string, id: string): Statement =>
  sql`delete from ${sql.raw(table)} where import_id = ${id} and (${sql.raw(key)}) in
    (select ${sql.raw(key)} from ${sql.raw(table)} where import_id = ${id} order by ${sql.raw(key)} limit ${rowsPerClearing})`

async function clearStep(job: JobCtx, row: ImportRow, count: number): Promise<ImportRow | null> {
  const leftovers = await job.db.first(sql<Leftovers>`select
    exists (select 1 from import_rows where import_id = ${row.id}) as rows,
    exists (select 1 from import_orders where import_id = ${row.id}) as orders`)
  if (leftovers?.rows || leftovers?.orders)
    return commitStep(job, row, {
      position: { stage: 'clear', count: count + 1, progress: 0 },
      statements: [
        buildClearing('import_rows', 'row_number', row.id),
        buildClearing('import_orders', 'number', row.id),
      ],
    })
  return commitStep(job, row, {
    position: firstRowsPosition,
    changes: emptyStaging,
    statements: [buildProductMemory(row, job.now()), sql`delete from import_products where import_id = ${row.id}`],
  })
}

const tooManyProducts = {
  ...emptyStaging,
  error_code: 'too_many_products',
  error_message:
    `The orders of the file have more than ${maxProducts} different products. Check which column is mapped to ` +
    'item.product.',
}

export const stageStep: PhaseStep = async (job, row) => {
  const { position } = row
  switch (position.stage) {
    case undefined:
      return clearStep(job, row, 0)
    case 'clear':
      return clearStep(job, row, position.count)
    case 'grouped-rows': {
      const products = await job.db.first(
        sql<{ count: number }>`select count(*) as count from import_products where import_id = ${row.id}`,
      )
      if ((products?.count ?? 0) > maxProducts)
        return endPhase(job, row, { status: 'mapping_columns', changes: tooManyProducts })
      return rowsStep(job, row, position)
    }
    case 'products':
      return productsStep(job, row)
    default:
      throw buildPositionError(row)
  }
}
