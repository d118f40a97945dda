import { type SQL, sql } from 'drizzle-orm'
import { gramsOf, markOf } from '../../domain/text/trigrams.ts'
import type { Database } from '../database.ts'
import { written } from '../edition-counts.ts'
import { markOfRow } from './match-texts.ts'

/** A search index, and the rows whose texts it has. */
export interface IndexedTexts {
  index: 'customer_search'
  table: 'users'
  /** The column with the texts of a row. */
  text: 'search_text'
  /** What marks a row in the index. */
  marks: readonly ('edition' | 'organization')[]
  /** Raises the number of changes of lists with rows whose numbers a query answers: what they keep was found without these. */
  change: (seqs: SQL) => SQL
  /** Texts of a row that are made from other rows: whether they are others than stored, and what stores them and answers ids. */
  derived?: { isStale: SQL; renew: (seqs: SQL) => SQL<{ id: string }> }
}

/** More rows share more sequences of letters. */
const rowsAPart = 1000
/** So many sequences are looked for at once, which takes SQLite about 100 ms: other statements come in between. */
const entriesAtOnce = 1000

interface TextsOfRow {
  seq: number
  text: string
  organization: string
  edition: string | null
  is_stale: number
}

/** Rows that were looked for in the index. */
export interface CheckedTexts {
  last: number
  rows: number
  /** Rows that have to be looked at again in the transaction that repairs them: something may have changed them since. */
  suspects: number[]
}

const rowsBehind = (texts: IndexedTexts, after: number): SQL<TextsOfRow> => {
  const { table, text, derived } = texts
  const edition = texts.marks.includes('edition') ? sql`edition_id` : sql`null`
  return sql`select seq, ${sql.raw(text)} as text, organization_id as organization, ${edition} as edition,
      ${derived?.isStale ?? sql`0`} as is_stale
    from ${sql.raw(table)} where seq > ${after} order by seq limit ${rowsAPart}`
}

/** Everything that the index has to lead to the row by. */
const entriesOf = ({ text, organization, edition }: TextsOfRow): string[] => [
  ...gramsOf(text),
  markOf('organization', organization),
  ...(edition === null ? [] : [markOf('edition', edition)]),
]

/**
 * The rows between two that the index has for each entry, behind commas. FTS5 takes integers alone as limits: D1 binds numbers as
 * others.
 */
const foundBy = ({ index }: IndexedTexts, entries: readonly string[], [first, last]: readonly [number, number]) =>
  sql<{ entry: string; seqs: string | null }>`select asked.value as entry,
      (select group_concat(rowid) from ${sql.raw(index)} where ${sql.raw(index)} match '"' || replace(asked.value, '"', '""') || '"'
        and rowid between ${written(first)} and ${written(last)}) as seqs
    from json_each(${JSON.stringify(entries)}) as asked`

/** Looks for the next rows in the index; undefined behind the last row. */
export async function checkedPart(db: Database, texts: IndexedTexts, after: number): Promise<CheckedTexts | undefined> {
  const rows = await db.all(rowsBehind(texts, after))
  const [first, last] = [rows[0], rows.at(-1)]
  if (!first || !last) return undefined
  const expected = new Map<string, number[]>()
  for (const row of rows)
    for (const entry of entriesOf(row)) {
      const seqs = expected.get(entry)
      if (seqs) seqs.push(row.seq)
      else expected.set(entry, [row.seq])
    }
  const suspects = new Set(rows.filter((row) => row.is_stale === 1).map(({ seq }) => seq))
  const entries = [...expected.keys()]
  const known = new Map<string, Set<number>>()
  for (let at = 0; at < entries.length; at += entriesAtOnce) {
    const [found] = await db.batch([foundBy(texts, entries.slice(at, at + entriesAtOnce), [first.seq, last.seq])])
    for (const { entry, seqs } of found) known.set(entry, new Set((seqs ?? '').split(',').map(Number)))
  }
  for (const [entry, seqs] of expected) for (const seq of seqs) if (!known.get(entry)?.has(seq)) suspects.add(seq)
  return { last: last.seq, rows: rows.length, suspects: [...suspects] }
}

/** Puts those of some rows into the index that it does not find by each of their entries. Answers their ids. */
export function putIn(texts: IndexedTexts, seqs: SQL): SQL<{ id: string }> {
  const { marks, table, text } = texts
  const index = sql.raw(texts.index)
  const columns = sql.raw(marks.join(', '))
  const made = sql.join(
    marks.map((kind) => sql`${markOfRow(kind)} as ${sql.raw(kind)}`),
    sql`, `,
  )
  const ofMarks = sql.join(
    marks.map((kind) => sql`union select seq, ${sql.raw(kind)} from part`),
    sql` `,
  )
  return sql`insert into ${index} (rowid, ${columns}, text, id)
    with recursive part as materialized (select seq, id, ${sql.raw(text)} as text, ${made} from ${sql.raw(table)} where seq in (${seqs})),
      grams (seq, text, place) as (
        select seq, text, 1 from part where length(text) > 2
        union all select seq, text, place + 1 from grams where place < length(text) - 2),
      expected as materialized (select seq, substr(text, place, 3) as entry from grams ${ofMarks}),
      found as (select entry, listed.rowid as seq from (select distinct entry from expected) cross join ${index} as listed
        where listed.${index} match '"' || replace(entry, '"', '""') || '"'
          and listed.rowid between (select min(seq) from part) and (select max(seq) from part))
    select seq, ${columns}, text, id from part
      where seq in (select seq from (select entry, seq from expected except select entry, seq from found))
    returning id`
}
