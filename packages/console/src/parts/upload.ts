import { ApiError, type DataOf } from '@event-commerce/client'
import { api, type Schema } from '../api'

export type FilePurpose = Schema['File']['purpose']

export interface UploadOptions {
  organization: string
  /** Null for a file of the whole organisation. */
  edition: string | null
  /** Default: what follows from the type of the file. */
  purpose?: FilePurpose
  signal: AbortSignal
  /** Tells which share has been sent, between 0 and 1. */
  onProgress?: (share: number) => void
}

type Upload = DataOf<'get', '/v1/files/uploads/{id}'>

/** Larger tables are sent in parts. An interruption loses at most the parts under way. */
const maxSimpleBytes = 8 * 1024 * 1024
const partsAtOnce = 3

const tableTypes: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  tsv: 'text/csv',
  txt: 'text/csv',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  zip: 'application/zip',
}

const readExtension = (name: string): string => name.split('.').at(-1)?.toLowerCase() ?? ''

/** The type of a table by its name: browsers name the program that opens it. Undefined for other files. */
export const readTableType = (name: string): string | undefined => tableTypes[readExtension(name)]

/** RFC 5987 allows fewer characters than an address does. */
const encodeName = (name: string): string =>
  encodeURIComponent(name).replaceAll(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

/** Uploads a file, a large table in parts. A repeated upload of the same table continues where the earlier one ended. */
export async function uploadFile(file: File, options: UploadOptions): Promise<Schema['File']> {
  const tableType = readTableType(file.name)
  if (tableType !== undefined && file.size > maxSimpleBytes) return uploadParts(file, tableType, options)
  const { organization, edition, purpose, signal } = options
  const { data } = await api.POST('/v1/files', {
    params: { query: { organization_id: organization, ...(edition && { edition_id: edition }), purpose } },
    headers: {
      'Content-Type': tableType ?? (file.type || 'application/octet-stream'),
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeName(file.name)}`,
      'Idempotency-Key': crypto.randomUUID(),
    },
    body: file,
    bodySerializer: () => file,
    signal,
  })
  return data
}

const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404

/** The key of an upload, by which the service recognises the same file of this person for a day. */
const buildKey = ({ name, size, lastModified }: File, { organization, edition }: UploadOptions): string =>
  `upload-${organization}-${edition ?? ''}-${size}-${lastModified}-${encodeName(name)}`.slice(0, 200)

async function startUpload(file: File, type: string, options: UploadOptions, key: string): Promise<Upload> {
  const { organization, edition, signal } = options
  const { data: started } = await api.POST('/v1/files/uploads', {
    headers: { 'Idempotency-Key': key },
    body: { organization_id: organization, edition_id: edition, name: file.name, size: file.size, content_type: type },
    signal,
  })
  // The answer of a repetition is the first one, which has no parts.
  const { data } = await api.GET('/v1/files/uploads/{id}', { params: { path: { id: started.id } }, signal })
  return data
}

/** Continues the upload of the same file, or starts another where the earlier one was cancelled or is completed. */
async function continueUpload(file: File, type: string, options: UploadOptions): Promise<Upload> {
  const restart = () => startUpload(file, type, options, crypto.randomUUID())
  try {
    const upload = await startUpload(file, type, options, buildKey(file, options))
    return upload.file_id === null ? upload : await restart()
  } catch (error) {
    if (isMissing(error)) return restart()
    throw error
  }
}

async function computeDigest(part: Blob): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', await part.arrayBuffer())
  return `sha-256=:${btoa(String.fromCharCode(...new Uint8Array(digest)))}:`
}

async function uploadParts(file: File, type: string, options: UploadOptions): Promise<Schema['File']> {
  const { signal, onProgress } = options
  const upload = await continueUpload(file, type, options)
  const { id, part_size, part_count } = upload
  const sentNumbers = new Set(upload.parts.map(({ number }) => number))
  const numbers = Array.from({ length: part_count }, (_, index) => index + 1)
  const openNumbers = numbers.filter((number) => !sentNumbers.has(number))
  const sendParts = async () => {
    for (let number = openNumbers.shift(); number !== undefined; number = openNumbers.shift()) {
      const part = file.slice((number - 1) * part_size, number * part_size)
      await api.PUT('/v1/files/uploads/{id}/parts/{number}', {
        params: { path: { id, number: String(number) } },
        headers: { 'Content-Type': 'application/octet-stream', 'Content-Digest': await computeDigest(part) },
        body: part,
        bodySerializer: () => part,
        signal,
      })
      sentNumbers.add(number)
      onProgress?.(sentNumbers.size / part_count)
    }
  }
  onProgress?.(sentNumbers.size / part_count)
  try {
    await Promise.all(Array.from({ length: partsAtOnce }, sendParts))
  } catch (error) {
    if (signal.aborted) await api.DELETE('/v1/files/uploads/{id}', { params: { path: { id } } }).catch(() => undefined)
    throw error
  }
  const { data } = await api.POST('/v1/files/uploads/{id}/complete', { params: { path: { id } }, signal })
  return data
}
