import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { JobCtx } from '../../src/context.ts'
import { type ScanResult, signScanToken, verdicts } from '../../src/domain/files/scans.ts'
import { readConfig } from '../../src/entry/config.ts'
import { type ScanRequest, createHttpScanner } from '../../src/gateways/file-scan/file-scan.ts'
import { sweepScans } from '../../src/modules/files/jobs.ts'
import { getFirstStatus, requestScan, scheduleScan } from '../../src/modules/files/scanning/scan.ts'
import { call } from '../support/api.ts'
import { createJob } from '../support/campaigns.ts'
import { type SeededFile, seedStoredFile } from '../support/seeding/files.ts'
import { db, write } from '../support/seeding/rows.ts'
import { fetchFile, buildPath } from '../support/served-files.ts'

const secret = 'link-signing-key-of-the-tests'
const scan = { url: 'https://scanner.example.test/scan', key: 'scanner-key' }

interface Scanning {
  job: JobCtx
  requests: ScanRequest[]
  /** The scanner's immediate answer, or null to answer later. */
  answer: ScanResult | null
  now: number
}

/** Starts a service whose scanner answers as the test says. */
function scanning(answer: ScanResult | null): Scanning {
  const job = createJob()
  const state: Scanning = { job, requests: [], answer, now: Date.now() }
  state.job = {
    ...job,
    now: () => state.now,
    config: { ...job.config, files: { ...job.config.files, scan } },
    scanner: {
      scan: async (request) => {
        state.requests.push(request)
        return state.answer
      },
    },
  }
  return state
}

/** Seeds a file as an upload leaves it when a scanner is configured. */
async function seedUploaded({ job }: Scanning): Promise<SeededFile> {
  const file = await seedStoredFile({ status: getFirstStatus(job.config) })
  await write(...scheduleScan(job, file.id))
  return file
}

const loadScan = async ({ id }: SeededFile) =>
  db.first(sql`select files.status, version, state, reason, attempts, due_at from files
    join file_scans on file_id = id where id = ${id}`)

const answer = (path: string, body: unknown) => call(path, { method: 'POST', token: null, body })

const readCallback = ({ requests }: Scanning, file: SeededFile): string =>
  new URL(requests.find(({ file_id }) => file_id === file.id)?.callback_url ?? '').pathname
const readStatus = async (file: SeededFile) =>
  (await fetchFile(buildPath(file), { headers: { range: 'bytes=0-' } })).status

describe('a file without a scanner', () => {
  it('is ready at once, and no scan is requested', async () => {
    const job = createJob()
    expect(job.scanner).toBeNull()
    expect(getFirstStatus(job.config)).toBe('ready')
    expect(scheduleScan(job, 'fil_1')).toEqual([])
    await requestScan(job, 'fil_1')
    await sweepScans(job)
    expect(job.db.meter.queries).toBe(0)
  })
})

describe('a file with a scanner', () => {
  it('returns 404 until the scanner reports that it is clean, and the scanner has its own address', async () => {
    const state = scanning({ verdict: 'clean', reason: null })
    const file = await seedUploaded(state)
    expect(await readStatus(file)).toBe(404)
    await requestScan(state.job, file.id)
    const [request] = state.requests
    expect(request).toMatchObject({
      file_id: file.id,
      mime_type: 'image/png',
      size: file.content.length,
      checksum_sha256: file.checksum_sha256,
    })
    const url = new URL(request?.url ?? '')
    expect(url.origin).toBe('https://events.example.test')
    expect((await fetchFile(url.pathname + url.search)).bytes).toEqual(file.content)
    expect(await readStatus(file)).toBe(206)
    expect(await loadScan(file)).toMatchObject({ status: 'ready', state: 'clean', version: 2, due_at: null })
  })

  it('returns 404 forever when it is infected, and shows the reason', async () => {
    const state = scanning({ verdict: 'infected', reason: 'EICAR' })
    const file = await seedUploaded(state)
    await requestScan(state.job, file.id)
    expect(await readStatus(file)).toBe(404)
    expect(await loadScan(file)).toMatchObject({ status: 'quarantined', state: 'infected', reason: 'EICAR' })
    await sweepScans(state.job)
    expect(state.requests).toHaveLength(1)
  })

  it('is served to nobody once it is infected, also from a cache', async () => {
    const file = await seedStoredFile()
    const bindings = { FILE_SCAN_URL: scan.url, FILE_SCAN_KEY: scan.key }
    const fetchWith = (headers: Record<string, string> = {}, method = 'GET') =>
      fetchFile(buildPath(file), { bindings, headers, method })
    const first = await fetchWith()
    const conditions: Record<string, string>[] = [
      { 'if-none-match': first.headers.get('etag') ?? '' },
      { 'if-modified-since': first.headers.get('last-modified') ?? '' },
    ]
    expect((await fetchWith({ range: 'bytes=0-1' })).status).toBe(206)
    for (const condition of conditions) expect((await fetchWith(condition)).status).toBe(304)
    // The verdict arrives elsewhere, where this cache cannot be emptied.
    await write(sql`update files set status = 'quarantined' where id = ${file.id}`)
    for (const headers of [{}, { range: 'bytes=0-1' }, ...conditions])
      for (const method of ['GET', 'HEAD']) {
        const reply = await fetchWith(headers, method)
        expect([headers, method, reply.status]).toEqual([headers, method, 404])
      }
  })

  it('comes from the cache while it is clean', async () => {
    const file = await seedStoredFile()
    const bindings = { FILE_SCAN_URL: scan.url, FILE_SCAN_KEY: scan.key }
    await fetchFile(buildPath(file), { bindings })
    await env.FILES.delete(file.storage_key)
    const cachedReply = await fetchFile(buildPath(file), { bindings })
    expect([cachedReply.status, cachedReply.bytes]).toEqual([200, file.content])
  })

  it('gets a later verdict by its callback address, any number of times', async () => {
    const state = scanning(null)
    const file = await seedUploaded(state)
    await requestScan(state.job, file.id)
    expect(await readStatus(file)).toBe(404)
    for (let time = 0; time < 3; time++)
      expect((await answer(readCallback(state, file), { verdict: 'clean' })).status).toBe(204)
    expect(await readStatus(file)).toBe(206)
    expect(await loadScan(file)).toMatchObject({ state: 'clean', version: 2 })
  })

  it('ignores verdicts that nobody requested', async () => {
    const state = scanning(null)
    const file = await seedUploaded(state)
    const other = await seedStoredFile({ status: 'quarantined' })
    await requestScan(state.job, file.id)
    const path = readCallback(state, file)
    const now = Date.now()
    for (const wrong of [
      '/file-scans/abc',
      path.slice(0, -1) + (path.endsWith('A') ? 'B' : 'A'),
      `/file-scans/${signScanToken('another secret', file.id, now)}`,
      `/file-scans/${signScanToken(secret, file.id, now - 31 * 86_400_000)}`,
      `/file-scans/${signScanToken(secret, other.id, now)}`,
      `/file-scans/${new URL(state.requests[0]?.url ?? '').searchParams.get('token')}`,
    ])
      expect((await answer(wrong, { verdict: 'clean' })).status, wrong).toBe(404)
    for (const body of [{}, { verdict: 'fine' }, { verdict: ['clean'] }, { verdict: 'toString' }]) {
      const reply = await answer(path, body)
      expect([reply.status, reply.body.errors[0].pointer]).toEqual([400, '#/verdict'])
    }
    expect((await call(path, { method: 'POST', token: null, raw: 'x'.repeat(20_000) })).status).toBe(413)
    expect(await loadScan(file)).toMatchObject({ status: 'quarantined', state: 'pending' })
  })

  it('is sent to the scanner again after 5 minutes, and each time after twice as long, until it answers', async () => {
    const state = scanning(null)
    const file = await seedUploaded(state)
    // Other tests leave files that wait for a scan.
    const countRequests = () => state.requests.filter(({ file_id }) => file_id === file.id).length
    await requestScan(state.job, file.id)
    await requestScan(state.job, file.id)
    await sweepScans(state.job)
    expect(countRequests()).toBe(1)
    for (const minutes of [5, 10, 20, 40, 80, 160, 320, 360, 360]) {
      const before = countRequests()
      state.now += minutes * 60_000 - 1
      await sweepScans(state.job)
      expect(countRequests()).toBe(before)
      state.now += 1
      await sweepScans(state.job)
      expect(countRequests()).toBe(before + 1)
    }
    state.answer = { verdict: 'clean', reason: null }
    state.now += 360 * 60_000
    await sweepScans(state.job)
    expect(await loadScan(file)).toMatchObject({ status: 'ready', attempts: 11 })
  })

  it('does not wait for the failed scan of another file', async () => {
    const state = scanning({ verdict: 'clean', reason: null })
    const files = [await seedUploaded(state), await seedUploaded(state), await seedUploaded(state)]
    const { scanner } = state.job
    const job = {
      ...state.job,
      scanner: {
        scan: (request: ScanRequest) =>
          request.file_id === files[0]?.id ? Promise.reject(new Error('no')) : (scanner?.scan(request) ?? null),
      } as JobCtx['scanner'],
    }
    await expect(sweepScans(job)).rejects.toThrow('no')
    const states = await Promise.all(files.map(loadScan))
    expect(states).toMatchObject([{ state: 'pending' }, { state: 'clean' }, { state: 'clean' }])
  })

  it('is not scanned once it is deleted', async () => {
    const state = scanning(null)
    const file = await seedUploaded(state)
    await requestScan(state.job, file.id)
    await write(sql`delete from files where id = ${file.id}`)
    expect(await db.all(sql`select 1 from file_scans where file_id = ${file.id}`)).toEqual([])
    expect((await answer(readCallback(state, file), { verdict: 'clean' })).status).toBe(404)
  })

  it('is never readable after "infected" and readable only after "clean", for any order of answers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...verdicts, 'sweep' as const), { maxLength: 6 }), async (steps) => {
        const state = scanning(null)
        const file = await seedUploaded(state)
        await requestScan(state.job, file.id)
        for (const step of steps) {
          state.now += 400 * 60_000
          if (step === 'sweep') await sweepScans(state.job)
          else await answer(readCallback(state, file), { verdict: step })
        }
        const isClean = steps.includes('clean') && !steps.includes('infected')
        expect(await readStatus(file)).toBe(isClean ? 206 : 404)
      }),
      { numRuns: 15 },
    )
  })
})

describe('the scanner behind FILE_SCAN_URL', () => {
  const request: ScanRequest = {
    file_id: 'fil_1',
    url: 'u',
    mime_type: 'm',
    size: 1,
    checksum_sha256: 'c',
    callback_url: 'b',
  }
  const scanWith = async (response: Response | Error) => {
    const posted = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => {
      if (response instanceof Error) throw response
      return response
    })
    const verdict = await createHttpScanner(scan).scan(request)
    const [sent] = posted.mock.calls
    posted.mockRestore()
    return { verdict, sent }
  }

  it('receives the request with its key', async () => {
    const { verdict, sent } = await scanWith(Response.json({ verdict: 'infected', reason: 'EICAR' }))
    expect(verdict).toEqual({ verdict: 'infected', reason: 'EICAR' })
    expect(sent?.[0]).toBe(scan.url)
    expect(sent?.[1]).toMatchObject({
      method: 'POST',
      redirect: 'manual',
      headers: { authorization: 'Bearer scanner-key' },
    })
    expect(JSON.parse(sent?.[1]?.body as string)).toEqual(request)
  })

  it.each([
    ['202 without a verdict', Response.json({}, { status: 202 })],
    ['202 with a verdict', Response.json({ verdict: 'clean' }, { status: 202 })],
    ['an error with a verdict', Response.json({ verdict: 'clean' }, { status: 500 })],
    ['a page', new Response('<html>')],
    ['an unknown verdict', Response.json({ verdict: 'maybe' })],
    ['a redirect', new Response(null, { status: 302, headers: { location: 'https://elsewhere.example' } })],
    ['no connection', new TypeError('network')],
  ])('gives no verdict when it answers with %s', async (_, response) => {
    expect((await scanWith(response)).verdict).toBeNull()
  })

  it('needs an address, a key, and the key that signs links', () => {
    const read = (bindings: object) => readConfig({ ...env, ...bindings }).files.scan
    expect(read({})).toBeNull()
    expect(read({ FILE_SCAN_URL: scan.url, FILE_SCAN_KEY: 'k' })).toEqual({ url: scan.url, key: 'k' })
    expect(() => read({ FILE_SCAN_URL: 'scanner' })).toThrow(/FILE_SCAN_URL/)
    expect(() => read({ FILE_SCAN_URL: scan.url, LINK_SIGNING_KEY: '' })).toThrow(/LINK_SIGNING_KEY/)
  })
})
