import type { JobCtx } from '../../../context.ts'
import { AppError, LostRace } from '../../../domain/errors.ts'
import { buildDerivedKey } from '../../../domain/files/addresses.ts'
import { formatContentDisposition } from '../../../domain/files/names.ts'
import {
  findFailedCondition,
  formatHttpDate,
  isRangeWanted,
  parseRange,
  type Validators,
} from '../../../domain/files/ranges.ts'
import { isImageType } from '../../../domain/files/types.ts'
import { type FileAddress, openServedFile, type ServedFile } from './served-file.ts'
import { openVariant } from './variants.ts'

/**
 * Browsers keep a public file forever, because its content never changes. Shared caches check it again after a minute, so
 * a deleted file can be served for that long.
 */
const permanentCaching = 'public, max-age=31536000, s-maxage=60, immutable'
/** The original is cached so when a variant cannot be made at the moment. */
const temporaryCaching = 'public, max-age=60'
const noCaching = 'private, no-store'

/** The bytes to serve, and what the headers say about them. */
interface Representation extends Validators {
  key: string
  size: number
  type: string
  name: string
  cacheControl: string
  /** All bytes, if they are open already. */
  body: ReadableStream<Uint8Array> | null
  /** When the row was read, if that was for an earlier request. */
  readAt: number | null
  /** Why the original replaces a variant. */
  fault?: unknown
}

function describeOriginal(file: ServedFile, cacheControl: string): Representation {
  return {
    key: file.storage_key,
    size: file.size,
    type: file.mime_type,
    name: file.name,
    etag: `"${file.checksum_sha256}"`,
    modifiedAt: file.created_at,
    cacheControl: file.is_signed ? noCaching : cacheControl,
    body: null,
    readAt: file.read_at,
  }
}

const buildVariantTag = (file: ServedFile): string => `"${file.checksum_sha256}-${file.variant}"`

async function findRepresentation(job: JobCtx, file: ServedFile, keepAlive: KeepAlive): Promise<Representation> {
  const { images } = job
  const { variant } = file
  if (variant === 'original') return describeOriginal(file, permanentCaching)
  if (!images) return describeOriginal(file, temporaryCaching)
  try {
    const object = await openVariant(job, { file, variant, images, keepAlive })
    if (!object) throw new Error('the variant was deleted')
    return {
      ...describeOriginal(file, permanentCaching),
      ...object,
      key: buildDerivedKey(file.storage_key, variant),
      type: 'image/webp',
      name: file.name.replace(/(?:\.[^.]*)?$/, `-${variant}.webp`),
      etag: buildVariantTag(file),
    }
  } catch (fault) {
    return { ...describeOriginal(file, temporaryCaching), fault }
  }
}

const buildHeaders = ({ type, name, size, etag, modifiedAt, cacheControl }: Representation): Headers =>
  new Headers({
    'content-type': type,
    'content-length': String(size),
    // Browsers must never show a file as a page, unless it is an image.
    'content-disposition': formatContentDisposition(isImageType(type) ? 'inline' : 'attachment', name),
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    etag,
    'last-modified': formatHttpDate(modifiedAt),
    'cache-control': cacheControl,
    'accept-ranges': 'bytes',
  })

const notModified = (headers: Headers): Response => {
  const headerNames = ['etag', 'last-modified', 'cache-control', 'content-security-policy', 'x-content-type-options']
  return new Response(null, {
    status: 304,
    headers: headerNames.map((name): [string, string] => [name, headers.get(name) ?? '']),
  })
}

function checkConditions(request: Request, headers: Headers, validators: Validators): Response | null {
  const failedStatus = findFailedCondition(request.headers, validators)
  if (failedStatus === 412) throw new AppError('precondition_failed', 'The file does not match the condition.')
  return failedStatus === 304 ? notModified(headers) : null
}

const unsatisfiable = (size: number): AppError =>
  new AppError('range_not_satisfiable', `The file has ${size} bytes.`, {
    headers: { 'content-range': `bytes */${size}` },
  })

/** The store has lost the bytes. The client gets 404, and the log says why. */
const createLostBytesError = (key: string): AppError =>
  new AppError('not_found', 'Not found.', { cause: new Error(`the bytes of ${key} are gone`) })

async function openBytes(job: JobCtx, representation: Representation, range?: { offset: number; length: number }) {
  if (!range && representation.body) return representation.body
  await representation.body?.cancel()
  const object = await job.files.open(representation.key, range)
  // Another request may have deleted the file since its row was read.
  if (!object && representation.readAt !== null) throw new LostRace(createLostBytesError(representation.key))
  if (!object) throw createLostBytesError(representation.key)
  return object.body
}

async function respond(job: JobCtx, request: Request, representation: Representation): Promise<Response> {
  const headers = buildHeaders(representation)
  // Caches count their minute from the time at which the row was read.
  if (representation.readAt !== null) headers.set('age', String(Math.floor((job.now() - representation.readAt) / 1000)))
  const conditionResponse = checkConditions(request, headers, representation)
  const isHead = request.method === 'HEAD'
  if (conditionResponse || isHead) await representation.body?.cancel()
  if (conditionResponse) return conditionResponse
  if (isHead) return new Response(null, { headers })
  const isWanted = isRangeWanted(request.headers.get('if-range'), representation)
  const range = parseRange(isWanted ? request.headers.get('range') : null, representation.size)
  if (range.kind === 'whole') return new Response(await openBytes(job, representation), { headers })
  if (range.kind === 'unsatisfiable') {
    await representation.body?.cancel()
    throw unsatisfiable(representation.size)
  }
  const { start, end } = range
  const length = end - start + 1
  headers.set('content-range', `bytes ${start}-${end}/${representation.size}`)
  headers.set('content-length', String(length))
  return new Response(await openBytes(job, representation, { offset: start, length }), { status: 206, headers })
}

type KeepAlive = (work: Promise<unknown>) => void

interface Served {
  response: Response
  fault?: unknown
}

/** Serves a file. Throws LostRace if its row was read for an earlier request and is outdated. */
export async function serveFile(
  job: JobCtx,
  file: ServedFile,
  request: Request,
  keepAlive: KeepAlive,
): Promise<Served> {
  const representation = await findRepresentation(job, file, keepAlive)
  return { response: await respond(job, request, representation), fault: representation.fault }
}

/** Serves the file at a URL. Parts can use a row that an earlier request has read, or a fresh one if that is outdated. */
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

/** Serves a request from a cached copy. Null: the copy does not have the required headers. */
export function serveCopy(request: Request, copy: Response): Response | null {
  const etag = copy.headers.get('etag')
  const modifiedAt = Date.parse(copy.headers.get('last-modified') ?? '')
  if (etag === null || Number.isNaN(modifiedAt)) return null
  const headers = new Headers(copy.headers)
  const conditionResponse = checkConditions(request, headers, { etag, modifiedAt })
  if (!conditionResponse && request.method !== 'HEAD') return new Response(copy.body, { headers })
  void copy.body?.cancel()
  return conditionResponse ?? new Response(null, { headers })
}
