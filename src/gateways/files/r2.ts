import type { FileStore } from './files.ts'

/** Nothing is overwritten: a key that exists answers null. */
const once = { onlyIf: { etagDoesNotMatch: '*' } }

/** Files in an R2 bucket. */
export const r2Files = (bucket: R2Bucket): FileStore => ({
  async put(body, { key, size }) {
    const { readable, writable } = new FixedLengthStream(size)
    await Promise.all([body.pipeTo(writable), bucket.put(key, readable, once)])
    return { size }
  },
  async open(key, range) {
    const object = await bucket.get(key, range ? { range } : {})
    return object && { size: object.size, body: object.body as ReadableStream<Uint8Array> }
  },
  async delete(keys) {
    if (keys.length) await bucket.delete([...keys])
  },
  async list({ prefix, after, limit }) {
    const { objects } = await bucket.list({ prefix, limit, ...(after ? { startAfter: after } : {}) })
    return objects.map(({ key, uploaded }) => ({ key, uploaded_at: uploaded.getTime() }))
  },
})
