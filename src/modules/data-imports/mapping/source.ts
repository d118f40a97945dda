import type { FileSource } from '@ecms/table-reader'
import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { CopySegment, StoredFormat } from '../../../domain/data-imports/files/format.ts'
import type { ImportRow } from '../background/steps.ts'

type CopiedFormat = StoredFormat & { segments: readonly CopySegment[] }

export const getFormat = ({ format }: Pick<ImportRow, 'format'>): CopiedFormat => {
  if (format === null) throw new Error('The file of this import has not been read.')
  return { segments: [], ...format }
}

export const buildCanonicalPrefix = (id: string): string => `imports/${id}/`

export class LostObject extends Error {}

/** The store sends faster than rows are read, so an object is read range by range. */
const rangeBytes = 2_097_152

async function* streamObject(job: Pick<JobCtx, 'files'>, key: string, offset: number, length: number) {
  for (let at = 0; at < length; at += rangeBytes) {
    const object = await job.files.open(key, { offset: offset + at, length: Math.min(rangeBytes, length - at) })
    if (!object) throw new LostObject(`The object ${key} is missing.`)
    for await (const chunk of object.body) yield chunk
  }
}

const createStoredSource = (job: Pick<JobCtx, 'files'>, key: string, size: number): FileSource => ({
  size,
  stream: (offset, length) => streamObject(job, key, offset, Math.min(length, size - offset)),
})

/** Opens the uploaded file. Returns null when its bytes are missing. */
export async function openOriginal(job: Pick<JobCtx, 'db' | 'files'>, row: Pick<ImportRow, 'file_id'>) {
  const file = await job.db.first(
    sql<{ storage_key: string | null; size: number }>`select storage_key, size from files where id = ${row.file_id}`,
  )
  return file?.storage_key ? createStoredSource(job, file.storage_key, file.size) : null
}

async function* streamSegments(
  job: Pick<JobCtx, 'files'>,
  segments: readonly CopySegment[],
  range: { offset: number; length: number },
) {
  let start = 0
  const end = range.offset + range.length
  for (const { key, size } of segments) {
    const from = Math.max(range.offset, start)
    const until = Math.min(end, start + size)
    if (from < until) yield* streamObject(job, key, from - start, until - from)
    start += size
  }
}

export function openCanonical(job: Pick<JobCtx, 'files'>, { segments }: Pick<CopiedFormat, 'segments'>): FileSource {
  const size = segments.reduce((sum, segment) => sum + segment.size, 0)
  return {
    size,
    stream: (offset, length) => streamSegments(job, segments, { offset, length: Math.min(length, size - offset) }),
  }
}

export async function storeSegment(
  job: Pick<JobCtx, 'files' | 'newId'>,
  importId: string,
  parts: readonly Uint8Array<ArrayBuffer>[],
): Promise<CopySegment> {
  const key = `${buildCanonicalPrefix(importId)}${job.newId('file')}`
  const blob = new Blob([...parts])
  const { size } = blob
  await job.files.put(blob.stream(), { key, size, maxBytes: size, headBytes: 0 })
  return { key, size }
}
