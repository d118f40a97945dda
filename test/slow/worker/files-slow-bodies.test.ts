import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { operations } from '../../../src/app.ts'
import { toBase64, utf8 } from '../../../src/domain/text/encoding.ts'
import { call, get } from '../../support/api.ts'
import { checkAccount, buildForm, makeFreshPng, listStoredKeys, uploadRaw } from '../../support/files.ts'
import { seedEdition } from '../../support/seeding/editions.ts'
import { seedUpload } from '../../support/seeding/files.ts'
import { givenOrganization } from '../../support/seeding/organizations.ts'

const streams = operations.flatMap(({ stream }) => stream ?? [])
const declared = streams.map(({ maxReadMs }) => maxReadMs)
const shortMs = 300

let here: Awaited<ReturnType<typeof givenOrganization>>
beforeEach(async () => {
  here = await givenOrganization()
  for (const stream of streams) stream.maxReadMs = shortMs
})
afterEach(() => {
  for (const [index, stream] of streams.entries()) stream.maxReadMs = declared[index] ?? 0
})

/** Makes a body that sends these bytes and never ends. */
const stalled = (...chunks: Uint8Array<ArrayBuffer>[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    pull(controller) {
      const chunk = chunks.shift()
      return chunk ? controller.enqueue(chunk) : new Promise(() => undefined)
    },
  })

const refusal = { status: 408, body: { code: 'request_timeout' } }

describe('the body of a file that stalls', () => {
  it('may take five minutes as a body, in a form and as a part', () => {
    expect(declared).toEqual([300_000, 300_000])
  })

  it('ends with 408 and is not stored, with a known and with an unknown length', async () => {
    const before = await listStoredKeys()
    const bytes = makeFreshPng()
    const { body, type } = buildForm([
      ['organization_id', here.id],
      ['file', bytes, 'a.png', 'image/png'],
    ])
    const cases: [what: string, sent: Uint8Array<ArrayBuffer>, headers: Record<string, string>][] = [
      ['of unknown length', bytes, {}],
      ['of known length', bytes, { 'content-length': String(bytes.length + 1) }],
      ['that never begins', new Uint8Array(), {}],
      ['in a form, in the middle of it', body.slice(0, -60), { 'content-type': type }],
      ['in a form, before its last boundary', body.slice(0, -4), { 'content-type': type }],
    ]
    for (const [what, sent, headers] of cases) {
      const reply = await uploadRaw(here.id, stalled(...(sent.length ? [sent] : [])), { headers })
      expect([what, reply]).toMatchObject([what, refusal])
    }
    expect(await listStoredKeys()).toEqual(before)
    expect(await checkAccount(here.id)).toMatchObject({ objects: 0, isCounted: true, lost: 0 })
  })

  it('leaves its Idempotency-Key free for the next try', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const bytes = makeFreshPng()
    expect(await uploadRaw(here.id, stalled(bytes.slice(0, 20)), { headers })).toMatchObject(refusal)
    expect((await uploadRaw(here.id, bytes, { headers })).status).toBe(201)
    expect(await checkAccount(here.id)).toMatchObject({ objects: 1, references: [1], isStored: true })
  })

  it('can be sent again when it is a part of an upload', async () => {
    const bytes = utf8('name,number\r\nA,1\r\n')
    const id = await seedUpload({ organization: here.id, edition: (await seedEdition(here)).id }, bytes)
    const digest = toBase64(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
    const headers = { 'content-type': 'application/octet-stream', 'content-digest': `sha-256=:${digest}:` }
    const put = (raw: BodyInit) => call(`/v1/files/uploads/${id}/parts/1`, { method: 'PUT', raw, headers })
    expect(await put(stalled(bytes.slice(0, 5)))).toMatchObject(refusal)
    expect((await get(`/v1/files/uploads/${id}`)).body.parts).toEqual([])
    expect((await put(bytes)).body.parts).toHaveLength(1)
  })
})
