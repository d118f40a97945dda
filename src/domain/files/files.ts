import { AppError, fieldError } from '../errors.ts'
import { dayMs, hourMs } from '../time/instants.ts'
import { isImageType, isTableType, zipType } from './types.ts'

export const filePurposes = ['image', 'import', 'attachment', 'other'] as const
export type FilePurpose = (typeof filePurposes)[number]

export const fileStatuses = ['ready', 'quarantined'] as const

export const maxFileTitleLength = 200
export const maxAltTextLength = 500
export const maxTags = 50
export const maxTagLength = 100

/** The maximum size of a file in one request. */
export const maxFileBytes = 50_000_000
/** The maximum size of a file that is uploaded in parts. */
export const maxUploadBytes = 500_000_000
/** The storage limit of organisations without a limit of their own. */
export const defaultStorageBytes = 5_000_000_000

/** This many bytes are enough to detect a type: a JPEG for print can begin with half a megabyte of metadata. */
export const headBytes = 1_048_576

/** R2 requires parts of equal size and at least 5 MiB, except the last one. */
export const partBytes = 8 * 1024 * 1024
export const uploadLifetimeMs = dayMs
/** Import files that nothing uses are deleted this long after their upload. */
export const unusedImportLifetimeMs = 30 * dayMs
/** Stored bytes without a row are deleted after this time. A running request has no row yet. */
export const orphanedAfterMs = 6 * hourMs

export const countParts = (size: number): number => Math.ceil(size / partBytes)

/** The size of a part. Numbers begin with 1. */
export const getPartSize = (size: number, number: number): number =>
  Math.min(partBytes, size - (number - 1) * partBytes)

export const inferPurpose = (mimeType: string): FilePurpose => {
  if (isImageType(mimeType)) return 'image'
  return isTableType(mimeType) ? 'import' : 'attachment'
}

/** True if a file of this type can have the purpose. */
export const fitsPurpose = (purpose: FilePurpose, mimeType: string): boolean => {
  if (purpose === 'image') return isImageType(mimeType)
  if (purpose === 'import') return isTableType(mimeType)
  return mimeType !== zipType
}

/** A file while it is received. */
export interface IncomingFile {
  body: ReadableStream<Uint8Array>
  /** The announced size, or null if it is unknown. */
  size: number | null
  maxBytes: number
  name: string
  declaredType: string | null
  /** The client's SHA-256 of the bytes in hexadecimal, or null. */
  digest: string | null
}

/** A received file. Its bytes are stored, but no row refers to them yet. */
export interface ReceivedFile {
  storage_key: string
  size: number
  checksum_sha256: string
  /** The first bytes. */
  head: Uint8Array
  name: string
  /** The type that the client declares, or null for none or a general one. */
  declaredType: string | null
  /** True if an image ends before its last part. */
  is_cut_off?: boolean
  /** R2's identifier of a part of an upload. */
  store_etag?: string
}

export function fileTooLarge(maxBytes: number): AppError {
  const detail = `The file has more than ${maxBytes} bytes.`
  return new AppError('file_too_large', detail, {
    errors: [fieldError(['file'], 'file_too_large', `Must be at most ${maxBytes} bytes.`)],
    extra: { max_bytes: maxBytes },
  })
}
