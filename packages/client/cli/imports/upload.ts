import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, readFile, stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { UsageError, WorkError } from '../errors.ts'

export interface LocalFile {
  path: string
  name: string
  size: number
  sha256: string
  type: string
}

interface Place {
  organization_id: string
  edition_id: string
}

const types: Readonly<Record<string, string>> = {
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.zip': 'application/zip',
}

const maxBytes = 500_000_000
/** Larger files are sent in parts, which an interruption does not lose. */
const maxSimpleBytes = 8 * 1024 * 1024
const partsAtOnce = 3
const scanPollMs = 2000
/** The time that a person waits for the scanner, which never releases an infected file. */
const scanMs = 300_000

export async function inspectFile(path: string): Promise<LocalFile> {
  const info = await stat(path).catch((error: unknown) => {
    throw new UsageError(`${path} cannot be read.`, { cause: error })
  })
  if (!info.isFile()) throw new UsageError(`${path} is not a file.`)
  if (info.size === 0) throw new UsageError(`${path} is empty.`)
  if (info.size > maxBytes) throw new UsageError(`${path} has more than 500 MB. Divide it into several files.`)
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  const type = types[extname(path).toLowerCase()] ?? 'text/csv'
  return { path, name: basename(path), size: info.size, sha256: hash.digest('hex'), type }
}

/** Makes a repetition of a call get its first result, also in another process. */
export const deriveKey = (run: string, step: string, body: object): string =>
  `${run}-${step}-${createHash('sha256').update(JSON.stringify(body)).digest('hex').slice(0, 16)}`

/** Uploads a table to import, and waits until it is scanned. The same run continues an upload that was interrupted. */
export async function uploadTable(context: Context, file: LocalFile, place: Place, run: string): Promise<string> {
  const progress = context.output.progress(`Sending ${file.name}`)
  try {
    const id =
      file.size <= maxSimpleBytes
        ? await uploadWhole(context, file, place, run)
        : await uploadParts(context, file, { ...place, run, onPart: progress.update })
    progress.update(`Waiting until ${file.name} is scanned`)
    await waitForScan(context, id)
    return id
  } finally {
    progress.stop()
  }
}

async function uploadWhole({ client }: Context, file: LocalFile, place: Place, run: string): Promise<string> {
  const bytes = Uint8Array.from(await readFile(file.path))
  const { data } = await client.POST('/v1/files', {
    params: { query: { ...place, purpose: 'import' } },
    headers: {
      'Content-Type': file.type,
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeName(file.name)}`,
      'Idempotency-Key': deriveKey(run, 'file', { ...place, name: file.name, type: file.type, sha256: file.sha256 }),
    },
    ...binary(bytes),
  })
  return data.id
}

/** RFC 5987 allows fewer characters than an address does. */
const encodeName = (name: string): string =>
  encodeURIComponent(name).replaceAll(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

/** The types of the document have texts for bytes. */
const binary = (bytes: Uint8Array): { body: never; bodySerializer: () => Uint8Array } => ({
  body: bytes as never,
  bodySerializer: () => bytes,
})

interface PartsOptions extends Place {
  run: string
  onPart: (text: string) => void
}

async function uploadParts({ client }: Context, file: LocalFile, options: PartsOptions): Promise<string> {
  const { run, onPart, organization_id, edition_id } = options
  const body = { organization_id, edition_id, name: file.name, size: file.size, content_type: file.type }
  const headers = { 'Idempotency-Key': deriveKey(run, 'upload', { ...body, sha256: file.sha256 }) }
  const { data: firstAnswer } = await client.POST('/v1/files/uploads', { body, headers })
  const params = { path: { id: firstAnswer.id } }
  // The answer of a repetition is the first one, which has no parts.
  const { data: upload } = await client.GET('/v1/files/uploads/{id}', { params })
  const partNumbers = new Set(upload.parts.map(({ number }) => number))
  const allNumbers = Array.from({ length: upload.part_count }, (_, index) => index + 1)
  const openNumbers = allNumbers.filter((number) => !partNumbers.has(number))
  const handle = await open(file.path)
  const sendParts = async () => {
    for (let number = openNumbers.shift(); number !== undefined; number = openNumbers.shift()) {
      const start = (number - 1) * upload.part_size
      const bytes = await readRange(handle, start, Math.min(upload.part_size, file.size - start))
      const digest = createHash('sha256').update(bytes).digest('base64')
      await client.PUT('/v1/files/uploads/{id}/parts/{number}', {
        params: { path: { id: upload.id, number: String(number) } },
        headers: { 'Content-Type': 'application/octet-stream', 'Content-Digest': `sha-256=:${digest}:` },
        ...binary(bytes),
      })
      partNumbers.add(number)
      onPart(`Sending ${file.name}: ${partNumbers.size} of ${upload.part_count} parts`)
    }
  }
  try {
    await Promise.all(Array.from({ length: partsAtOnce }, sendParts))
  } finally {
    await handle.close()
  }
  return (await client.POST('/v1/files/uploads/{id}/complete', { params })).data.id
}

/** A read may return fewer bytes than it is asked for. */
async function readRange(handle: FileHandle, start: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  for (let count = 0; count < length;) {
    const { bytesRead } = await handle.read(bytes, count, length - count, start + count)
    if (bytesRead === 0) throw new WorkError('file_changed', 'The file became shorter while it was sent.')
    count += bytesRead
  }
  return bytes
}

async function waitForScan({ client }: Context, id: string): Promise<void> {
  const endsAt = Date.now() + scanMs
  for (;;) {
    const { data } = await client.GET('/v1/files/{id}', { params: { path: { id } } })
    if (data.status === 'ready') return
    if (Date.now() > endsAt)
      throw new WorkError('file_quarantined', 'The file is not scanned yet. Run the same command again later.')
    await wait(scanPollMs)
  }
}
