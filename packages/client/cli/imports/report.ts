import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { readFile, rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { type DataImport, type ImportJob, importPath } from './job.ts'

export interface Report {
  path: string
  sha256: string
}

/** Before its start an import has a report already, although it does not name its address. */
const hasReport = ({ error_report_url, files_deleted_at, invalid_rows, file_format }: DataImport): boolean =>
  error_report_url !== null || (files_deleted_at === null && file_format !== null && invalid_rows > 0)

/**
 * Saves the rows with errors beside the file. Null if there are none. The report replaces the earlier one of the import,
 * unless somebody has corrected rows in it.
 */
export async function saveReport(job: ImportJob, row: DataImport, earlier: Report | null): Promise<Report | null> {
  if (!hasReport(row)) return null
  const { data } = await job.context.client.GET('/v1/data-imports/{id}/error-report', {
    ...importPath(row),
    parseAs: 'stream',
  })
  const draft = `${job.path}.errors.${process.pid}.part`
  try {
    await pipeline(data as AsyncIterable<Uint8Array>, createWriteStream(draft))
    const sha256 = (await computeHash(draft)) ?? ''
    const path = await choosePath(job.path, [sha256, earlier?.sha256])
    await rename(draft, path)
    return { path, sha256 }
  } finally {
    await rm(draft, { force: true })
  }
}

async function computeHash(path: string): Promise<string | null> {
  const bytes = await readFile(path).catch(() => null)
  return bytes && createHash('sha256').update(bytes).digest('hex')
}

/** Finds the first name that is free, or whose file may be replaced. */
async function choosePath(path: string, replaceable: readonly (string | undefined)[]): Promise<string> {
  for (let number = 1; ; number++) {
    const place = number === 1 ? `${path}.errors.csv` : `${path}.errors-${number}.csv`
    const hash = await computeHash(place)
    if (hash === null || replaceable.includes(hash)) return place
  }
}
