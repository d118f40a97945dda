import { sql } from 'drizzle-orm'
import type { Config, JobCtx } from '../../../context.ts'
import { addAfterCommit } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import type { Statement } from '../../../db/database.ts'
import { fileScans } from '../../../db/schema/files.ts'
import { insert } from '../../../db/write.ts'
import { fieldError, invalid, notFound } from '../../../domain/errors.ts'
import { signFileAddress } from '../../../domain/files/addresses.ts'
import {
  minRetryMs,
  maxRetryMs,
  type ScanResult,
  parseScanResult,
  openScanToken,
  scanStates,
  signScanToken,
  verdicts,
} from '../../../domain/files/scans.ts'
import { forgetServedFile } from '../serving/served-file.ts'

/** The status of a new file. If there is a scanner, the file is in quarantine until the scanner has found it clean. */
export const getFirstStatus = ({ files }: Config): 'ready' | 'quarantined' => (files.scan ? 'quarantined' : 'ready')

/** Requests a scan in the transaction that creates the file. The scan starts after the commit. */
export function scheduleScan(job: JobCtx, fileId: string): Statement[] {
  if (!job.config.files.scan) return []
  const at = job.now()
  const times = { due_at: at, created_at: at, modified_at: at }
  const scan = insert(fileScans, { file_id: fileId, state: scanStates.initial, ...times })
  return [addAfterCommit(scan, () => requestScan(job, fileId))]
}

interface ClaimedFile {
  id: string
  access_key: string
  mime_type: string
  size: number
  checksum_sha256: string
}

/** Claims scans that are due, and sets when they are due again. */
async function claimScans(job: JobCtx, files: { id: string } | { limit: number }): Promise<ClaimedFile[]> {
  const at = job.now()
  const condition =
    'id' in files
      ? sql`file_id = ${files.id} and due_at <= ${at}`
      : sql`file_id in (select file_id from file_scans indexed by file_scans_due
          where due_at <= ${at} order by due_at limit ${files.limit})`
  const rows = await job.db.all(sql<{ file_id: string }>`update file_scans set attempts = attempts + 1,
      due_at = ${at} + min(${maxRetryMs}, ${minRetryMs} * (1 << min(attempts, 10))), modified_at = ${at}
    where ${condition} returning file_id`)
  if (rows.length === 0) return []
  const ids = rows.map(({ file_id }) => file_id)
  return job.db.all(sql<ClaimedFile>`select id, access_key, mime_type, size, checksum_sha256 from files
    where ${inList(sql`id`, ids)}`)
}

/** Stores a verdict. An infected file stays infected, and nobody can read it. */
async function recordVerdict(job: JobCtx, fileId: string, { verdict, reason }: ScanResult): Promise<void> {
  const at = job.now()
  const status = verdict === 'clean' ? 'ready' : 'quarantined'
  await job.db.batch([
    sql`update file_scans set state = ${verdict}, reason = ${reason}, due_at = null, modified_at = ${at}
      where file_id = ${fileId} and ${inList(sql`state`, scanStates.sourcesOf(verdict))}`,
    // This runs only if the statement before has stored the verdict.
    sql`update files set status = ${status}, version = version + 1, modified_at = ${at}
      where id = ${fileId} and changes() = 1`,
  ])
  forgetServedFile(fileId)
}

/** Sends one claimed file to the scanner. A later verdict arrives at `receiveVerdict`. */
async function scanFile(job: JobCtx, file: ClaimedFile): Promise<void> {
  const { config, now, scanner } = job
  if (!scanner) return
  const { id: file_id, mime_type, size, checksum_sha256 } = file
  const token = signScanToken(config.linkSigningKey, file_id, now())
  const address = { file, reader: 'scanner', now: now() } as const
  const result = await scanner.scan({
    file_id,
    mime_type,
    size,
    checksum_sha256,
    url: signFileAddress(config.files.url, config.linkSigningKey, address),
    callback_url: `${config.publicUrl}/file-scans/${token}`,
  })
  if (result) await recordVerdict(job, file_id, result)
}

/** Scans a new file. A sweep repeats it if it fails. */
export async function requestScan(job: JobCtx, fileId: string): Promise<void> {
  if (!job.scanner) return
  const [file] = await claimScans(job, { id: fileId })
  if (file) await scanFile(job, file)
}

function parseVerdict(body: unknown): ScanResult {
  const result = parseScanResult(body)
  if (result) return result
  throw invalid(fieldError(['verdict'], 'invalid_choice', `Must be one of ${verdicts.join(', ')}.`))
}

/** Receives the verdict of a scanner at its callback URL. `read` is called only after the token was checked. */
export async function receiveVerdict(job: JobCtx, token: string, readBody: () => Promise<unknown>): Promise<void> {
  const fileId = openScanToken(job.config.linkReadingKeys, token, job.now())
  if (fileId === null) throw notFound()
  const result = parseVerdict(await readBody())
  const scan = await job.db.first(sql`select 1 from file_scans where file_id = ${fileId}`)
  if (!scan) throw notFound()
  await recordVerdict(job, fileId, result)
}

const scansPerSweep = 20
/** The platform opens six connections for an invocation; one is left for the database. */
const concurrentScans = 5

/** Scans files again whose verdict has not come. */
export async function sweepScans(job: JobCtx): Promise<void> {
  if (!job.scanner) return
  const files = await claimScans(job, { limit: scansPerSweep })
  const results: PromiseSettledResult<void>[] = []
  for (let start = 0; start < files.length; start += concurrentScans)
    results.push(
      ...(await Promise.allSettled(files.slice(start, start + concurrentScans).map((file) => scanFile(job, file)))),
    )
  const failure = results.find(({ status }) => status === 'rejected')
  if (failure?.status === 'rejected') throw failure.reason
}
