import {
  addFaults,
  createFinding,
  type Finding,
  type PagedTable,
  type Query,
  shownFaults,
  splitIntoRanges,
} from './query.ts'

/** Compares a value that a row stores with what other rows say. Both are expressions over the table. */
export interface Comparison extends PagedTable {
  title: string
  unit: string
  /** The id that names a faulty row. */
  id: string
  stored: string
  counted: string
  where?: string
  describe?: (id: string, stored: unknown, counted: unknown) => string
}

interface ComparedRange {
  compared: number
  faults: number
  /** JSON of id, stored and counted value of the first faults. */
  examples: string
}

const describeDifference = (id: string, stored: unknown, counted: unknown): string =>
  `${id} stores ${JSON.stringify(stored)}, and its rows say ${JSON.stringify(counted)}.`

const buildStatement = ({ table, id, stored, counted, where = '1' }: Comparison, range: string): string =>
  `with compared as materialized (
    select ${id} as id, ${stored} as stored, ${counted} as counted from "${table}" where ${range} and (${where})
  ), differing as materialized (select * from compared where stored is not counted)
  select (select count(*) from compared) as compared, (select count(*) from differing) as faults,
    (select json_group_array(json_array(id, stored, counted)) from (select * from differing limit ${shownFaults})) as examples`

/** Compares all rows, range by range. Each range is read in one statement, so traffic causes no false faults. */
export async function compareRows(
  query: Query,
  comparison: Comparison,
  size: number,
  finding = createFinding(comparison.title, comparison.unit),
): Promise<Finding> {
  const describe = comparison.describe ?? describeDifference
  for await (const range of splitIntoRanges(query, comparison, size)) {
    const [result] = await query<ComparedRange>(buildStatement(comparison, range))
    if (!result) continue
    finding.compared += result.compared
    if (result.faults === 0) continue
    const examples = JSON.parse(result.examples) as [string, unknown, unknown][]
    addFaults(
      finding,
      examples.map(([id, stored, counted]) => describe(id, stored, counted)),
      result.faults,
    )
  }
  return finding
}
