import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { app } from '../../src/app.ts'
import { mintPreferencesToken } from '../../src/domain/consents/consent-tokens.ts'
import { utf8 } from '../../src/domain/text/encoding.ts'
import { readConfig } from '../../src/entry/config.ts'
import { callWith, get, rootToken } from '../support/api.ts'
import { requestConfirmation } from '../support/double-opt-in.ts'
import { uploadRaw } from '../support/files.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { fetchFile } from '../support/served-files.ts'
import { listPaths, sendCampaign } from '../support/visits.ts'

const presentKey = 'link-signing-key-of-the-tests'
const previous = { LINK_SIGNING_KEY: 'the next key', LINK_SIGNING_KEY_PREVIOUS: `the key before, ${presentKey}` }
const forgotten = { LINK_SIGNING_KEY: 'the next key', LINK_SIGNING_KEY_PREVIOUS: 'the key before,, ,' }

async function open(bindings: object, path: string, init: RequestInit = {}) {
  const context = createExecutionContext()
  const request = new Request(`https://events.example.test${path}`, { redirect: 'manual', ...init })
  const queue = { sendBatch: async () => undefined }
  const response = await app.fetch(request, { ...env, CAMPAIGN_EVENTS: queue, ...bindings }, context)
  await waitOnExecutionContext(context)
  return { status: response.status, text: await response.text() }
}
const readStatus = async (bindings: object, path: string, init?: RequestInit) =>
  (await open(bindings, path, init)).status

describe('after LINK_SIGNING_KEY was replaced', () => {
  it('links of sent mails work while the key stands in LINK_SIGNING_KEY_PREVIOUS', async () => {
    const { captured } = await sendCampaign(1)
    const [click = '', pixel = '', unsubscribe = ''] = ['c', 'o', 'u'].map((kind) => listPaths(captured[0], kind)[0])
    const pages = [
      [click, 302],
      [pixel, 200],
      [unsubscribe, 200],
    ] as const
    for (const [path, status] of pages) {
      expect([path, await readStatus(previous, path)]).toEqual([path, status])
      expect([path, await readStatus(forgotten, path)]).toEqual([path, 404])
    }
    const page = await open(previous, unsubscribe)
    const preferences = /href="\.\.\/\.\.(\/consents\/[\w-]+)"/.exec(page.text)?.[1] ?? '?'
    // The page signs its own links with the new key.
    expect(await readStatus(forgotten, preferences)).toBe(200)
    expect(await readStatus({}, preferences)).toBe(404)
    const oneClick = { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) }
    expect(await readStatus(forgotten, unsubscribe, oneClick)).toBe(404)
    expect(await readStatus(previous, unsubscribe, oneClick)).toBe(200)
  })

  it('links of consents work, and confirm what they asked for', async () => {
    const { path } = await requestConfirmation()
    expect(await readStatus(forgotten, path, { method: 'POST' })).toBe(404)
    expect(await readStatus(previous, path, { method: 'POST' })).toBe(200)
  })

  it('signed addresses of files work until they end', async () => {
    const { id } = await givenOrganization()
    const bytes = utf8(`a,b\n1,${crypto.randomUUID()}\n`)
    const file = await uploadRaw(id, bytes, { type: 'text/csv', name: 'a.csv' })
    const { pathname, search } = new URL(file.body.url)
    expect((await fetchFile(pathname + search, { bindings: forgotten })).status).toBe(404)
    expect((await fetchFile(pathname + search, { bindings: previous })).bytes).toEqual(bytes)
  })

  it('a repeated request with an Idempotency-Key gets its first answer', async () => {
    const { id: organization_id } = await givenOrganization()
    const request = {
      body: { organization_id, name: 'Nordlys' },
      headers: { 'idempotency-key': crypto.randomUUID() },
    }
    const first = await callWith({}, '/v1/events', request)
    expect(first.status).toBe(201)
    expect((await callWith(forgotten, '/v1/events', request)).body.code).toBe('idempotency_answer_lost')
    // An own key leaves what was stored before readable too.
    for (const bindings of [previous, { ...previous, IDEMPOTENCY_KEY: 'a key of its own' }])
      expect((await callWith(bindings, '/v1/events', request)).text).toBe(first.text)
    expect((await get(`/v1/events?organization_id=${organization_id}`)).body.count).toBe(1)
  })

  it('no part of a key and no empty entry reads a link', async () => {
    const link = { user_id: 'usr_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', organization_id: 'org_1', channel: 'email' as const }
    const forge = (secret: string) =>
      mintPreferencesToken(secret, { ...link, address: 'a@example.test', made_at: Date.now() })
    for (const secret of ['', ' ', ',', 'the', 'the key', `the key before, ${presentKey}`])
      expect(await readStatus(previous, `/consents/${forge(secret)}`)).toBe(404)
    const read = (bindings: object) => readConfig({ ...env, ...bindings }).linkReadingKeys
    expect(read(previous)).toEqual(['the next key', 'the key before', presentKey])
    expect(read({ LINK_SIGNING_KEY: '', LINK_SIGNING_KEY_PREVIOUS: '' })).toEqual([])
    expect(() => read({ LINK_SIGNING_KEY: 'a,b' })).toThrow(
      /^LINK_SIGNING_KEY has another form\. It must be a text without a comma/,
    )
  })
})

describe('while ROOT_TOKEN is replaced', () => {
  afterEach(() => void vi.restoreAllMocks())
  const replaced = { ROOT_TOKEN: 'the-next-root-token', ROOT_TOKEN_PREVIOUS: rootToken }
  const ask = (token: string, bindings: object) => callWith(bindings, '/v1/auth/user-info', { token })

  it('both tokens are those of the superuser, and the answer says which one is the previous', async () => {
    const next = await ask('the-next-root-token', replaced)
    const old = await ask(rootToken, replaced)
    for (const reply of [next, old]) {
      expect(reply.status).toBe(200)
      expect(reply.body).toMatchObject({ id: 'root', is_superuser: true, token: { id: null, kind: 'root' } })
    }
    expect([next.body.token.name, old.body.token.name]).toEqual([null, 'ROOT_TOKEN_PREVIOUS'])
    const { status } = await callWith(replaced, '/v1/organizations', { body: { name: 'Nordlys' }, token: rootToken })
    expect(status).toBe(201)
  })

  it.each([
    ['without a previous one', { ROOT_TOKEN: 'the-next-root-token' }],
    ['with an empty previous one', { ROOT_TOKEN: 'the-next-root-token', ROOT_TOKEN_PREVIOUS: '' }],
    ['with a previous one alone', { ROOT_TOKEN: '', ROOT_TOKEN_PREVIOUS: rootToken }],
    ['with a list of previous ones', { ROOT_TOKEN: 'a', ROOT_TOKEN_PREVIOUS: `b,${rootToken}` }],
    ['with a part of a token', { ROOT_TOKEN: 'a', ROOT_TOKEN_PREVIOUS: `${rootToken}-and-more` }],
  ])('the old token is refused %s', async (_, bindings) => {
    expect((await ask(rootToken, bindings)).status).toBe(401)
  })

  it('every use of the previous token is in the log, and of others only a part', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.99)
    const logged = vi.spyOn(console, 'log').mockImplementation(() => {})
    const production = { ...replaced, ENVIRONMENT: 'production' }
    await ask('the-next-root-token', production)
    expect(logged).not.toHaveBeenCalled()
    await ask(rootToken, production)
    await ask(rootToken, production)
    const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)))
    expect(lines).toMatchObject(
      Array.from({ length: 2 }, () => ({
        level: 'info',
        operation: 'getUserInfo',
        status: 200,
        token_id: 'previous_root',
      })),
    )
    expect(JSON.stringify(lines)).not.toContain(rootToken)
  })
})
