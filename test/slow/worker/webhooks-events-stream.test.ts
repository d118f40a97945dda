import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { app } from '../../../src/app.ts'
import { newId } from '../../../src/domain/ids.ts'
import { dayMs } from '../../../src/domain/time/instants.ts'
import { sweepEvents } from '../../../src/modules/webhooks/jobs.ts'
import { buildRequest, call, get } from '../../support/api.ts'
import { createContextAt } from '../../support/context.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { seedPlace } from '../../support/retention.ts'
import { seedAccount, seedMember, seedToken } from '../../support/seeding/members.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { seedEvents } from '../../support/seeding/webhooks.ts'
import { happen } from '../../support/webhooks.ts'
import { buildWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

interface StreamedEvent {
  id?: string
  data?: string
}

const parseBlock = (block: string): StreamedEvent =>
  Object.fromEntries(
    block
      .split('\n')
      .map((line) => line.split(/: (.*)/s).slice(0, 2))
      .filter(([name]) => name === 'id' || name === 'data'),
  ) as StreamedEvent

const open: { close: () => Promise<void> }[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const stream of open.splice(0)) await stream.close()
})

interface StreamOptions {
  query?: string
  token?: string | undefined
  lastEventId?: string | undefined
}

const buildPath = (organization: string, query = '') =>
  `/v1/webhooks/events/stream?organization_id=${organization}${query}`

/** Connects as a client of server-sent events does. */
async function connect(organization: string, { query = '', token, lastEventId }: StreamOptions = {}) {
  const request = buildRequest(buildPath(organization, query), {
    ...(token === undefined ? {} : { token }),
    ...(lastEventId === undefined ? {} : { headers: { 'last-event-id': lastEventId } }),
  })
  const response = await app.fetch(request, env, createExecutionContext())
  expect([response.status, response.ok || (await response.text())]).toEqual([200, true])
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  const received: StreamedEvent[] = []
  const state = { text: '', isOver: false }
  const readOnce = async () => {
    const { value, done } = await reader.read()
    state.isOver = done
    const blocks = (state.text + decoder.decode(value, { stream: true })).split('\n\n')
    state.text = blocks.pop() ?? ''
    received.push(...blocks.map(parseBlock).filter(({ id, data }) => id !== undefined || data !== undefined))
  }
  const listPayloads = () => received.flatMap(({ data }) => data ?? [])
  const stream = {
    headers: response.headers,
    lastEventId: () => received.at(-1)?.id,
    listPayloads,
    /** Reads until the client has an id from which it can resume. */
    async begin() {
      while (received.length === 0 && !state.isOver) await readOnce()
      return stream
    },
    async readPayloads(count: number) {
      while (listPayloads().length < count && !state.isOver) await readOnce()
      return listPayloads()
    },
    async readUntil(isReached: () => boolean) {
      while (!isReached() && !state.isOver) await readOnce()
    },
    async readToEnd() {
      while (!state.isOver) await readOnce()
      return listPayloads()
    },
    close: () => reader.cancel(),
  }
  open.push(stream)
  return stream
}

const listStored = async (organization: string) =>
  (
    await db.all(
      sql<{ payload: string }>`select payload from webhook_events where organization_id = ${organization} order by seq`,
    )
  ).map(({ payload }) => payload)

const countStreams = async (organization: string) =>
  (await db.all(sql`select 1 from webhook_streams where organization_id = ${organization}`)).length

const givenAdmin = async (organization: string) => {
  const account = await seedAccount()
  const member = await seedMember(account, { organization, role: 'admin' })
  return { account, member, ...(await seedToken(account)) }
}

/** Lets the clock of the service run ahead. */
function moveClock() {
  const realNow = Date.now
  let aheadMs = 0
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + aheadMs)
  return (ms: number) => (aheadMs += ms)
}

/** Lets each pause of a stream pass at once, with what happens during it, and returns the pauses. */
function skipPauses(during: () => Promise<unknown> = async () => undefined) {
  const move = moveClock()
  const pauses: number[] = []
  const realTimeout = setTimeout
  vi.spyOn(globalThis, 'setTimeout').mockImplementation((resolve: () => void, ms = 0) => {
    if (ms < 1000 || ms > 5000) return realTimeout(resolve, ms)
    pauses.push(ms)
    move(ms)
    void during().then(resolve)
    return realTimeout(() => undefined, 0)
  })
  return pauses
}

describe('streamWebhookEvents', () => {
  it('sends events while they happen, in the bytes that endpoints receive', async () => {
    const { organization } = await seedPlace()
    await happen({ organization_id: organization })
    const stream = await (await connect(organization)).begin()
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(stream.headers.get('cache-control')).toContain('no-transform')
    expect(stream.listPayloads()).toEqual([])
    await happen({ organization_id: organization }, 3)
    expect(await stream.readPayloads(3)).toEqual((await listStored(organization)).slice(1))
    const { body } = await get(`/v1/webhooks/events?organization_id=${organization}&ordering=-cursor`)
    expect(stream.lastEventId()).toBe(body.results[0].cursor)
  })

  it('resumes by Last-Event-ID without a gap or a repetition, even when the client had no event yet', async () => {
    const { organization } = await seedPlace()
    const first = await (await connect(organization)).begin()
    await first.close()
    await happen({ organization_id: organization }, 2)
    const second = await connect(organization, { lastEventId: first.lastEventId() })
    await second.readPayloads(2)
    await second.close()
    await happen({ organization_id: organization }, 2)
    const third = await connect(organization, { lastEventId: second.lastEventId() })
    await third.readPayloads(2)
    expect([...second.listPayloads(), ...third.listPayloads()]).toEqual(await listStored(organization))
  })

  it('begins after a cursor or at a time, and Last-Event-ID wins', async () => {
    const { organization } = await seedPlace()
    await happen({ organization_id: organization }, 4)
    const stored = await listStored(organization)
    const { body } = await get(`/v1/webhooks/events?organization_id=${organization}`)
    const [one, two] = body.results as { cursor: string; created: string }[]
    const after = await connect(organization, { query: `&after=${one?.cursor}` })
    expect(await after.readPayloads(3)).toEqual(stored.slice(1))
    const both = await connect(organization, { query: `&after=${one?.cursor}`, lastEventId: two?.cursor })
    expect(await both.readPayloads(2)).toEqual(stored.slice(2))
    await after.close()
    await both.close()
    const since = await connect(organization, { query: `&created_after=${one?.created}&kind=purchase.action` })
    expect(await since.readPayloads(4)).toEqual(stored)
  })

  it('sends a long backlog in order', async () => {
    const place = await seedPlace()
    await seedEvents(place, 350)
    const stream = await connect(place.organization, { query: '&created_after=2020-01-01T00:00:00Z' })
    expect(await stream.readPayloads(350)).toEqual(await listStored(place.organization))
  })

  it('sends a role of an edition the events of its editions, and moves its id past all others', async () => {
    const { a, people } = world
    const [one, two] = a.editions
    const stream = await (await connect(a.id, { token: people.EA.token })).begin()
    await seedEvents({ organization: a.id, edition: two.id }, 1)
    await seedEvents({ organization: a.id, edition: null }, 1)
    const [mine] = await seedEvents({ organization: a.id, edition: one.id }, 1)
    await seedEvents({ organization: a.id, edition: null }, 1)
    const last = await db.first(
      sql<{ seq: number }>`select max(seq) as seq from webhook_events where organization_id = ${a.id}`,
    )
    await stream.readUntil(() => stream.lastEventId() === `${a.id}:${last?.seq}`)
    expect(stream.listPayloads()).toEqual([mine?.payload])
  })

  it('refuses other editions, other organisations and roles that may not read payloads', async () => {
    const { a, b, people } = world
    const cases = [
      [
        people.EA.token,
        buildPath(a.id, `&edition_id=${a.editions[1].id}`),
        '400 validation_error: does_not_exist #/edition_id',
      ],
      [people.OA.token, buildPath(b.id), '400 validation_error: does_not_exist #/organization_id'],
      [
        people.OA.token,
        buildPath(a.id, `&edition_id=${b.editions[0].id}`),
        '400 validation_error: does_not_exist #/edition_id',
      ],
      [people.OM.token, buildPath(a.id), '403 permission_denied'],
      [people.EV.token, buildPath(a.id), '403 permission_denied'],
    ] as const
    for (const [token, path, refusal] of cases) expect(describeRefusal(await get(path, token))).toBe(refusal)
  })

  const endings: [string, (admin: Awaited<ReturnType<typeof givenAdmin>>) => Promise<unknown>][] = [
    ['is revoked', ({ id }) => write(sql`update access_tokens set revoked_at = ${Date.now()} where id = ${id}`)],
    ['expires', ({ id }) => write(sql`update access_tokens set expires_at = ${Date.now() - 1} where id = ${id}`)],
    ['loses its member', ({ member }) => write(sql`delete from members where id = ${member}`)],
    ['loses its role', ({ member }) => write(sql`update members set role = 'manager' where id = ${member}`)],
  ]
  it.each(endings)('ends before the next event when its token %s', async (_, endToken) => {
    const { organization } = await seedPlace()
    const admin = await givenAdmin(organization)
    const stream = await (await connect(organization, { token: admin.token })).begin()
    await endToken(admin)
    await happen({ organization_id: organization })
    expect(await stream.readToEnd()).toEqual([])
    expect(await countStreams(organization)).toBe(0)
  })

  it('ends within seconds when its token ends and nothing happens', async () => {
    const { organization } = await seedPlace()
    const move = moveClock()
    const admin = await givenAdmin(organization)
    const stream = await (await connect(organization, { token: admin.token })).begin()
    await write(sql`update access_tokens set revoked_at = ${Date.now()} where id = ${admin.id}`)
    move(16_000)
    expect(await stream.readToEnd()).toEqual([])
  })

  it('ends after 15 minutes, and not before', async () => {
    const { organization } = await seedPlace()
    const move = moveClock()
    const stream = await (await connect(organization)).begin()
    await write(
      sql`update webhook_streams set claimed_until = ${Date.now() + dayMs} where organization_id = ${organization}`,
    )
    move(14 * 60_000)
    await happen({ organization_id: organization })
    expect(await stream.readPayloads(1)).toHaveLength(1)
    move(60_000)
    await happen({ organization_id: organization })
    expect(await stream.readToEnd()).toHaveLength(1)
    const next = await connect(organization, { lastEventId: stream.lastEventId() })
    expect(await next.readPayloads(1)).toEqual((await listStored(organization)).slice(1))
  })

  it('stays open for 15 minutes while nothing happens, and asks less often', async () => {
    const { organization } = await seedPlace()
    const { token } = await givenAdmin(organization)
    const pauses = skipPauses()
    const stream = await connect(organization, { token })
    await stream.readToEnd()
    expect(pauses.slice(0, 6)).toEqual([1000, 2000, 3000, 4000, 5000, 5000])
    expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThanOrEqual(15 * 60_000)
    expect(await countStreams(organization)).toBe(0)
  })

  it('ends before the queries of its invocation are used up, and the next one goes on without a gap', async () => {
    const { organization } = await seedPlace()
    const { token } = await givenAdmin(organization)
    const pauses = skipPauses(() => happen({ organization_id: organization }))
    const stream = await connect(organization, { token })
    const payloads = await stream.readToEnd()
    // A poll with events takes at least four of 1,000 queries.
    expect(payloads.length).toBeLessThan(250)
    expect(payloads.length).toBeGreaterThan(100)
    expect(new Set(pauses)).toEqual(new Set([1000]))
    expect(await countStreams(organization)).toBe(0)
    vi.restoreAllMocks()
    await happen({ organization_id: organization })
    const next = await connect(organization, { lastEventId: stream.lastEventId() })
    const stored = await listStored(organization)
    expect([...payloads, ...(await next.readPayloads(stored.length - payloads.length))]).toEqual(stored)
  })

  it('ends when its claim was lost, so that no more streams are open than the limit allows', async () => {
    const { organization } = await seedPlace()
    const move = moveClock()
    const stream = await (await connect(organization)).begin()
    move(41_000)
    await happen({ organization_id: organization })
    expect(await stream.readToEnd()).toEqual([])
  })

  it('answers 410 to a cursor behind deleted events, and ends when they are deleted before it has sent them', async () => {
    const place = await seedPlace()
    const old = Date.now() - 91 * dayMs
    const stream = await (await connect(place.organization)).begin()
    const start = stream.lastEventId()
    await seedEvents(place, 1, { id: newId('webhook_event', old, Math.random), created_at: old })
    await seedEvents(place, 1)
    await sweepEvents(createContextAt(Date.now()))
    await stream.readToEnd()
    const headers = { 'last-event-id': start ?? '' }
    const reply = await call(buildPath(place.organization), { headers })
    expect(describeRefusal(reply)).toBe('410 events_expired')
    const unknown = await call(buildPath(place.organization), { headers: { 'last-event-id': 'x' } })
    expect([unknown.status, unknown.body.errors[0]]).toEqual([
      400,
      expect.objectContaining({ code: 'invalid_cursor', attr: 'Last-Event-ID' }),
    ])
  })

  it('allows a token three streams, also when many connect at once', async () => {
    const { organization } = await seedPlace()
    const { token } = await givenAdmin(organization)
    const requests = Array.from({ length: 8 }, () =>
      Promise.resolve(app.fetch(buildRequest(buildPath(organization), { token }), env, createExecutionContext())),
    )
    const responses = await Promise.all(requests)
    const refused = responses.filter(({ status }) => status === 429)
    expect([refused.length, await countStreams(organization)]).toEqual([5, 3])
    expect(refused[0]?.headers.get('retry-after')).toBe('40')
    expect(await refused[0]?.json()).toMatchObject({ code: 'too_many_streams' })
    const readers = responses.filter(({ ok }) => ok).map(({ body }) => body!.getReader())
    for (const reader of readers) await reader.read()
    await readers[0]?.cancel()
    const next = await connect(organization, { token })
    for (const reader of readers.slice(1)) await reader.cancel()
    await next.close()
    expect(await countStreams(organization)).toBe(0)
  })

  it('allows an organisation ten streams, and another organisation its own', async () => {
    const [one, other] = [await seedPlace(), await seedPlace()]
    const account = await seedAccount()
    for (const { organization } of [one, other]) await seedMember(account, { organization, role: 'admin' })
    for (let index = 0; index < 10; index++)
      await (await connect(one.organization, { token: (await seedToken(account)).token })).begin()
    const { token } = await seedToken(account)
    const refused = await get(buildPath(one.organization), token)
    expect([refused.status, refused.body.detail]).toEqual([
      429,
      'This organisation has ten streams of events. Close one of them first.',
    ])
    await (await connect(other.organization, { token })).begin()
  })

  it('frees the place of a stream that crashed when its claim is over', async () => {
    const { organization } = await seedPlace()
    const { id, token } = await givenAdmin(organization)
    const seed = (index: number, claimed_until: number) =>
      write(sql`insert into webhook_streams (holder_id, id, organization_id, claimed_until)
        values (${id}, ${`req_${index}`}, ${organization}, ${claimed_until})`)
    for (const index of [1, 2]) await seed(index, Date.now() + 60_000)
    await seed(3, Date.now() - 1)
    await (await connect(organization, { token })).begin()
    expect(describeRefusal(await get(buildPath(organization), token))).toBe('429 too_many_streams')
  })

  it('claims nothing for HEAD', async () => {
    const { organization } = await seedPlace()
    expect((await call(buildPath(organization), { method: 'HEAD' })).status).toBe(200)
    expect(await countStreams(organization)).toBe(0)
  })
})
