import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import type { PreviewAction } from './preview.ts'

type PreviewTotals = Record<PreviewAction, number>

/** Orders of one part. */
export const ordersAPart = 1000
/** Counting without progress for this time begins again, and so do totals of this age. */
const lostMs = 60_000
const stalePreviewMs = 600_000

/** A part has one letter a row: that of the order which begins there. */
const letters: Record<PreviewAction, string> = { create: 'c', update: 'u', skip: 's', error: 'e', ignore: 'i' }
const noOrder = '.'

/** Letters of the rows behind `after`, by the numbers of their orders. */
export function lettersOf(after: number, orders: readonly { number: number; action: PreviewAction }[]): string {
  const rows = Array.from<string>({ length: (orders.at(-1)?.number ?? after) - after }).fill(noOrder)
  for (const { number, action } of orders) rows[number - after - 1] = letters[action]
  return rows.join('')
}

const countOf = (action: PreviewAction) => sql`length(actions) - length(replace(actions, ${letters[action]}, ''))`

interface CountedRow extends PreviewTotals {
  /** The last progress of counting. */
  seen: number | null
  parts: number
  last_number: number
}

export interface CountedPreview {
  totals: PreviewTotals
  seen: number | null
  parts: number
  last_number: number
  is_whole: boolean
  /** Whether counting has to begin or to continue. */
  is_due: boolean
}

interface CountedImport {
  id: string
  version: number
  total_orders: number
}

/** The counted part of the orders of this version of an import. Part 0 has the time of the last progress. */
export async function findCounted(db: Database, row: CountedImport, now: number): Promise<CountedPreview> {
  const [found] = await db.all(
    sql<CountedRow>`select max(iif(part = 0, created_at, null)) as seen, max(part) as parts,
        coalesce(max(last_number), 0) as last_number, coalesce(sum(${countOf('create')}), 0) as "create",
        coalesce(sum(${countOf('update')}), 0) as "update", coalesce(sum(${countOf('skip')}), 0) as skip,
        coalesce(sum(${countOf('error')}), 0) as error, coalesce(sum(${countOf('ignore')}), 0) as "ignore"
      from import_previews where import_id = ${row.id} and version = ${row.version}`,
  )
  const { seen = null, parts = 0, last_number = 0, ...rest } = found ?? {}
  const totals = { create: 0, update: 0, skip: 0, error: 0, ignore: 0, ...rest }
  const isCounted = Object.values(totals).reduce((sum, count) => sum + count, 0) === row.total_orders
  const age = seen === null ? Number.POSITIVE_INFINITY : now - seen
  const isWhole = isCounted && age < stalePreviewMs
  return {
    totals,
    seen,
    parts,
    last_number,
    is_whole: isWhole,
    is_due: isCounted ? !isWhole : age >= lostMs,
  }
}

interface PartRow {
  before: number
  first_row: number
  actions: string
}

/** Numbers of the orders with an action, from the `from`th to before the `to`th of them. */
export async function findNumbers(
  db: Database,
  row: Pick<CountedImport, 'id' | 'version'>,
  action: PreviewAction,
  { from, to }: { from: number; to: number },
): Promise<number[]> {
  const parts = await db.all(
    sql<PartRow>`select before, first_row, actions from (select actions, ${countOf(action)} as n,
          sum(${countOf(action)}) over (order by part) - (${countOf(action)}) as before,
          last_number - length(actions) as first_row
        from import_previews where import_id = ${row.id} and version = ${row.version} and part > 0)
      where n > 0 and before < ${to} and before + n > ${from} order by before`,
  )
  return parts.flatMap(({ before, first_row, actions }) => {
    const numbers = [...actions].flatMap((letter, index) => (letter === letters[action] ? [first_row + index + 1] : []))
    return numbers.filter((_, index) => before + index >= from && before + index < to)
  })
}
