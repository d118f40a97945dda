/** What a body turned out to be while it was stored. */
export interface StoredBody {
  size: number
}

export interface PutOptions {
  key: string
  /** Bytes that come. */
  size: number
  /** More are not taken. */
  most: number
  headBytes: number
}

export interface OpenObject {
  /** Of the whole object. */
  size: number
  /** The bytes that were asked for. */
  body: ReadableStream<Uint8Array>
}

export interface ListedObject {
  key: string
  uploaded_at: number
}

/** The bytes of files. A key is written once. */
export interface FileStore {
  put: (body: ReadableStream<Uint8Array>, options: PutOptions) => Promise<StoredBody>
  /** Null where there is no such object. */
  open: (key: string, range?: { offset: number; length: number }) => Promise<OpenObject | null>
  /** Keys without an object are none to mind. */
  delete: (keys: readonly string[]) => Promise<void>
  /** Objects in the order of their keys. */
  list: (options: { prefix: string; after: string; limit: number }) => Promise<ListedObject[]>
}
