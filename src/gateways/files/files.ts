/** The properties of a body, found while it was stored. */
export interface StoredBody {
  size: number
  /** In hexadecimal. */
  checksum_sha256: string
  /** The first bytes: at most as many as were asked for. */
  head: Uint8Array
}

export interface PutOptions {
  key: string
  /** The announced number of bytes, if it is known. */
  size: number | null
  /** The most bytes that are accepted. */
  most: number
  /** The number of first bytes that are answered. */
  headBytes: number
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

/** A body has more bytes than were allowed or announced. */
export class TooManyBytes extends Error {}
/** A body ended before the bytes that were announced. */
export class TooFewBytes extends Error {}
/** The store does not have these parts, or the upload was aborted. */
export class PartsRefused extends Error {}

/**
 * The bytes of files. A key is written once. Bodies are stored while they come in, so that memory stays flat; what was
 * stored of a body that breaks off is not visible under its key.
 */
export interface FileStore {
  put: (body: ReadableStream<Uint8Array>, options: PutOptions) => Promise<StoredBody>
  /** Null where there is no such object. */
  open: (key: string, range?: { offset: number; length: number }) => Promise<OpenObject | null>
  /** Keys without an object are ignored. */
  delete: (keys: readonly string[]) => Promise<void>
  /** Objects in the order of their keys. */
  list: (options: { prefix: string; after: string; limit: number }) => Promise<ListedObject[]>
  /** Reads the whole object. Null where there is no such object. */
  read: (key: string, headBytes: number) => Promise<StoredBody | null>
  startParts: (key: string) => Promise<string>
  putPart: (
    upload: { key: string; uploadId: string; number: number },
    body: ReadableStream<Uint8Array>,
    size: number,
  ) => Promise<StoredBody & { etag: string }>
  /** Throws PartsRefused; completing what was completed before is no failure. */
  completeParts: (upload: { key: string; uploadId: string }, parts: readonly StoredPart[]) => Promise<void>
  abortParts: (upload: { key: string; uploadId: string }) => Promise<void>
}
