import type { JobCtx } from '../../../context.ts'
import { AppError, LostRace } from '../../../domain/errors.ts'
import { contentDisposition } from '../../../domain/files/names.ts'
import {
  findFailedCondition,
  formatHttpDate,
  isRangeWanted,
  parseRange,
  type Validators,
} from '../../../domain/files/ranges.ts'
import { isImageType } from '../../../domain/files/types.ts'
import { buildDerivedKey } from '../../../domain/files/addresses.ts'
import { type FileAddress, openServedFile, type ServedFile } from './served-file.ts'
import { openVariant } from './variants.ts'

/**
 * Browsers keep a public file for good, because its content never changes. Shared caches, ours too, ask again after a
 * minute: so long a deleted file may still be served.
 */
const lasting = 'public, max-age=31536000, s-maxage=60, immutable'
/** The original in place of a variant that cannot be made at present. */
const passing = 'public, max-age=60'
const unkept = 'private, no-store'

/** Bytes of the store, with what the headers say of them. */
interface Representation extends Validators {
  key: string
  size: number
  type: string
  name: string
  cacheControl: string
  /** The whole, where it was opened already. */
  body: ReadableStream<Uint8Array> | null
  /** The time at which the row was read; null for this request. */
  readAt: number | null
  /** The reason why the original replaces a variant. */
  fault?: unknown
}

function originalOf(file: ServedFile, cacheControl: string): Representation {
  return {
    key: file.storage_key,
    size: file.size,
    type: file.mime_type,
    name: file.name,
    etag: `"${file.checksum_sha256}"`,
    modifiedAt: file.created_at,
    cacheControl: file.is_signed ? unkept : cacheControl,
    body: null,
    readAt: file.read_at,
  }
}

const variantTag = (file: ServedFile): string => `"${file.checksum_sha256}-${file.variant}"`

async function representationOf(job: JobCtx, file: ServedFile, keepAlive: KeepAlive): Promise<Representation> {
  const { images } = job
  const { variant } = file
  if (variant === 'original') return originalOf(file, lasting)
  if (!images) return originalOf(file, passing)
  try {
    const opened = await openVariant(job, { file, variant, images, keepAlive })
    if (!opened) throw new Error('the variant was deleted')
    return {
      ...originalOf(file, lasting),
      ...opened,
      key: buildDerivedKey(file.storage_key, variant),
      type: 'image/webp',
      name: file.name.replace(/(?:\.[^.]*)?$/, `-${variant}.webp`),
      etag: variantTag(file),
    }
  } catch (fault) {
    return { ...originalOf(file, passing), fault }
  }
}

const headersOf = ({ type, name, size, etag, modifiedAt, cacheControl }: Representation): Headers =>
  new Headers({
    'content-type': type,
    'content-length': String(size),
    // Browsers never show a file that is no image as a page.
    'content-disposition': contentDisposition(isImageType(type) ? 'inline' : 'attachment', name),
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    etag,
    'last-modified': formatHttpDate(modifiedAt),
    'cache-control': cacheControl,
    'accept-ranges': 'bytes',
  })

const notModified = (headers: Headers): Response => {
  const kept = ['etag', 'last-modified', 'cache-control', 'content-security-policy', 'x-content-type-options']
  return new Response(null, {
    status: 304,
    headers: kept.map((name): [string, string] => [name, headers.get(name) ?? '']),
  })
}

function judgeConditions(request: Request, headers: Headers, current: Validators): Response | null {
  const failed = findFailedCondition(request.headers, current)
  if (failed === 412) throw new AppError('precondition_failed', 'The file is not the one that the condition names.')
  return failed === 304 ? notModified(headers) : null
}

const unsatisfiable = (size: number): AppError =>
  new AppError('range_not_satisfiable', `The file has ${size} bytes.`, {
    headers: { 'content-range': `bytes */${size}` },
  })

/** The row is there without its bytes: a sweep finds that. For the reader there is no file, and the log says why. */
const bytesMissing = (key: string): AppError =>
  new AppError('not_found', 'Not found.', { cause: new Error(`the bytes of ${key} are gone`) })

async function bytesOf(job: JobCtx, found: Representation, range?: { offset: number; length: number }) {
  if (!range && found.body) return found.body
  await found.body?.cancel()
  const opened = await job.files.open(found.key, range)
  // Others may have deleted the file since its row was read.
  if (!opened && found.readAt !== null) throw new LostRace(bytesMissing(found.key))
  if (!opened) throw bytesMissing(found.key)
  return opened.body
}

async function answer(job: JobCtx, request: Request, found: Representation): Promise<Response> {
  const headers = headersOf(found)
  // Caches on the way count their minute from when the row was read.
  if (found.readAt !== null) headers.set('age', String(Math.floor((job.now() - found.readAt) / 1000)))
  const settled = judgeConditions(request, headers, found)
  const isHead = request.method === 'HEAD'
  if (settled || isHead) await found.body?.cancel()
  if (settled) return settled
  if (isHead) return new Response(null, { headers })
  const isWanted = isRangeWanted(request.headers.get('if-range'), found)
  const range = parseRange(isWanted ? request.headers.get('range') : null, found.size)
  if (range.kind === 'whole') return new Response(await bytesOf(job, found), { headers })
  if (range.kind === 'unsatisfiable') {
    await found.body?.cancel()
    throw unsatisfiable(found.size)
  }
  const { start, end } = range
  const length = end - start + 1
  headers.set('content-range', `bytes ${start}-${end}/${found.size}`)
  headers.set('content-length', String(length))
  return new Response(await bytesOf(job, found, { offset: start, length }), { status: 206, headers })
}

type KeepAlive = (work: Promise<unknown>) => void

interface Served {
  response: Response
  fault?: unknown
}

/** The answer to a request for a file that its address opens. Throws LostRace where a row that was read before is not true any more. */
export async function serveFile(
  job: JobCtx,
  file: ServedFile,
  request: Request,
  keepAlive: KeepAlive,
): Promise<Served> {
  const found = await representationOf(job, file, keepAlive)
  return { response: await answer(job, request, found), fault: found.fault }
}

/**
 * The answer to a request for what an address names. Parts are served by a row that an earlier request read, or by a
 * fresh one where that turns out to be out of date.
 */
export async function serveAddress(
  job: JobCtx,
  address: FileAddress,
  request: Request,
  keepAlive: KeepAlive,
): Promise<Served> {
  const file = await openServedFile(job, address, { mayBeRecent: request.headers.has('range') })
  try {
    return await serveFile(job, file, request, keepAlive)
  } catch (error) {
    if (!(error instanceof LostRace)) throw error
    return serveFile(job, await openServedFile(job, address), request, keepAlive)
  }
}

/** The answer to a request from a copy in a cache; null when the copy is not enough. */
export function serveCopy(request: Request, copy: Response): Response | null {
  const etag = copy.headers.get('etag')
  const modifiedAt = Date.parse(copy.headers.get('last-modified') ?? '')
  if (etag === null || Number.isNaN(modifiedAt)) return null
  const headers = new Headers(copy.headers)
  const settled = judgeConditions(request, headers, { etag, modifiedAt })
  if (!settled && request.method !== 'HEAD') return new Response(copy.body, { headers })
  void copy.body?.cancel()
  return settled ?? new Response(null, { headers })
}
