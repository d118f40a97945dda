import { env } from 'cloudflare:workers'
import { toHex } from '../../src/domain/text/encoding.ts'
import { callWith, call, type Reply, type Request } from './api.ts'
import { next } from './seeding/rows.ts'

const emptyEnd = [0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]

/** Makes a PNG without pixels; `content` makes its bytes different. */
export function makePng(content = '', { width = 640, height = 480, size = 0 } = {}): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(content)
  const bytes = new Uint8Array(Math.max(size, 45 + text.length + emptyEnd.length))
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52])
  const view = new DataView(bytes.buffer)
  view.setUint32(16, width)
  view.setUint32(20, height)
  bytes.set([8, 6, 0, 0, 0], 24)
  view.setUint32(33, bytes.length - 45 - emptyEnd.length)
  bytes.set([0x74, 0x45, 0x58, 0x74], 37)
  bytes.set(text, 41)
  bytes.set(emptyEnd, bytes.length - emptyEnd.length)
  return bytes
}

export const makeFreshPng = () => makePng(`png ${next()}`)

export const sha256Hex = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  toHex(await crypto.subtle.digest('SHA-256', bytes))

export interface RawUpload {
  name?: string
  type?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  token?: string
  bindings?: object
}

/** Uploads bytes as the body itself. */
export function uploadRaw(organization: string, bytes: BodyInit, options: RawUpload = {}): Promise<Reply> {
  const { name = 'poster.png', type = 'image/png', query = {}, headers = {}, token, bindings } = options
  const path = `/v1/files?${new URLSearchParams({ organization_id: organization, ...query }).toString()}`
  const request: Request = {
    method: 'POST',
    raw: bytes,
    headers: {
      ...(bytes instanceof Uint8Array ? { 'content-length': String(bytes.byteLength) } : {}),
      'content-type': type,
      'content-disposition': `attachment; filename="${name}"`,
      ...headers,
    },
    ...(token ? { token } : {}),
  }
  return bindings ? callWith(bindings, path, request) : call(path, request)
}

export type FormPart = [name: string, value: string | Uint8Array, fileName?: string, type?: string]

/** Builds a form with its parts in the given order. */
export function buildForm(parts: readonly FormPart[], boundary = 'boundary-of-the-tests') {
  const encode = (text: string) => new TextEncoder().encode(text)
  const chunks = parts.flatMap(([name, value, fileName, type]) => [
    encode(
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${fileName === undefined ? '' : `; filename="${fileName}"`}${type ? `\r\nContent-Type: ${type}` : ''}\r\n\r\n`,
    ),
    typeof value === 'string' ? encode(value) : value,
    encode('\r\n'),
  ])
  const all = [...chunks, encode(`--${boundary}--\r\n`)]
  const body = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of all) {
    body.set(chunk, at)
    at += chunk.length
  }
  return { body, type: `multipart/form-data; boundary=${boundary}` }
}

export function uploadForm(parts: readonly FormPart[], request: Request = {}): Promise<Reply> {
  const { body, type } = buildForm(parts)
  return call('/v1/files', {
    method: 'POST',
    raw: body,
    ...request,
    headers: { 'content-type': type, ...request.headers },
  })
}

/** Lists the keys of the objects in the store. */
export async function listStoredKeys(prefix = 'objects/'): Promise<string[]> {
  const keys: string[] = []
  let cursor: string | undefined
  do {
    const page: R2Objects = await env.FILES.list({ prefix, ...(cursor ? { cursor } : {}) })
    keys.push(...page.objects.map(({ key }) => key))
    cursor = page.truncated ? page.cursor : undefined
  } while (cursor)
  return keys
}

export const loadUsedBytes = async (organization: string): Promise<number> =>
  (
    await env.DB.prepare('select used_bytes from organization_storage where organization_id = ?')
      .bind(organization)
      .first<{ used_bytes: number }>()
  )?.used_bytes ?? 0

export const queryRows = async <Row>(sql: string, ...values: unknown[]): Promise<Row[]> =>
  (
    await env.DB.prepare(sql)
      .bind(...values)
      .all<Row>()
  ).results

/**
 * Compares the stored bytes of the database with its rows and the store: every file has its bytes, counted bytes are
 * stored, and no object lacks a row.
 */
export async function checkAccount(organization: string) {
  const objects = await queryRows<{ storage_key: string; size: number; files: number }>(
    `select storage_key, size, (select count(*) from files f where f.storage_key = o.storage_key) as files
     from stored_objects o where organization_id = ?`,
    organization,
  )
  const open = await queryRows<{ size: number }>(
    'select size from file_uploads where organization_id = ? and file_id is null',
    organization,
  )
  const [lost = { n: 0 }] = await queryRows<{ n: number }>(
    `select count(*) as n from files where organization_id = ? and (storage_key is null or not exists
      (select 1 from stored_objects o where o.storage_key = files.storage_key))`,
    organization,
  )
  const present = await Promise.all(objects.map(async ({ storage_key }) => (await env.FILES.head(storage_key))?.size))
  return {
    objects: objects.length,
    references: objects.map(({ files }) => files),
    isCounted: (await loadUsedBytes(organization)) === [...objects, ...open].reduce((sum, { size }) => sum + size, 0),
    isStored: objects.every(({ size }, index) => present[index] === size),
    lost: lost.n,
  }
}

/** Wraps the store with a callback before each call. `before` may throw. */
export function watchStore(before: (call: string) => void | Promise<void>, after: typeof before = () => undefined) {
  const watch = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, name) {
        const value = Reflect.get(object, name) as unknown
        if (typeof value !== 'function') return value
        // This call only names an upload.
        if (name === 'resumeMultipartUpload')
          return (...args: unknown[]) => watch(Reflect.apply(value, object, args) as object)
        return async (...args: unknown[]) => {
          await before(String(name))
          const result: unknown = await Reflect.apply(value, object, args)
          await after(String(name))
          return name === 'createMultipartUpload' ? watch(result as object) : result
        }
      },
    })
  const bucket = watch(env.FILES)
  return { FILES: bucket }
}
