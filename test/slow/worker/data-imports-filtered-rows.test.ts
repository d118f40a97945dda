import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { get } from '../../support/api.ts'
import { aRow, seedStaged } from '../../support/seeding/imports/staged-imports.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { seedShop, type Shop } from '../../support/seeding/sales/orders.ts'

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
})

describe('listImportRows with a filter', () => {
  const count = 1000
  const problem = '[{"code":"required","message":"It is missing."}]'
  const chooseOutcome = (number: number) =>
    number % 400 === 3 ? 'created' : number % 2 ? 'updated' : number % 5 ? 'skipped' : 'ignored'

  /** Seeds rows of which few were created and few have no errors. */
  async function seedEnded(): Promise<string> {
    const id = await seedStaged(
      shop,
      Array.from({ length: count }, () => aRow()),
    )
    const decided = Array.from({ length: count }, (_, index) => [
      index + 1,
      chooseOutcome(index + 1),
      (index + 1) % 50 < 2 ? '[]' : problem,
      id,
    ])
    await write(
      sql`update import_rows set outcome = its.value ->> 1, errors = its.value ->> 2
        from json_each(${JSON.stringify(decided)}) as its where import_id = its.value ->> 3 and row_number = its.value ->> 0`,
      sql`update data_imports set row_counts = (select json_group_object(outcome, n) from (
        select outcome, count(*) as n from import_rows where import_id = ${id} group by 1)) where id = ${id}`,
    )
    return id
  }

  const loadStoredRows = (id: string) =>
    db.all<{ row_number: number; outcome: string; has_errors: number }>(
      sql`select row_number, outcome, errors <> '[]' as has_errors from import_rows where import_id = ${id} order by 1`,
    )

  interface RowFilter {
    outcome?: string | undefined
    has_errors?: boolean | undefined
    ordering: string
  }

  const filters = [undefined, 'created', 'updated', 'ignored'].flatMap((outcome) =>
    [undefined, true, false].flatMap((has_errors) =>
      outcome === undefined && has_errors === undefined
        ? []
        : ['row_number', '-row_number'].map((ordering): RowFilter => ({ outcome, has_errors, ordering })),
    ),
  )

  async function expectList(
    id: string,
    all: Awaited<ReturnType<typeof loadStoredRows>>,
    { outcome, has_errors, ordering }: RowFilter,
  ) {
    const matchingRows = all.filter(
      (row) =>
        (outcome === undefined || row.outcome === outcome) &&
        (has_errors === undefined || (row.has_errors === 1) === has_errors),
    )
    const numbers = matchingRows.map(({ row_number }) => row_number)
    const inOrder = ordering === 'row_number' ? numbers : numbers.toReversed()
    const list = `/v1/data-imports/${id}/rows?page_size=20&ordering=${ordering}${outcome ? `&outcome=${outcome}` : ''}${has_errors === undefined ? '' : `&has_errors=${has_errors}`}`
    const last = Math.max(1, Math.ceil(inOrder.length / 20))
    const pageAt = async (path: string, at: number) => {
      const { body } = await get(path)
      const rowNumbers = (body.results as { row_number: number }[]).map(({ row_number }) => row_number)
      expect([path, body.count, rowNumbers]).toEqual([path, inOrder.length, inOrder.slice(20 * (at - 1), 20 * at)])
      return body.next as string | null
    }
    for (const at of new Set([1, Math.ceil(last / 2), last])) {
      const path = `${list}&page=${at}`
      const next = await pageAt(path, at)
      if (next) await pageAt(next.slice(next.indexOf('/v1/')), at + 1)
    }
  }

  it('returns pages with all matching rows, also after rows have changed', async () => {
    const id = await seedEnded()
    const before = await loadStoredRows(id)
    for (const filter of filters) await expectList(id, before, filter)
    // An erasure changes rows like this.
    await write(
      sql`update import_rows set errors = ${problem} where import_id = ${id} and row_number between 600 and 602`,
    )
    const between = await loadStoredRows(id)
    for (const filter of filters.filter(({ has_errors }) => has_errors !== undefined))
      await expectList(id, between, filter)
    // Another import changes rows like this.
    await write(
      sql`update import_rows set outcome = 'updated' where import_id = ${id} and row_number between 400 and 410`,
      sql`update data_imports set version = version + 1, row_counts = (select json_group_object(outcome, n) from (
        select outcome, count(*) as n from import_rows where import_id = ${id} group by 1)) where id = ${id}`,
    )
    const after = await loadStoredRows(id)
    for (const filter of filters) await expectList(id, after, filter)
  })
})
