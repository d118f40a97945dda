import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { FileFormat, Segment } from '../../../domain/data-imports/files/format.ts'
import type { FileSource } from '../../../domain/data-imports/files/source.ts'
import type { ImportRow } from '../background/steps.ts'

/** How the file of an import is read, with the parts of its canonical copy. */
type CopiedFormat = FileFormat & { segments: readonly Segment[] }

export const formatOf = ({ format }: Pick<ImportRow, 'format'>): CopiedFormat => {
  if (format === null) throw new Error('The file of this import was not read.')
  return { segments: [], ...format }
}

export const canonicalPrefix = (id: string): string => `imports/${id}/`

class LostObject extends Error {}

/** The store sends a range faster than rows are read, so an object is read range by range. */
const rangeBytes = 2_097_152

async function* streamOf(job: Pick<JobCtx, 'files'>, key: string, offset: number, length: number) {
  for (let at = 0; at < length; at += rangeBytes) {
    const object = await job.files.open(key, { offset: offset + at, length: Math.min(rangeBytes, length - at) })
    if (!object) throw new LostObject(`${key} is not there.`)
    for await (const chunk of object.body) yield chunk
  }
}

/** An object of the file store. */
const storedSource = (job: Pick<JobCtx, 'files'>, key: string, size: number): FileSource => ({
  size,
  stream: (offset, length) => streamOf(job, key, offset, Math.min(length, size - offset)),
})

/** The uploaded file of an import; null where its bytes are lost. */
export async function originalOf(job: Pick<JobCtx, 'db' | 'files'>, row: Pick<ImportRow, 'file_id'>) {
  const file = await job.db.first(
    sql<{ storage_key: string | null; size: number }>`select storage_key, size from files where id = ${row.file_id}`,
  )
  return file?.storage_key ? storedSource(job, file.storage_key, file.size) : null
}

async function* acrossSegments(
  job: Pick<JobCtx, 'files'>,
  segments: readonly Segment[],
  range: { offset: number; length: number },
) {
  let start = 0
  const end = range.offset + range.length
  for (const { key, size } of segments) {
    const from = Math.max(range.offset, start)
    const until = Math.min(end, start + size)
    if (from < until) yield* streamOf(job, key, from - start, until - from)
    start += size
  }
}

/** The canonical copy of an import's file, all parts as one. */
export function canonicalOf(job: Pick<JobCtx, 'files'>, { segments }: Pick<CopiedFormat, 'segments'>): FileSource {
  const size = segments.reduce((sum, segment) => sum + segment.size, 0)
  return {
    size,
    stream: (offset, length) => acrossSegments(job, segments, { offset, length: Math.min(length, size - offset) }),
  }
}

/** Stores a part of the canonical copy under a key of its own. */
export async function storeSegment(
  job: Pick<JobCtx, 'files' | 'newId'>,
  importId: string,
  parts: readonly Uint8Array<ArrayBuffer>[],
): Promise<Segment> {
  const key = `${canonicalPrefix(importId)}${job.newId('file')}`
  const blob = new Blob([...parts])
  const { size } = blob
  await job.files.put(blob.stream(), { key, size, maxBytes: size, headBytes: 0 })
  return { key, size }
}
