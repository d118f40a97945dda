import { type D1Migration, readD1Migrations } from '@cloudflare/vitest-pool-workers'
import { DatabaseSync } from 'node:sqlite'

const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Writes an insert for each row of a table, with every value as SQL. */
function writeInserts(database: DatabaseSync, table: string): string[] {
  const columns = database.prepare('select name from pragma_table_info(?)').all(table)
  const names = columns.map(({ name }) => quoteName(String(name)))
  const values = names.map((name) => `quote(${name})`).join(` || ', ' || `)
  return database
    .prepare(`select ${values} as row from ${quoteName(table)}`)
    .all()
    .map(({ row }) => `insert into ${quoteName(table)} (${names.join(', ')}) values (${String(row)})`)
}

/** The settings of a search index. */
const settingsOf = (database: DatabaseSync, table: string): string[] =>
  database
    .prepare(`select quote(k) as name, quote(v) as value from ${quoteName(`${table}_config`)} where k <> 'version'`)
    .all()
    .map(({ name, value }) => `insert into ${table} (${table}, rank) values (${String(name)}, ${String(value)})`)

/** Runs statements in one transaction, as D1 runs a batch. */
export function createDatabase(statements: readonly string[]): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  database.exec('begin')
  for (const statement of statements) database.exec(statement)
  database.exec('commit')
  return database
}

/** Lists the declarations of a database, in the order of their creation. */
export const listDeclarations = (database: DatabaseSync) =>
  database
    .prepare(
      `select type, name, tbl_name, sql from sqlite_master where sql is not null and name <> 'sqlite_sequence' order by rowid`,
    )
    .all()
    .map(({ type, name, tbl_name, sql }) => ({
      type: String(type),
      name: String(name),
      table: String(tbl_name),
      sql: String(sql),
    }))

/**
 * Builds the statements that create at once what the migrations create step by step: tables with their rows, and then
 * the rest.
 */
function buildSnapshot(migrations: readonly D1Migration[]): string[] {
  const database = createDatabase(migrations.flatMap(({ queries }) => queries))
  const declarations = listDeclarations(database)
  const shadows = new Set(
    database
      .prepare(`select name from pragma_table_list where type = 'shadow'`)
      .all()
      .map(({ name }) => String(name)),
  )
  // A search index makes its own tables.
  const tables = declarations.filter(({ type, name }) => type === 'table' && !shadows.has(name))
  // Rows come before triggers, which ran when the rows were written.
  return [
    ...tables.map(({ sql }) => sql),
    ...tables.flatMap(({ name }) =>
      shadows.has(`${name}_config`) ? settingsOf(database, name) : writeInserts(database, name),
    ),
    ...['index', 'view', 'trigger'].flatMap((wanted) =>
      declarations.filter(({ type }) => type === wanted).map(({ sql }) => sql),
    ),
  ]
}

interface TestSchema {
  migrations: D1Migration[]
  snapshot: string[]
}

let schemaPromise: Promise<TestSchema> | undefined

/** The migrations and their snapshot, which all isolates of a run share. */
export const loadTestSchema = (): Promise<TestSchema> =>
  (schemaPromise ??= readD1Migrations('./migrations').then((migrations) => ({
    migrations,
    snapshot: buildSnapshot(migrations),
  })))
