/** Runs one statement that only reads, on any database of the service. */
export type Query = <Row>(sql: string) => Promise<Row[]>

export type Value = string | number | null

export const quote = (value: Value): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)

/** The outcome of a check. */
export interface Finding {
  title: string
  /** The number of rows or files that were compared. */
  compared: number
  unit: string
  /** The first faults, a sentence for each. */
  faults: string[]
  faultCount: number
  /** The reason for which the check was not made, or made in part; null for a complete one. */
  limitation: string | null
}

export const shownFaults = 10

export const createFinding = (title: string, unit: string): Finding => ({
  title,
  compared: 0,
  unit,
  faults: [],
  faultCount: 0,
  limitation: null,
})

export function addFaults(finding: Finding, faults: readonly string[], count = faults.length): void {
  finding.faults.push(...faults.slice(0, shownFaults - finding.faults.length))
  finding.faultCount += count
}

/** A table with the columns of its key, in the order in which it is read. */
export interface PagedTable {
  table: string
  keys: readonly string[]
}

const listColumns = ({ table, keys }: PagedTable): string => keys.map((key) => `"${table}"."${key}"`).join(', ')

/**
 * Splits a table into ranges of its key with at most `size` rows, as conditions. A statement over a range is short
 * enough for a database with millions of rows.
 */
export async function* splitIntoRanges(query: Query, paged: PagedTable, size: number): AsyncGenerator<string> {
  const columns = listColumns(paged)
  let after: string | null = null
  for (;;) {
    const start: string = after === null ? '1' : `(${columns}) > (${after})`
    const [last]: Record<string, Value>[] = await query(
      `select ${columns} from "${paged.table}" where ${start} order by ${columns} limit 1 offset ${size - 1}`,
    )
    if (!last) {
      yield start
      return
    }
    const end = paged.keys.map((key) => quote(last[key] ?? null)).join(', ')
    yield `${start} and (${columns}) <= (${end})`
    after = end
  }
}
