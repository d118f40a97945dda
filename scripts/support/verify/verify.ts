import { compareRows } from './comparisons.ts'
import { consentsTitle, verifyConsents } from './consents.ts'
import { type ListKeys, compareFiles, readNotedFiles } from './files.ts'
import { type Finding, type Query, shownFaults } from './query.ts'
import { findOrphans, orphansTitle } from './references.ts'
import { searchTables } from './search-tables.ts'
import { sums } from './sums.ts'
import { compareTally, tallies } from './tallies.ts'

interface Source {
  query: Query
  /** The number of rows that one statement reads. */
  size: number
  /** The file store, or why it cannot be listed. */
  files: ListKeys | string
  checkDatabases?: () => Finding
}

const createFilesCheck = ({ query, files }: Source): Check => ({
  title: 'Files without rows, and rows without files',
  run: () => (typeof files === 'string' ? readNotedFiles(query, files) : compareFiles(query, files)),
})

interface Check {
  title: string
  run: () => Promise<Finding[]>
}

/** Lists the checks that compare a database with itself and with the file store. None of them changes anything. */
export function listChecks(source: Source): Check[] {
  const { query, size, checkDatabases } = source
  return [
    ...(checkDatabases ? [{ title: 'Pages and indexes', run: () => Promise.resolve([checkDatabases()]) }] : []),
    ...[...sums, ...searchTables].map((comparison) => ({
      title: comparison.title,
      run: async () => [await compareRows(query, comparison, size)],
    })),
    ...tallies.map((tally) => ({ title: tally.title, run: async () => [await compareTally(query, tally, size)] })),
    { title: consentsTitle, run: async () => [await verifyConsents(query, size)] },
    { title: orphansTitle, run: async () => [await findOrphans(query, size)] },
    createFilesCheck(source),
  ]
}

/** Says what all checks have found, and with which code the command ends. */
export function summarize(faultCount: number, isComplete: boolean): { line: string; exitCode: number } {
  const rest = isComplete ? '' : ' Not everything was read, as the lines above say.'
  if (faultCount > 0)
    return { line: `${faultCount} ${faultCount === 1 ? 'fault' : 'faults'}. Nothing was changed.${rest}`, exitCode: 1 }
  return isComplete ? { line: 'No faults.', exitCode: 0 } : { line: `No faults in what was read.${rest}`, exitCode: 2 }
}

/** Formats a finding: a line for the check, and one for each of the first faults. */
export function formatFinding({ title, compared, unit, faults, faultCount, limitation }: Finding): string[] {
  const number = (count: number) => count.toLocaleString('en')
  const outcome = faultCount === 0 ? '' : `, ${number(faultCount)} ${faultCount === 1 ? 'fault' : 'faults'}`
  const rest = faultCount - faults.length
  return [
    `${faultCount === 0 ? 'ok   ' : 'FAULT'} ${title}: ${number(compared)} ${unit}${outcome}`,
    ...(limitation === null ? [] : [`        ${limitation}`]),
    ...faults.slice(0, shownFaults).map((fault) => `        ${fault}`),
    ...(rest > 0 ? [`        … and ${number(rest)} more`] : []),
  ]
}
