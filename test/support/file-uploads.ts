import { toBase64, utf8 } from '../../src/domain/text/encoding.ts'
import { call, callWith, post, type Reply } from './api.ts'
import { next } from './seeding/rows.ts'

export const partSize = 8 * 1024 * 1024

/** Makes a table of this many bytes, different each time. */
export function makeTable(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size).fill(0x61)
  bytes.set(utf8(`name,number ${next()}\r\n`))
  bytes.set(utf8(','), 1000)
  return bytes
}

export const startUpload = async (
  organization: { id: string },
  bytes: Uint8Array,
  name = 'orders.csv',
): Promise<Reply['body']> =>
  (await post('/v1/files/uploads', { organization_id: organization.id, name, size: bytes.length })).body

export const computeDigest = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  `sha-256=:${toBase64(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))}:`

export const slicePart = (bytes: Uint8Array<ArrayBuffer>, number: number) =>
  bytes.slice((number - 1) * partSize, number * partSize)

export async function putPart(
  id: string,
  number: number | string,
  bytes: Uint8Array<ArrayBuffer>,
  { headers = {}, bindings }: { headers?: Record<string, string>; bindings?: object } = {},
): Promise<Reply> {
  const request = {
    method: 'PUT',
    raw: bytes,
    headers: { 'content-type': 'application/octet-stream', 'content-digest': await computeDigest(bytes), ...headers },
  }
  const path = `/v1/files/uploads/${id}/parts/${number}`
  return bindings ? callWith(bindings, path, request) : call(path, request)
}

export const completeParts = (id: string): Promise<Reply> =>
  call(`/v1/files/uploads/${id}/complete`, { method: 'POST' })

/** The result of `accountOf` for an organisation with all its files. */
export const isWhole = { isCounted: true, isStored: true, lost: 0 }
