import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { db, write } from './seeding/rows.ts'

interface CountedRequest {
  span: number
  edition: string
  status: string
  reason: string
  source: string
}

const list = 'organization_refund_requests'

const namesOf = ({ edition, status, reason, source }: CountedRequest): string[] => [
  `${status} ${reason} ${source}`,
  ',,,',
  `${edition},,,`,
  `${edition},${status},,`,
  `${edition},,${reason},`,
  `${edition},,,${source}`,
  `${edition},${status},${reason},${source}`,
]

/** The spans of an organisation have what its requests are counted by, of all editions and of each. */
export async function expectSpansOfRequests(organization: string): Promise<void> {
  const spans = await db.all(sql<{ span: number; name: string; n: number }>`select span, key as name, value as n
    from list_spans cross join json_each(counts) where list = ${list} and scope = ${organization} and value <> 0`)
  const rows = await db.all(sql<CountedRequest>`select created_at >> 28 as span, substr(edition_id, -8) as edition,
    status, reason, source from refund_requests where organization_id = ${organization}`)
  const expected = new Map<string, number>()
  for (const row of rows)
    for (const name of namesOf(row)) {
      const key = `${row.span} ${name}`
      expected.set(key, (expected.get(key) ?? 0) + 1)
    }
  expect(Object.fromEntries(spans.map(({ span, name, n }) => [`${span} ${name}`, n]))).toEqual(
    Object.fromEntries(expected),
  )
}

const asBefore = sql`(select json_group_object(key, value) from json_each(counts) where instr(key, ',') = 0)`

/** Writes counts of an organisation as the version before counts and divides them: it knows those of no edition. */
export async function writeCountsAsBefore(organization: string, isNew: boolean): Promise<void> {
  const isThis = sql`list = ${list} and scope = ${organization}`
  if (!isNew)
    return write(
      sql`update list_spans set counts = ${asBefore} where ${isThis}`,
      sql`update list_span_parts set counts = ${asBefore} where ${isThis} and bits < 28`,
    )
  await write(
    sql`create table stored_parts as select * from list_span_parts where ${isThis} and bits < 28`,
    sql`delete from list_span_parts where ${isThis} and bits < 28`,
    sql`insert into list_span_parts (list, scope, bits, span, counts, total)
      select list, scope, bits, span, ${asBefore}, total from stored_parts`,
    sql`drop table stored_parts`,
  )
}
