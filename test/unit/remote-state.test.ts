import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { locateDatabase, migrate } from '../../scripts/support/migrate.ts'
import { describeObjects } from '../../scripts/support/verify/campaigns.ts'
import { openPlace } from '../../scripts/support/verify/place.ts'
import { listChecks } from '../../scripts/support/verify/verify.ts'

/** A stand-in of the platform's API and of the deployed service. */
let server: Server
let folder: string
let database: DatabaseSync
let requests: string[] = []
let keys: string[] = []
let isBucketAllowed = true
let limited = 0
const account = '0123456789abcdef0123456789abcdef'
const names = ['CLOUDFLARE_API_BASE_URL', 'CLOUDFLARE_API_TOKEN', 'CLOUDFLARE_ACCOUNT_ID', 'DEPLOY_FOLDER'] as const
const before = new Map(names.map((name) => [name, process.env[name]]))

const answers: [RegExp, (body: string, search: URLSearchParams) => [number, unknown, object?]][] = [
  [/\/accounts$/, () => [200, [{ id: account, name: 'Test' }]]],
  [/\/d1\/database$/, () => [200, [{ uuid: 'a-database', name: 'event-commerce-staging' }]]],
  [
    /\/d1\/database\/a-database\/query$/,
    (body) => {
      const { sql } = JSON.parse(body) as { sql: string }
      expect(new TextEncoder().encode(sql).length).toBeLessThan(100_000)
      return [200, [{ results: database.prepare(sql).all() }]]
    },
  ],
  [
    /\/r2\/buckets\/event-commerce-files-staging\/objects$/,
    (_, search) => {
      if (!isBucketAllowed) return [403, null]
      const after = search.get('cursor') ?? ''
      const listed = keys.filter((key) => key.startsWith(search.get('prefix') ?? '') && key > after)
      const page = listed.slice(0, 2)
      const is_truncated = listed.length > page.length
      return [200, page.map((key) => ({ key })), { cursor: is_truncated ? page.at(-1) : '', is_truncated }]
    },
  ],
]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'remote-state-'))
  migrate(folder, 'any')
  database = new DatabaseSync(locateDatabase(folder, 'any'))
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://any')
      requests.push(`${request.method} ${pathname}`)
      const send = (status: number, value: unknown, headers = {}) =>
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
      if (pathname.startsWith('/v1/campaigns/')) {
        if (request.headers.authorization !== 'Bearer the-root-token') return send(401, {})
        return limited-- > 0 ? send(429, {}, { 'retry-after': '0' }) : send(200, { count: 4 })
      }
      const [, answer] = answers.find(([path]) => path.test(pathname)) ?? []
      const [status, result, info] = answer?.(body, searchParams) ?? [404, null]
      return send(status, { success: status === 200, result, errors: [], result_info: info ?? { total_count: 1 } })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  Object.assign(process.env, { CLOUDFLARE_API_BASE_URL: url, CLOUDFLARE_API_TOKEN: 'a-token', DEPLOY_FOLDER: folder })
  delete process.env['CLOUDFLARE_ACCOUNT_ID']
  mkdirSync(join(folder, 'staging'))
  writeFileSync(join(folder, 'staging', 'wrangler.json'), JSON.stringify({ vars: { PUBLIC_URL: url } }))
  writeFileSync(join(folder, 'staging', 'secrets.json'), JSON.stringify({ ROOT_TOKEN: 'the-root-token' }))
})
afterAll(() => {
  for (const [name, value] of before)
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  server.close()
  database.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => {
  requests = []
})

const open = () => openPlace({ remote: true, env: 'staging' })

async function listFaults(): Promise<string[]> {
  const faults: string[] = []
  for (const { run } of listChecks(await open())) for (const finding of await run()) faults.push(...finding.faults)
  return faults
}

it('a database at Cloudflare is compared with itself and with all pages of its bucket, by reads alone', async () => {
  expect(await listFaults()).toEqual([])
  keys = ['a', 'b', 'c', 'd', 'e'].map((name) => `objects/${name}`)
  expect(await listFaults()).toEqual(keys.map((key) => `No row names ${key}.`))
  expect(requests.filter((request) => !/^(?:GET|POST .*\/query$)/.test(request))).toEqual([])
})

it('a token that may not read the bucket leaves out the files, and says so', async () => {
  isBucketAllowed = false
  const { files } = await open()
  expect(files).toBe('The files are not listed, because the login or CLOUDFLARE_API_TOKEN may not read R2.')
  expect(await listFaults()).toEqual([])
  isBucketAllowed = true
})

it('the service says what the objects of campaigns have sent, also when it limits requests', async () => {
  database.exec(`pragma foreign_keys = off; insert into campaigns (id, organization_id, edition_id, segment_id, name,
      name_key, search, channel, status, sent_count, created_at, modified_at)
    values ('cmp_1', 'org_1', 'edt_1', 'seg_1', 'Doors', 'd', 'd', 'email', 'draft', 0, 1, 1)`)
  limited = 2
  const { query, readObjects } = await open()
  if (typeof readObjects === 'string') throw new Error(readObjects)
  expect(await describeObjects(query, readObjects)).toEqual([
    'cmp_1 "Doors" is draft with 0 sent messages, and its object has sent 4.',
  ])
  writeFileSync(join(folder, 'staging', 'secrets.json'), '{"ROOT_TOKEN":"another"}')
  const { readObjects: refused } = await open()
  if (typeof refused === 'string') throw new Error(refused)
  await expect(describeObjects(query, refused)).rejects.toThrow('Check PUBLIC_URL and ROOT_TOKEN.')
  rmSync(join(folder, 'staging', 'secrets.json'))
  expect((await open()).readObjects).toContain('Set PUBLIC_URL')
})

it('an installation that does not exist is named', async () => {
  await expect(openPlace({ remote: true, env: 'other' })).rejects.toThrow(
    'The account has no database event-commerce-other. npm run deploy -- --env other makes it.',
  )
})
