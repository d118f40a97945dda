import { Digest } from './digest.ts'
import { type FileStore, type PutOptions, PartsRefused, type StoredBody, TooFewBytes, TooManyBytes } from './files.ts'

/** The part size of a body of unknown length, of which one part is in memory. */
const windowBytes = 5 * 1024 * 1024

/** A stored file is hashed range by range, so that R2 cannot send much more than was hashed. */
const rangeBytes = 8 * 1024 * 1024

/** R2 deletes at most this many objects in one call. */
const keysPerCall = 1000

/** R2 does not overwrite an existing key, and returns null instead. */
const onlyIfAbsent = { onlyIf: { etagDoesNotMatch: '*' } }

type Body = ReadableStream<Uint8Array>
type Put<Result> = (body: ReadableStream) => Promise<Result>

/** Streams a body of known length to R2 and hashes it, and reads the next chunk in the meantime. */
async function storeKnownLength<Result>(
  body: Body,
  { size, headBytes, inspect }: Pick<PutOptions, 'headBytes' | 'inspect'> & { size: number },
  put: Put<Result>,
): Promise<[StoredBody, Result]> {
  const digest = new Digest(headBytes, inspect)
  const { readable, writable } = new FixedLengthStream(size)
  const writer = writable.getWriter()
  const reader = body.getReader()
  const storage = put(readable)
  // If storing fails, nothing reads the stream any more, and a pending write would wait forever.
  storage.catch((error: unknown) => writer.abort(error).catch(() => undefined))
  let pendingWrites: Promise<unknown> = Promise.resolve()
  try {
    for (;;) {
      const { value, done } = await reader.read()
      await pendingWrites
      if (done) break
      if (digest.size + value.byteLength > size) throw new TooManyBytes()
      pendingWrites = Promise.all([digest.add(value), writer.write(value)])
      // An error is thrown when the next chunk awaits these writes.
      pendingWrites.catch(() => undefined)
    }
    if (digest.size < size) throw new TooFewBytes()
    await writer.close()
  } catch (error) {
    writer.abort(error).catch(() => undefined)
    reader.cancel(error).catch(() => undefined)
    await digest.abort()
    await storage.catch(() => undefined)
    throw error
  }
  return [await digest.end(), await storage]
}

/** Cuts a body of unknown length into parts of `windowBytes` and passes each to `flush`. */
async function splitBody(
  body: Body,
  { maxBytes, headBytes, inspect }: Pick<PutOptions, 'maxBytes' | 'headBytes' | 'inspect'>,
  flush: (window: Uint8Array, isLast: boolean) => Promise<void>,
): Promise<StoredBody> {
  const digest = new Digest(headBytes, inspect)
  const reader = body.getReader()
  let window = new Uint8Array(65_536)
  let filledBytes = 0
  const append = (chunk: Uint8Array) => {
    if (filledBytes + chunk.byteLength > window.byteLength) {
      const largerWindow = new Uint8Array(
        Math.min(windowBytes, Math.max(2 * window.byteLength, filledBytes + chunk.byteLength)),
      )
      largerWindow.set(window.subarray(0, filledBytes))
      window = largerWindow
    }
    window.set(chunk, filledBytes)
    filledBytes += chunk.byteLength
  }
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      if (digest.size + value.byteLength > maxBytes) throw new TooManyBytes()
      await digest.add(value)
      for (let at = 0; at < value.byteLength;) {
        if (filledBytes === windowBytes) {
          await flush(window, false)
          filledBytes = 0
        }
        const end = Math.min(value.byteLength, at + windowBytes - filledBytes)
        append(value.subarray(at, end))
        at = end
      }
    }
    await flush(window.subarray(0, filledBytes), true)
  } catch (error) {
    reader.cancel(error).catch(() => undefined)
    await digest.abort()
    throw error
  }
  return digest.end()
}

async function storeUnknownLength(bucket: R2Bucket, body: Body, options: PutOptions): Promise<StoredBody> {
  const { key } = options
  let upload: R2MultipartUpload | undefined
  const parts: R2UploadedPart[] = []
  try {
    return await splitBody(body, options, async (window, isLast) => {
      if (isLast && !upload) {
        if (window.byteLength) await bucket.put(key, window, onlyIfAbsent)
        return
      }
      upload ??= await bucket.createMultipartUpload(key)
      parts.push(await upload.uploadPart(parts.length + 1, window))
      if (isLast) await upload.complete(parts)
    })
  } catch (error) {
    await upload?.abort().catch(() => undefined)
    throw error
  }
}

async function hashObject(bucket: R2Bucket, key: string, headBytes: number): Promise<StoredBody | null> {
  const object = await bucket.head(key)
  if (!object) return null
  const { size } = object
  const digest = new Digest(headBytes)
  for (let offset = 0; offset < size; offset += rangeBytes) {
    const range = await bucket.get(key, { range: { offset, length: Math.min(rangeBytes, size - offset) } })
    if (!range) return null
    for await (const chunk of range.body as ReadableStream<Uint8Array>) await digest.add(chunk)
  }
  return digest.end()
}

async function completeParts(
  bucket: R2Bucket,
  upload: { key: string; uploadId: string },
  parts: readonly R2UploadedPart[],
): Promise<void> {
  try {
    await bucket.resumeMultipartUpload(upload.key, upload.uploadId).complete([...parts])
  } catch (error) {
    // An earlier call may have succeeded without its response arriving.
    if (await bucket.head(upload.key)) return
    throw new PartsRefused('The store does not have the parts.', { cause: error })
  }
}

/** Files in an R2 bucket. */
export const createR2Store = (bucket: R2Bucket): FileStore => ({
  async put(body, options) {
    const { key, size, maxBytes } = options
    if (size === null) return storeUnknownLength(bucket, body, options)
    if (size > maxBytes) throw new TooManyBytes()
    const [result] = await storeKnownLength(body, { ...options, size }, (stream) =>
      bucket.put(key, stream, onlyIfAbsent),
    )
    return result
  },
  async open(key, range) {
    const object = await bucket.get(key, range ? { range } : {})
    return object && { size: object.size, body: object.body as ReadableStream<Uint8Array> }
  },
  async delete(keys) {
    for (let at = 0; at < keys.length; at += keysPerCall) await bucket.delete(keys.slice(at, at + keysPerCall))
  },
  async list({ prefix, after, limit }) {
    const { objects } = await bucket.list({ prefix, limit, ...(after ? { startAfter: after } : {}) })
    return objects.map(({ key, uploaded }) => ({ key, uploaded_at: uploaded.getTime() }))
  },
  read: (key, headBytes) => hashObject(bucket, key, headBytes),
  startParts: async (key) => (await bucket.createMultipartUpload(key)).uploadId,
  async putPart({ key, uploadId, number }, body, size) {
    const upload = bucket.resumeMultipartUpload(key, uploadId)
    const [result, { etag }] = await storeKnownLength(body, { size, headBytes: 0 }, (stream) =>
      upload.uploadPart(number, stream),
    )
    return { ...result, etag }
  },
  completeParts: (upload, parts) =>
    completeParts(
      bucket,
      upload,
      parts.map(({ number, etag }) => ({ partNumber: number, etag })),
    ),
  async abortParts({ key, uploadId }) {
    await bucket
      .resumeMultipartUpload(key, uploadId)
      .abort()
      .catch(() => undefined)
  },
})
