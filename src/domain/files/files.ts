import { AppError, fieldError } from '../errors.ts'
import { dayMs } from '../time/instants.ts'
import { isImageType, isTableType } from './types.ts'

export const filePurposes = ['image', 'import', 'attachment', 'other'] as const
export type FilePurpose = (typeof filePurposes)[number]

export const fileStatuses = ['ready', 'quarantined'] as const

export const maxFileTitleLength = 200
export const maxAltTextLength = 500
export const maxTags = 50
export const maxTagLength = 100

/** The bytes of the largest file in one request. */
export const maxFileBytes = 50_000_000
/** The bytes of the largest file in parts. */
export const maxUploadBytes = 500_000_000
/** Bytes that an organisation may keep where it has no limit of its own. */
export const defaultStorageBytes = 5_000_000_000

/**
 * The bytes that are enough to detect a type. The frame of a JPEG for print comes after half a megabyte of metadata. Each upload
 * under way holds at most this much in memory for it.
 */
export const headBytes = 1_048_576

/** The store takes parts of one size, from 5 MiB; the last one may be smaller. */
export const partBytes = 8 * 1024 * 1024
export const uploadKeptMs = dayMs
/** Counted from the upload, whose time is in the id of the file. */
export const unusedImportKeptMs = 30 * dayMs
/** A file whose request is still under way has no row yet. */
export const unclaimedAfterMs = 6 * 3_600_000

export const countParts = (size: number): number => Math.ceil(size / partBytes)

/** Bytes of a part, from number 1. */
export const getPartSize = (size: number, number: number): number =>
  Math.min(partBytes, size - (number - 1) * partBytes)

export const inferPurpose = (mimeType: string): FilePurpose => {
  if (isImageType(mimeType)) return 'image'
  return isTableType(mimeType) ? 'import' : 'attachment'
}

/** Whether a file of this type may serve the purpose. */
export const fitsPurpose = (purpose: FilePurpose, mimeType: string): boolean => {
  if (purpose === 'image') return isImageType(mimeType)
  return purpose !== 'import' || isTableType(mimeType)
}

/** A file while it comes in. */
export interface IncomingFile {
  body: ReadableStream<Uint8Array>
  /** The bytes that the request announces; null when it does not. */
  size: number | null
  maxBytes: number
  name: string
  declared: string | null
  /** The client's SHA-256 of the bytes in hexadecimal; null when it sends none. */
  digest: string | null
}

/** A received file: its bytes are stored, and nothing refers to them yet. */
export interface ReceivedFile {
  storage_key: string
  size: number
  checksum_sha256: string
  /** The first bytes. */
  head: Uint8Array
  name: string
  /** The type that the client declares; null for none, or for a general one. */
  declared: string | null
  /** The store's identifier of a part of an upload. */
  store_etag?: string
}

export function fileTooLarge(maxBytes: number): AppError {
  const detail = `The file has more than ${maxBytes} bytes.`
  return new AppError('file_too_large', detail, {
    errors: [fieldError(['file'], 'file_too_large', `At most ${maxBytes} bytes.`)],
    extra: { max_bytes: maxBytes },
  })
}
