import { createExecutionContext, createScheduledController, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { deriveResponseKey, openText } from '../../../src/domain/accounts/sealed-text.ts'
import { fromBase64, sha256, toHex } from '../../../src/domain/text/encoding.ts'
import worker from '../../../src/index.ts'
import { call, callWith, type Reply, type Request } from '../../support/api.ts'
import { recordBatches } from '../../support/bindings.ts'
import { listChangesSoFar, countChanges } from '../../support/changes.ts'
import { chooseCaller, make, send, sendWith, writes } from '../../support/operations.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { seedToken } from '../../support/seeding/members.ts'
import { next } from '../../support/seeding/rows.ts'
import { buildWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
  await countChanges()
})

const newKey = () => crypto.randomUUID()
const keyed = (key: string, headers: Record<string, string> = {}) => ({ 'idempotency-key': key, ...headers })
const isReplay = (reply: Reply) => reply.headers.get('idempotency-replayed') === 'true'

/** Returns everything that a client can notice in an answer. */
const describeReply = (reply: Reply) => ({
  status: reply.status,
  text: reply.text,
  location: reply.headers.get('location'),
  etag: reply.headers.get('etag'),
  type: reply.headers.get('content-type'),
})

const createEvent = (key: string, name: string, request: Request = {}) =>
  call('/v1/events', {
    method: 'POST',
    body: { organization_id: world.a.id, name },
    token: world.people.OA.token,
    headers: keyed(key),
    ...request,
  })

const eventsNamed = async (name: string): Promise<number> =>
  (await env.DB.prepare('select count(*) as n from events where name = ?').bind(name).first<{ n: number }>())?.n ?? -1

const loadRow = async (key: string) =>
  env.DB.prepare('select * from idempotency_keys where key_hash = ?')
    .bind(toHex(await sha256(key)))
    .first()

describe.each(writes)('$id', (operation) => {
  it('returns its first answer to the same request with the same key, and writes nothing more', async () => {
    const caller = chooseCaller(operation, world)
    const sample = await make(operation, world, caller)
    const request = { token: caller.token, headers: keyed(newKey()) }
    const first = await send(operation, sample, request)
    expect([first.status, isReplay(first)]).toEqual([operation.status, false])
    const before = await listChangesSoFar()
    const secondReply = await send(operation, sample, request)
    expect(isReplay(secondReply)).toBe(true)
    expect(describeReply(secondReply)).toEqual(describeReply(first))
    expect(await listChangesSoFar()).toEqual(before)
  })

  it('stores its answer in the transaction of its last change', async () => {
    const caller = chooseCaller(operation, world)
    const sample = await make(operation, world, caller)
    const { bindings, batches } = recordBatches()
    const request = { token: caller.token, headers: keyed(newKey()) }
    const reply = await sendWith(bindings, operation, sample, request)
    expect(reply.status).toBe(operation.status)
    const isWrite = (sql: string) => /^\s*(insert|update|delete)/i.test(sql) && !sql.includes('idempotency_keys')
    const last = batches.findLast((statements) => statements.some(isWrite)) ?? []
    expect(
      last.filter((sql) => /^update "idempotency_keys" set ("fingerprint" = \?, )?"status"/.test(sql)),
    ).toHaveLength(1)
  })

  it('refuses a key that was used for another request', async () => {
    const caller = chooseCaller(operation, world)
    const key = newKey()
    expect((await createEvent(key, 'Something else', { token: caller.token })).status).toBe(201)
    const sample = await make(operation, world, caller)
    const before = await listChangesSoFar()
    const reply = await send(operation, sample, { token: caller.token, headers: keyed(key) })
    expect(describeRefusal(reply)).toBe('422 idempotency_key_reused')
    expect(await listChangesSoFar()).toEqual(before)
  })
})

describe('an Idempotency-Key', () => {
  it('is bound to the body and the path of its request', async () => {
    const key = newKey()
    await createEvent(key, 'One')
    expect((await createEvent(key, 'Two')).status).toBe(422)
    expect((await createEvent(key, 'One')).headers.get('idempotency-replayed')).toBe('true')
    const elsewhere = await call('/v1/events?x=1', {
      body: { organization_id: world.a.id, name: 'One' },
      token: world.people.OA.token,
      headers: keyed(key),
    })
    expect(elsewhere.status).toBe(422)
  })

  it('may be sent in either of two headers', async () => {
    const key = newKey()
    await createEvent(key, 'Two names')
    const reply = await createEvent(key, 'Two names', { headers: { 'x-idempotency-key': key } })
    expect(isReplay(reply)).toBe(true)
  })

  it('has 1 to 255 characters', async () => {
    for (const key of [' ', 'x'.repeat(256)]) {
      const reply = await createEvent(key, 'Odd key')
      expect([reply.status, reply.body.errors[0]?.attr]).toEqual([400, 'Idempotency-Key'])
    }
    expect((await createEvent('x'.repeat(255), 'Long key')).status).toBe(201)
    expect(await eventsNamed('Odd key')).toBe(0)
  })

  it('makes one row for many simultaneous requests', async () => {
    const key = newKey()
    const replies = await Promise.all(Array.from({ length: 10 }, () => createEvent(key, 'At once')))
    expect(await eventsNamed('At once')).toBe(1)
    const createdReplies = replies.filter((reply) => reply.status === 201)
    expect(createdReplies.filter((reply) => !isReplay(reply))).toHaveLength(1)
    expect(new Set(createdReplies.map((reply) => reply.text)).size).toBe(1)
    for (const reply of replies.filter(({ status }) => status !== 201)) {
      expect(describeRefusal(reply)).toBe('409 idempotency_in_progress')
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect(isReplay(await createEvent(key, 'At once'))).toBe(true)
  })

  it('keeps the answer to an invalid request', async () => {
    const key = newKey()
    const first = await createEvent(key, '')
    expect(first.status).toBe(400)
    const secondReply = await createEvent(key, '')
    expect(isReplay(secondReply)).toBe(true)
    expect(describeReply(secondReply)).toEqual(describeReply(first))
  })

  it('does not store an answer that can be different at the next try', async () => {
    const key = newKey()
    const path = `/v1/organizations/${world.a.id}`
    const rename = (token: string) =>
      call(path, { method: 'PATCH', body: { name: 'Renamed' }, token, headers: keyed(key) })
    for (const _ of [1, 2]) {
      const refusal = await rename(world.people.OM.token)
      expect([refusal.status, isReplay(refusal)]).toEqual([403, false])
    }
    expect(await loadRow(key)).toBeNull()
    const admins = await env.DB.prepare("select id from members where organization_id = ? and role = 'admin'")
      .bind(world.b.id)
      .all<{ id: string }>()
    const last = `/v1/organizations/${world.b.id}/members/${admins.results[0]?.id}`
    for (const _ of [1, 2]) {
      const refusal = await call(last, { method: 'DELETE', token: world.stranger.token, headers: keyed(key) })
      expect(describeRefusal(refusal)).toBe('409 last_admin')
      expect(isReplay(refusal)).toBe(false)
    }
    expect(await loadRow(key)).toBeNull()
  })

  it('is a different key for another caller', async () => {
    const key = newKey()
    const mine = await createEvent(key, 'Shared key')
    const theirs = await createEvent(key, 'Shared key', { token: world.people.OM.token })
    expect([theirs.status, isReplay(theirs)]).toEqual([201, false])
    expect(theirs.body.id).not.toBe(mine.body.id)
    const other = await seedToken(world.people.OA.account)
    expect(isReplay(await createEvent(key, 'Shared key', { token: other.token }))).toBe(true)
    const bound = await seedToken(world.people.OA.account, { organization: world.a.id })
    expect(isReplay(await createEvent(key, 'Shared key', { token: bound.token }))).toBe(false)
  })

  it('can be used again after its request crashed, but not while it runs', async () => {
    const key = newKey()
    const name = `Taken over ${next()}`
    await createEvent(key, name)
    const died = async (claimedUntil: number) =>
      env.DB.prepare(
        `update idempotency_keys set status = null, headers = null, body = null, claim_id = 'req_dead', claimed_until = ?
          where key_hash = ?`,
      )
        .bind(claimedUntil, toHex(await sha256(key)))
        .run()
    await env.DB.prepare('delete from events where name = ?').bind(name).run()
    await died(Date.now() + 3_600_000)
    const busy = await createEvent(key, name)
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([409, '5'])
    await died(Date.now() - 1000)
    expect((await createEvent(key, 'Another body')).status).toBe(422)
    const secondReply = await createEvent(key, name)
    expect([secondReply.status, isReplay(secondReply)]).toEqual([201, false])
    expect(await eventsNamed(name)).toBe(1)
    expect(isReplay(await createEvent(key, name))).toBe(true)
  })

  it('encrypts the stored answer', async () => {
    const key = newKey()
    const reply = await call('/v1/auth/tokens', {
      body: { name: 'Secret' },
      token: world.people.OA.token,
      headers: keyed(key),
    })
    const rows = await env.DB.prepare('select * from idempotency_keys').all()
    const stored = JSON.stringify(rows.results)
    for (const secret of [
      reply.body.token,
      reply.body.token.slice(4, 34),
      key,
      btoa(reply.text).slice(8, 60),
      reply.body.id,
    ])
      expect(stored.includes(secret)).toBe(false)
    const tokens = JSON.stringify((await env.DB.prepare('select * from access_tokens').all()).results)
    expect(tokens.includes(reply.body.token)).toBe(false)
  })

  it('cannot be decrypted with the table and the key without the secret of the Worker', async () => {
    const key = `guessable-${next()}`
    const { account, token } = world.people.OA
    const reply = await call('/v1/auth/tokens', { body: { name: 'Sealed' }, token, headers: keyed(key) })
    const stored = String((await loadRow(key))?.['body'])
    const guesses = ['', key, 'link-signing-key', 'IDEMPOTENCY_KEY']
    for (const guess of guesses) expect(await openText(await deriveResponseKey(guess, account, key), stored)).toBeNull()
    const [iv = '', secret = ''] = stored.split('.')
    const ofKeyAlone = await sha256(`idempotency\0${account}\0${key}`)
    const old = await crypto.subtle.importKey('raw', ofKeyAlone, 'AES-GCM', false, ['decrypt'])
    const opened = crypto.subtle.decrypt({ name: 'AES-GCM', iv: fromBase64(iv) }, old, fromBase64(secret))
    expect(await opened.catch(() => null)).toBeNull()
    const wrongKey = await deriveResponseKey('link-signing-key-of-the-tests', account, key)
    expect(await openText(wrongKey, stored)).toBe(reply.text)
    for (const other of [world.people.OM.account, 'root', ''])
      expect(await openText(await deriveResponseKey('link-signing-key-of-the-tests', other, key), stored)).toBeNull()
  })

  it('uses IDEMPOTENCY_KEY for encryption if that is set, and still finds requests under an older secret', async () => {
    const [key, name] = [newKey(), `Sealed ${next()}`]
    const request = {
      body: { organization_id: world.a.id, name },
      token: world.people.OA.token,
      headers: keyed(key),
    }
    const ownSecret = { IDEMPOTENCY_KEY: 'a secret of its own' }
    const first = await callWith(ownSecret, '/v1/events', request)
    const secondReply = await callWith(ownSecret, '/v1/events', request)
    expect([first.status, isReplay(secondReply), secondReply.text]).toEqual([201, true, first.text])
    const rotated = await callWith({ IDEMPOTENCY_KEY: 'the next one' }, '/v1/events', request)
    expect(describeRefusal(rotated)).toBe('409 idempotency_answer_lost')
    expect(rotated.text).not.toContain(name)
    expect(await eventsNamed(name)).toBe(1)
    expect((await callWith(ownSecret, '/v1/events', request)).text).toBe(first.text)
  })

  it('is refused in production without any secret, and needs none in development', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    vi.spyOn(console, 'log').mockImplementation(() => {})
    const name = `Unsealed ${next()}`
    const request = { body: { organization_id: world.a.id, name }, token: world.people.OA.token }
    const noSecrets = { LINK_SIGNING_KEY: '', IDEMPOTENCY_KEY: '' }
    const production = { ...noSecrets, ENVIRONMENT: 'production' }
    const refusal = await callWith(production, '/v1/events', { ...request, headers: keyed(newKey()) })
    expect(describeRefusal(refusal)).toBe('503 idempotency_unavailable')
    expect(refusal.text).not.toContain('LINK_SIGNING_KEY')
    expect(logged.mock.calls[0]?.[0]).toContain('LINK_SIGNING_KEY')
    expect(await eventsNamed(name)).toBe(0)
    expect((await callWith(production, '/v1/events', request)).status).toBe(201)
    const key = newKey()
    const development = { ...noSecrets, ENVIRONMENT: 'development' }
    const first = await callWith(development, '/v1/events', { ...request, headers: keyed(key) })
    const secondReply = await callWith(development, '/v1/events', { ...request, headers: keyed(key) })
    expect([first.status, isReplay(secondReply), secondReply.text]).toEqual([201, true, first.text])
    vi.restoreAllMocks()
  })

  it('is forgotten after a day', async () => {
    const [old, young] = [newKey(), newKey()]
    await createEvent(old, 'Old')
    await createEvent(young, 'Young')
    const age = (key: string, at: number) => async () =>
      env.DB.prepare('update idempotency_keys set expires_at = ? where key_hash = ?')
        .bind(at, toHex(await sha256(key)))
        .run()
    await age(old, Date.now() - 1)()
    const context = createExecutionContext()
    await worker.scheduled(createScheduledController({ scheduledTime: new Date(), cron: '* * * * *' }), env)
    await waitOnExecutionContext(context)
    expect(await loadRow(old)).toBeNull()
    expect((await loadRow(young))?.['status']).toBe(201)
    await age(young, Date.now() - 1)()
    const secondReply = await createEvent(young, 'Another name')
    expect([secondReply.status, isReplay(secondReply)]).toEqual([201, false])
  })
})
