import { type PagedTable, type Query, quote, splitIntoRanges, type Value } from '../verify/query.ts'
import { listTables } from '../verify/references.ts'

/** D1 takes statements of up to 100 kB. */
const maxStatementBytes = 90_000
/** A longer text is written in parts, because it does not fit into a statement. */
const maxTextBytes = 40_000
const partLength = 10_000

interface SchemaObject {
  type: string
  name: string
  sql: string
}

/** The table that holds the parts of a long text while the file is loaded. */
const partsTable = 'export_parts'

type Row = Record<string, Value>

export interface Export {
  /** Writes statements to the file, each ending with a semicolon. */
  write: (statement: string) => void
  query: Query
  /** The number of rows that one statement reads. */
  size: number
}

const byteLength = (text: string): number => new TextEncoder().encode(text).length

/** Writes rows in as few statements as fit. */
class RowWriter {
  readonly #write: (statement: string) => void
  readonly #start: string
  #rows: string[] = []
  #bytes = 0

  constructor(write: (statement: string) => void, table: string, columns: readonly string[]) {
    this.#write = write
    this.#start = `insert into "${table}" (${columns.map((name) => `"${name}"`).join(', ')}) values\n`
  }

  add(values: readonly Value[]): void {
    const isLong = (value: Value) => typeof value === 'string' && byteLength(value) > maxTextBytes
    if (values.some(isLong)) return this.#addLong(values, isLong)
    const row = `(${values.map(quote).join(', ')})`
    const bytes = byteLength(row)
    if (bytes > maxStatementBytes - this.#start.length)
      return this.#addLong(values, (value) => typeof value === 'string')
    if (this.#bytes + bytes > maxStatementBytes - this.#start.length) this.end()
    this.#rows.push(row)
    this.#bytes += bytes + 2
  }

  #addLong(values: readonly Value[], isLong: (value: Value) => boolean): void {
    this.end()
    const expressions = values.map((value, place) => {
      if (!isLong(value)) return quote(value)
      const characters = Array.from(String(value))
      for (let start = 0; start < characters.length; start += partLength) {
        const part = quote(characters.slice(start, start + partLength).join(''))
        this.#write(`insert into ${partsTable} values (${place}, ${start}, ${part});`)
      }
      return `(select coalesce(group_concat(part, '' order by start), '') from ${partsTable} where place = ${place})`
    })
    this.#write(`${this.#start}(${expressions.join(', ')});`)
    this.#write(`delete from ${partsTable};`)
  }

  end(): void {
    if (this.#rows.length > 0) this.#write(`${this.#start}${this.#rows.join(',\n')};`)
    this.#rows = []
    this.#bytes = 0
  }
}

/** Writes all rows of a table, range by range. `afterRange` writes what follows from the rows of a range. */
async function writeRows(
  { query, write, size }: Export,
  paged: PagedTable,
  columns: readonly string[],
  afterRange?: (range: string) => void,
): Promise<number> {
  const list = columns.map((name) => `"${paged.table}"."${name}"`).join(', ')
  const writer = new RowWriter(write, paged.table, columns)
  let count = 0
  for await (const range of splitIntoRanges(query, paged, size)) {
    const rows = await query<Row>(`select ${list} from "${paged.table}" where ${range}`)
    for (const row of rows) writer.add(columns.map((name) => row[name] ?? null))
    writer.end()
    count += rows.length
    afterRange?.(range)
  }
  return count
}

/** Copies what the triggers of a table insert into its search index, for the rows of a range. */
function buildSearchInsert(table: string, triggers: readonly SchemaObject[]): ((range: string) => string) | undefined {
  const trigger = triggers.find(({ name }) => name === `${table}_search_insert`)
  if (!trigger) return undefined
  const [, target = '', values = ''] =
    /insert into (\w+_search \([^)]*\)) values \(([\s\S]*)\);/.exec(trigger.sql) ?? []
  const expressions = values.replaceAll('new.', `"${table}".`)
  return (range) => `insert into ${target} select ${expressions} from "${table}" where ${range};`
}

async function listSchema(query: Query): Promise<SchemaObject[]> {
  const objects = await query<SchemaObject>(
    'select type, name, sql from sqlite_master where sql is not null order by rowid',
  )
  return objects.filter(({ name }) => !/^(?:sqlite|_cf)_/.test(name))
}

/**
 * Writes a database as statements that create it in an empty one. Search indexes are filled from their tables, and
 * triggers are created last, so that the rows are loaded as they are. Returns the number of rows.
 */
export async function exportDatabase(target: Export): Promise<number> {
  const { query, write } = target
  const schema = await listSchema(query)
  const ofType = (type: string) => schema.filter((object) => object.type === type)
  const tables = await listTables(query)
  const names = new Set(tables.map(({ table }) => table))
  const isVirtual = ({ sql }: SchemaObject) => /^create virtual table/i.test(sql)
  const hasMigrations = ofType('table').some(({ name }) => name === 'd1_migrations')
  write('pragma defer_foreign_keys = on;')
  write(`create table ${partsTable} (place integer, start integer, part text, primary key (place, start));`)
  for (const object of ofType('table'))
    if (names.has(object.name) || isVirtual(object) || object.name === 'd1_migrations') write(`${object.sql};`)
  let count = 0
  for (const { table, keys, columns } of tables) {
    const insertSearch = buildSearchInsert(table, ofType('trigger'))
    count += await writeRows(target, { table, keys }, columns, insertSearch && ((range) => write(insertSearch(range))))
  }
  if (hasMigrations) await writeRows(target, { table: 'd1_migrations', keys: ['id'] }, ['id', 'name', 'applied_at'])
  for (const { name, seq } of await query<{ name: string; seq: number }>('select name, seq from sqlite_sequence'))
    if (names.has(name)) {
      write(`delete from sqlite_sequence where name = ${quote(name)};`)
      write(`insert into sqlite_sequence (name, seq) values (${quote(name)}, ${seq});`)
    }
  for (const type of ['index', 'view', 'trigger']) for (const { sql } of ofType(type)) write(`${sql};`)
  write(`drop table ${partsTable};`)
  return count
}
