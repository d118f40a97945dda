/** Facts about a body that storing it has found. */
export interface StoredBody {
  size: number
  /** In hexadecimal. */
  checksum_sha256: string
  /** The first bytes, up to the requested number. */
  head: Uint8Array
}

export interface PutOptions {
  key: string
  /** The announced size, or null if it is unknown. */
  size: number | null
  maxBytes: number
  /** The number of bytes to return, from the first one. */
  headBytes: number
  /** Receives all bytes in their order. */
  inspect?: (chunk: Uint8Array) => void
}

interface StoredPart {
  number: number
  etag: string
}

export interface OpenObject {
  /** The size of the whole object. */
  size: number
  /** The requested bytes. */
  body: ReadableStream<Uint8Array>
}

interface ListedObject {
  key: string
  uploaded_at: number
}

/** A body has more bytes than allowed or announced. */
export class TooManyBytes extends Error {}
/** A body has fewer bytes than announced. */
export class TooFewBytes extends Error {}
/** The store does not have the parts, or the upload was aborted. */
export class PartsRefused extends Error {}

/**
 * Stores the bytes of files. A key is written once. Bodies are streamed, so memory stays constant, and a body that
 * breaks off leaves nothing under its key.
 */
export interface FileStore {
  put: (body: ReadableStream<Uint8Array>, options: PutOptions) => Promise<StoredBody>
  /** Null: the object does not exist. */
  open: (key: string, range?: { offset: number; length: number }) => Promise<OpenObject | null>
  /** Keys without an object are ignored. */
  delete: (keys: readonly string[]) => Promise<void>
  /** Objects in the order of their keys. */
  list: (options: { prefix: string; after: string; limit: number }) => Promise<ListedObject[]>
  /** Reads and hashes the whole object. Null: the object does not exist. */
  read: (key: string, headBytes: number) => Promise<StoredBody | null>
  startParts: (key: string) => Promise<string>
  putPart: (
    upload: { key: string; uploadId: string; number: number },
    body: ReadableStream<Uint8Array>,
    size: number,
  ) => Promise<StoredBody & { etag: string }>
  /** Throws PartsRefused. Completing an upload again succeeds. */
  completeParts: (upload: { key: string; uploadId: string }, parts: readonly StoredPart[]) => Promise<void>
  abortParts: (upload: { key: string; uploadId: string }) => Promise<void>
}
