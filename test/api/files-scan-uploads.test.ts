import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { utf8 } from '../../src/domain/text/encoding.ts'
import type { ScanRequest } from '../../src/gateways/file-scan/file-scan.ts'
import { call, callWith, get, type Reply } from '../support/api.ts'
import { interruptDatabase, recordStatements } from '../support/bindings.ts'
import { readCost } from '../support/cost.ts'
import { makeFreshPng, uploadRaw } from '../support/files.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { seedUpload } from '../support/seeding/files.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { db } from '../support/seeding/rows.ts'
import { fetchFile } from '../support/served-files.ts'

const answer = (path: string, body: unknown) => call(path, { method: 'POST', token: null, body })

describe('an upload while a scanner is configured', () => {
  const bindings = { FILE_SCAN_URL: 'https://scanner.example.test/scan', FILE_SCAN_KEY: 'scanner-key' }

  /** Runs the work with a scanner that gives this answer, and returns what was posted to it. */
  async function recordPosts(answers: () => Response, work: () => Promise<Reply>) {
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => answers())
    const reply = await work()
    const requests = fetched.mock.calls.map(([, init]) => JSON.parse(init?.body as string) as ScanRequest)
    fetched.mockRestore()
    return { reply, requests }
  }

  const answerLater = () => Response.json({}, { status: 202 })
  const read = async (address: string) => {
    const { pathname, search } = new URL(address)
    return (await fetchFile(pathname + search)).status
  }

  it('is in quarantine until the scanner has answered, and is scanned once', async () => {
    const { id } = await givenOrganization()
    const bytes = makeFreshPng()
    const { reply, requests } = await recordPosts(answerLater, () => uploadRaw(id, bytes, { bindings }))
    expect([reply.status, reply.body.status]).toEqual([201, 'quarantined'])
    expect(await read(reply.body.url)).toBe(404)
    expect(requests).toMatchObject([{ file_id: reply.body.id, size: bytes.length, mime_type: 'image/png' }])
    expect(await read(requests[0]?.url ?? '')).toBe(200)
    const callback = new URL(requests[0]?.callback_url ?? '').pathname
    expect((await answer(callback, { verdict: 'clean' })).status).toBe(204)
    expect((await get(`/v1/files/${reply.body.id}`)).body.status).toBe('ready')
    expect(await read(reply.body.url)).toBe(200)
  })

  it('is scanned also when the organisation already stores its bytes, and writes at most 10 rows', async () => {
    const { id } = await givenOrganization()
    const bytes = makeFreshPng()
    const first = await recordPosts(answerLater, () => uploadRaw(id, bytes, { bindings }))
    const { reply, requests } = await recordPosts(answerLater, () => uploadRaw(id, bytes, { bindings }))
    expect(requests).toMatchObject([{ file_id: reply.body.id }])
    expect(reply.body.id).not.toBe(first.reply.body.id)
    expect([readCost(first.reply).rows_written, readCost(reply).rows_written]).toEqual([10, 8])
  })

  it('is in quarantine when it is sent in parts, and its signed address works once it is clean', async () => {
    const organization = await givenOrganization()
    const place = { organization: organization.id, edition: (await seedEdition(organization)).id }
    const upload = await seedUpload(place, utf8('a,b\n1,2\n'), { hasPart: true })
    const path = `/v1/files/uploads/${upload}/complete`
    const complete = () => callWith(bindings, path, { method: 'POST' })
    const { reply, requests } = await recordPosts(answerLater, complete)
    expect([reply.status, reply.body.status]).toEqual([201, 'quarantined'])
    expect(await read(reply.body.url)).toBe(404)
    await answer(new URL(requests[0]?.callback_url ?? '').pathname, { verdict: 'clean' })
    expect(await read(reply.body.url)).toBe(200)
    const secondPosts = await recordPosts(answerLater, complete)
    expect([secondPosts.reply.body.id, secondPosts.requests]).toEqual([reply.body.id, []])
  })

  it('is scanned once when another change comes at the same time', async () => {
    const organization = await givenOrganization()
    const place = { organization: organization.id, edition: (await seedEdition(organization)).id }
    const upload = await seedUpload(place, utf8('a,b\n1,2\n'), { hasPart: true })
    const touch = () => env.DB.prepare('update file_uploads set version = version + 1 where id = ?').bind(upload).run()
    const { DB, statements } = recordStatements(interruptDatabase(/update file_uploads set file_id/, touch))
    const complete = () => callWith({ ...bindings, DB }, `/v1/files/uploads/${upload}/complete`, { method: 'POST' })
    const { reply, requests } = await recordPosts(answerLater, complete)
    expect([reply.status, requests.length]).toEqual([201, 1])
    expect(statements.filter((text) => text.startsWith('update file_uploads set file_id'))).toHaveLength(2)
    expect(statements.filter((text) => text.startsWith('update file_scans'))).toHaveLength(1)
  })

  it('starts no scan when it is refused', async () => {
    const { id } = await givenOrganization()
    await env.DB.prepare(
      'insert into organization_storage (organization_id, used_bytes, limit_bytes) values (?, 0, 10)',
    )
      .bind(id)
      .run()
    const { reply, requests } = await recordPosts(answerLater, () => uploadRaw(id, makeFreshPng(), { bindings }))
    expect(describeRefusal(reply)).toBe('409 storage_full')
    expect(requests).toEqual([])
    expect(
      await db.all(sql`select 1 from file_scans join files on files.id = file_id where organization_id = ${id}`),
    ).toEqual([])
  })
})
