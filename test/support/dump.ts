import { env } from 'cloudflare:workers'

/** Rows that requests leave even when they change nothing. */
export const notes: ReadonlySet<string> = new Set(['last_used_at', 'last_seen_at'])
/** Tables that no dump shows. */
export const leftTables: ReadonlySet<string> = new Set(['idempotency_keys', 'd1_migrations', 'webhook_streams'])

export interface Column {
  name: string
  type: string
  notnull: number
  dflt_value: string | null
  pk: number
}

export async function listTableNames(): Promise<string[]> {
  const { results } = await env.DB.prepare(
    `select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite\\_%' escape '\\'
      and name not like '\\_cf\\_%' escape '\\' order by name`,
  ).all<{ name: string }>()
  return results.map(({ name }) => name).filter((name) => name !== 'd1_migrations')
}

export const listColumns = async (table: string): Promise<Column[]> =>
  (
    await env.DB.prepare(`select name, type, "notnull", dflt_value, pk from pragma_table_info(?)`)
      .bind(table)
      .all<Column>()
  ).results

/** Columns that are left out, by table. */
export type LeftColumns = Readonly<Record<string, readonly string[]>>
const noColumns: LeftColumns = {}
const prepared = new Map<LeftColumns, string[]>()

/** Joins expressions as a balanced tree, because D1 allows 100 levels. */
const joinTexts = (texts: readonly string[]): string =>
  texts.length > 20
    ? `(${joinTexts(texts.slice(0, texts.length / 2))}) || ',' || (${joinTexts(texts.slice(texts.length / 2))})`
    : texts.join(" || ',' || ")

async function prepare(leftColumns: LeftColumns): Promise<string[]> {
  const preparedDump = prepared.get(leftColumns)
  if (preparedDump) return preparedDump
  const statements: string[] = []
  for (const table of await listTableNames()) {
    if (leftTables.has(table)) continue
    const columns = (await listColumns(table))
      .map(({ name }) => name)
      .filter((name) => !notes.has(name) && !leftColumns[table]?.includes(name))
    const row = joinTexts(columns.map((name) => `quote("${name}")`))
    statements.push(`select '${table}' as name, ${row} as row from "${table}" order by 2`)
  }
  prepared.set(leftColumns, statements)
  return statements
}

/** Returns every row of every table as text. Two dumps are equal when nothing was written between them. */
export async function dump(leftColumns: LeftColumns = noColumns): Promise<Record<string, string[]>> {
  const queries = (await prepare(leftColumns)).map((statement) => env.DB.prepare(statement))
  const tables = await env.DB.batch<{ name: string; row: string }>(queries)
  return Object.fromEntries(
    tables.flatMap(({ results }) => (results[0] ? [[results[0].name, results.map(({ row }) => row)]] : [])),
  )
}
