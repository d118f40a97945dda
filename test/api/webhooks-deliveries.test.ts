import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/domain/ids.ts'
import { get, post } from '../support/api.ts'
import { readCost } from '../support/cost.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedPlace } from '../support/retention.ts'
import { seedAccount, seedMember, seedToken } from '../support/seeding/members.ts'
import { db, seededAt } from '../support/seeding/rows.ts'
import {
  neverOpen,
  seedDeliveries,
  seedDelivery,
  seedEndpoint,
  type EndpointRow,
  seedOpenEndpoint,
} from '../support/seeding/webhooks.ts'
import { buildDeliveryRow, buildEndpointRow, createQuietClient } from '../support/webhook-rows.ts'
import { buildWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

const token = (who: 'OA' | 'OM' | 'EA' | 'EM') => world.people[who].token
const place = () => ({ organization: world.a.id, edition: world.a.editions[0].id })
const seedOwn = (columns: Partial<EndpointRow> = {}) =>
  seedOpenEndpoint({ organization_id: world.a.id, edition_id: world.a.editions[0].id, ...columns })

/** Seeds the state that the delivery engine would leave, without sending anything. */
const set = (id: string, columns: string) =>
  db.batch([sql`update webhook_deliveries set ${sql.raw(columns)} where id = ${id}`])

describe('listWebhookDeliveries', () => {
  it('returns the fields of the specification, the endpoint and the event', async () => {
    const { id } = await seedOwn()
    const row = await seedDelivery(place(), id, { kind: 'consent.given', next_retry_at: seededAt, status: 'retrying' })
    await set(row.id, `status = 'success'`)
    const { body } = await get(`/v1/webhooks/${id}/deliveries`, token('EM'))
    expect(body.results).toEqual([
      {
        id: row.id,
        endpoint_id: id,
        event_id: row.event_id,
        status: 'success',
        event: 'consent.given',
        attempts: 1,
        response_status_code: 500,
        last_attempt_at: new Date(row.last_attempt_at ?? 0).toISOString(),
        next_retry_at: new Date(seededAt).toISOString(),
        created: new Date(row.created_at).toISOString(),
      },
    ])
  })

  it('lists the deliveries of an edition’s events, for endpoints of the edition and of the organisation', async () => {
    const [one, two] = world.a.editions
    const { id } = await seedEndpoint({ organization: world.a.id, edition: null }, { breaker_until: null })
    const ofOne = await seedDelivery({ organization: world.a.id, edition: one.id }, id)
    const ofTwo = await seedDelivery({ organization: world.a.id, edition: two.id }, id)
    const ids = async (edition: string, who: 'OA' | 'EA' = 'OA') =>
      (await get(`/v1/webhooks/${id}/deliveries?edition_id=${edition}`, token(who))).body.results?.map(
        (item: { id: string }) => item.id,
      )
    expect(await ids(one.id)).toEqual([ofOne.id])
    expect(await ids(two.id)).toEqual([ofTwo.id])
    expect(await ids(world.b.editions[0].id)).toEqual([])
    // An endpoint that has moved keeps its earlier deliveries.
    const moved = await seedOwn()
    const early = await seedDelivery({ organization: world.a.id, edition: two.id }, moved.id)
    const read = (who: 'OA' | 'EA') =>
      get(`/v1/webhooks/${moved.id}/deliveries?edition_id=${two.id}`, token(who)).then(({ body }) =>
        body.results.map((item: { id: string }) => item.id),
      )
    expect(await read('OA')).toEqual([early.id])
    expect(await read('EA')).toEqual([])
  })

  it('leaves out deliveries of an edition that the caller may only view, and so does getWebhookDelivery', async () => {
    const [one, two] = world.a.editions
    const moved = await seedOwn()
    const early = await seedDelivery({ organization: world.a.id, edition: two.id }, moved.id)
    const account = await seedAccount()
    await seedMember(account, { organization: world.a.id, edition: one.id, role: 'admin' })
    await seedMember(account, { organization: world.a.id, edition: two.id, role: 'viewer' })
    const caller = await seedToken(account)
    const path = `/v1/webhooks/${moved.id}/deliveries`
    expect((await get(path, caller.token)).body.count).toBe(0)
    expect((await get(`${path}/${early.id}`, caller.token)).status).toBe(404)
    expect((await post(`${path}/${early.id}/retry`, undefined, caller.token)).status).toBe(404)
  })

  it('filters by status, and by properties of the endpoint', async () => {
    const { id } = await seedOwn()
    const failed = await seedDelivery(place(), id)
    const succeeded = await seedDelivery(place(), id, { status: 'success' })
    const ids = async (query: string) =>
      (await get(`/v1/webhooks/${id}/deliveries?ordering=created&${query}`)).body.results.map(
        (item: { id: string }) => item.id,
      )
    const all = [failed.id, succeeded.id]
    expect((await ids('')).toSorted()).toEqual(all.toSorted())
    expect(await ids('status=failed')).toEqual([failed.id])
    expect(await ids('status=exhausted')).toEqual([])
    for (const query of [
      'is_active=true',
      `edition_id=${place().edition}`,
      `organization_id=${world.a.id}&is_active=1`,
    ])
      expect((await ids(query)).toSorted()).toEqual(all.toSorted())
    for (const query of ['is_active=false', `edition_id=${world.a.editions[1].id}`, `organization_id=${world.b.id}`])
      expect(await ids(query)).toEqual([])
    const unknown = await get(`/v1/webhooks/${id}/deliveries?status=lost`)
    expect([unknown.status, unknown.body.errors[0]]).toEqual([
      400,
      expect.objectContaining({ code: 'invalid_choice', attr: 'status' }),
    ])
  })
})

/** A delivery with these columns for each case, and the filters that find it alone. */
async function seedFilteredDeliveries(endpoint: string) {
  const created_at = Date.parse('2026-04-01T00:00:00Z')
  const others = await seedDeliveries(place(), endpoint, 4, {
    kind: 'consent.given',
    response_status_code: null,
    created_at,
  })
  const one = await seedDelivery(place(), endpoint, {
    kind: 'consent.skipped',
    response_status_code: 503,
    status: 'exhausted',
    created_at: created_at + 1,
  })
  const order = newId('order', created_at, Math.random)
  await db.batch([sql`update webhook_events set resource_ids = ${` ${order} `} where id = ${one.event_id}`])
  return {
    one,
    all: [...others, one].map(({ id }) => id),
    queries: [
      'event=consent.skipped',
      'response_status_code=503',
      'status=exhausted',
      'created_after=2026-04-01T00:00:00.001Z',
      `resource_id=${order}`,
      `resource_id=${order}&ordering=-modified&event=consent.skipped&response_status_code=503`,
    ],
    before: 'created_before=2026-04-01T00:00:00.001Z',
  }
}

describe('listWebhookDeliveries with a filter', () => {
  it('finds deliveries by event, status code, time and resource', async () => {
    const { id } = await seedOwn()
    const { one, all, queries, before } = await seedFilteredDeliveries(id)
    const ids = async (query: string) =>
      (await get(`/v1/webhooks/${id}/deliveries?${query}`, token('EM'))).body.results.map(
        (item: { id: string }) => item.id,
      )
    for (const query of queries) expect([query, await ids(query)]).toEqual([query, [one.id]])
    expect((await ids(before)).toSorted()).toEqual(all.filter((other) => other !== one.id).toSorted())
    for (const query of ['response_status_code=99', 'response_status_code=5xx', 'event=order.lost'])
      expect([query, (await get(`/v1/webhooks/${id}/deliveries?${query}`)).status]).toEqual([query, 400])
    expect(await ids(`resource_id=${newId('order', 0, Math.random)}`)).toEqual([])
  })
})

describe('listOrganizationWebhookDeliveries', () => {
  const read = async (query: string, who: 'OA' | 'OM' | 'EA' | 'EM' = 'OM') => {
    const { status, body } = await get(`/v1/webhooks/deliveries?${query}`, token(who))
    expect([query, status]).toEqual([query, 200])
    return (body.results as { id: string }[]).map(({ id }) => id)
  }

  it('lists the deliveries of all endpoints, newest first, and says whose they are', async () => {
    const { organization, edition } = await seedPlace()
    const endpoints = [
      await seedEndpoint({ organization, edition }),
      await seedEndpoint({ organization, edition: null }),
    ]
    const rows = []
    for (const index of [0, 1, 2, 3, 4])
      rows.push(
        await seedDelivery({ organization, edition }, endpoints[index % 2]?.id ?? '', { created_at: seededAt + index }),
      )
    const path = `/v1/webhooks/deliveries?organization_id=${organization}`
    const { body } = await get(path)
    expect([
      body.count,
      body.results.map((item: { id: string; endpoint_id: string }) => [item.id, item.endpoint_id]),
    ]).toEqual([5, rows.toReversed().map(({ id, endpoint_id }) => [id, endpoint_id])])
    const { body: first } = await get(`${path}&page_size=2`)
    const next = new URL(first.next)
    const second = await get(next.pathname + next.search)
    expect(second.body.results.map(({ id }: { id: string }) => id)).toEqual([rows[2]?.id, rows[1]?.id])
  })

  it('finds deliveries by each filter', async () => {
    const { id } = await seedOwn()
    const { one, all, queries, before } = await seedFilteredDeliveries(id)
    await seedDelivery(place(), (await seedOwn()).id)
    for (const query of queries) {
      const filters = `${query}&organization_id=${world.a.id}&endpoint_id=${id}`
      expect([query, await read(filters)]).toEqual([query, [one.id]])
    }
    const [byResource] = queries.filter((query) => query.startsWith('resource_id'))
    expect(await read(byResource ?? '')).toEqual([one.id])
    expect((await read(`endpoint_id=${id}&${before}`)).toSorted()).toEqual(
      all.filter((other) => other !== one.id).toSorted(),
    )
    expect(await read(`endpoint_id=${id}&edition_id=${world.a.editions[1].id}`)).toEqual([])
  })

  it('shows a role of an edition deliveries of its events to endpoints that it sees', async () => {
    const [one, two] = world.a.editions
    const seed = async (endpointEdition: string | null, edition: string | null) => {
      const endpoint = await seedEndpoint({ organization: world.a.id, edition: endpointEdition })
      return (await seedDelivery({ organization: world.a.id, edition }, endpoint.id)).id
    }
    const mine = await seed(one.id, one.id)
    const hidden = [
      await seed(one.id, two.id),
      await seed(one.id, null),
      await seed(two.id, one.id),
      await seed(null, one.id),
      await seed(null, null),
    ]
    const query = `organization_id=${world.a.id}&page_size=500`
    const seen = await read(query, 'EM')
    expect([seen.includes(mine), hidden.filter((id) => seen.includes(id))]).toEqual([true, []])
    expect(await read(query, 'OM')).toEqual(expect.arrayContaining([mine, ...hidden]))
    expect(await read(`organization_id=${world.b.id}`, 'OA')).toEqual([])
    expect(await read(`endpoint_id=${world.b.editions[0].webhook}`, 'OA')).toEqual([])
    const foreign = `organization_id=${world.a.id}&endpoint_id=${world.a.editions[1].webhook}`
    expect(await read(foreign, 'EA')).toEqual([])
    const { status, body } = await get('/v1/webhooks/deliveries')
    expect([status, body.errors[0]]).toMatchObject([400, { attr: 'organization_id', code: 'required' }])
  })

  it('reads only deliveries about a resource to find them', async () => {
    const { organization, edition } = await seedPlace()
    const endpoint = await seedEndpoint({ organization, edition })
    await seedDeliveries({ organization, edition }, endpoint.id, 300)
    const { body } = await get(`/v1/webhooks/events?organization_id=${organization}&page_size=1`)
    await db.batch([sql`update webhook_events set resource_ids = ' ord_1 ' where id = ${body.results[0].id}`])
    const reply = await get(`/v1/webhooks/deliveries?organization_id=${organization}&resource_id=ord_1`)
    expect(reply.body.count).toBe(1)
    // Both statements read the index of events once.
    expect(readCost(reply).rows_read).toBeLessThan(2 * 300 + 50)
  })
})

describe('getWebhookDelivery', () => {
  it('returns the exact payload, its signature and the result of each attempt', async () => {
    const { id } = await seedOwn()
    const row = await seedDelivery(place(), id, { attempts: 2 })
    await db.batch([
      sql`insert into webhook_attempts (delivery_id, number, started_at, duration_ms, status_code, error, is_manual)
        values (${row.id}, 2, ${seededAt + 9000}, 15000, null, 'timeout', 1)`,
      sql`update webhook_attempts set response_text = 'unknown "topic"' where delivery_id = ${row.id} and number = 1`,
    ])
    const { body } = await get(`/v1/webhooks/${id}/deliveries/${row.id}`, token('EA'))
    const event = await db.first(
      sql<{ payload: string }>`select payload from webhook_events where id = ${row.event_id}`,
    )
    expect(body).toMatchObject({
      endpoint_id: id,
      event_id: row.event_id,
      payload: event?.payload,
      signature: row.signature,
      signed_at: new Date(row.signed_at ?? 0).toISOString(),
      attempt_log: [
        {
          number: 1,
          status_code: 500,
          error: 'http_error',
          is_manual: false,
          next_reason: 'schedule',
          response_text: 'unknown "topic"',
        },
        {
          number: 2,
          started_at: new Date(seededAt + 9000).toISOString(),
          duration_ms: 15_000,
          status_code: null,
          error: 'timeout',
          is_manual: true,
          next_retry_at: null,
          next_reason: null,
          response_text: null,
        },
      ],
    })
  })

  it('has an empty signature before the first attempt', async () => {
    const { id } = await seedOwn()
    const row = await seedDelivery(place(), id, { status: 'success', signature: null, signed_at: null })
    const { body } = await get(`/v1/webhooks/${id}/deliveries/${row.id}`)
    expect([body.signature, body.signed_at]).toEqual(['', null])
  })

  it('requires an admin, and returns a delivery only under its own endpoint', async () => {
    const [mine, other] = [await seedOwn(), await seedOwn()]
    const row = await seedDelivery(place(), mine.id)
    expect((await get(`/v1/webhooks/${mine.id}/deliveries/${row.id}`, token('OM'))).status).toBe(403)
    expect((await get(`/v1/webhooks/${other.id}/deliveries/${row.id}`, token('OA'))).status).toBe(404)
  })

  it('returns the latest hundred attempts', async () => {
    const { id } = await seedOwn()
    const row = await seedDelivery(place(), id)
    const numbers = JSON.stringify(Array.from({ length: 149 }, (_, index) => index + 2))
    await db.batch([
      sql`insert into webhook_attempts (delivery_id, number, started_at, duration_ms, is_manual)
        select ${row.id}, value, ${seededAt}, 1, 1 from json_each(${numbers})`,
    ])
    const { body } = await get(`/v1/webhooks/${id}/deliveries/${row.id}`)
    expect(body.attempt_log.map(({ number }: { number: number }) => number)).toEqual(
      Array.from({ length: 100 }, (_, index) => 51 + index),
    )
  })
})

describe('retryWebhookDelivery', () => {
  it('makes one more attempt at once for a delivery that has ended', async () => {
    for (const status of ['failed', 'exhausted'] as const) {
      const { send, enqueued } = createQuietClient()
      const endpoint = await seedOwn()
      const row = await seedDelivery(place(), endpoint.id, { status })
      const path = `/v1/webhooks/${endpoint.id}/deliveries/${row.id}/retry`
      const before = Date.now()
      const reply = await send(path, { method: 'POST', token: token('EA') })
      expect(reply.body).toMatchObject({ id: row.id, status: 'retrying', attempts: 1 })
      expect(Date.parse(reply.body.next_retry_at)).toBeGreaterThanOrEqual(before)
      expect(await buildDeliveryRow(row.id)).toMatchObject({
        status: 'retrying',
        manual: 'alone',
        step: 1,
        attempts: 1,
      })
      expect((await buildDeliveryRow(row.id))?.next_retry_at).toBe(Date.parse(reply.body.next_retry_at))
      expect(enqueued).toEqual([{ endpoint_id: endpoint.id, delaySeconds: 0 }])
      const deliveryReply = await get(`/v1/webhooks/${endpoint.id}/deliveries/${row.id}`)
      expect(deliveryReply.text).toBe(reply.text)
    }
  })

  it('makes an extra attempt for a delivery that is retrying', async () => {
    const { send, enqueued } = createQuietClient()
    const endpoint = await seedOwn({ is_slow: true })
    const row = await seedDelivery(place(), endpoint.id, { status: 'retrying', next_retry_at: neverOpen, step: 3 })
    await send(`/v1/webhooks/${endpoint.id}/deliveries/${row.id}/retry`, { method: 'POST' })
    expect(await buildDeliveryRow(row.id)).toMatchObject({ status: 'retrying', manual: 'extra', step: 3 })
    expect((await buildDeliveryRow(row.id))?.next_retry_at).toBeLessThanOrEqual(Date.now())
    expect(enqueued).toEqual([{ endpoint_id: endpoint.id, delaySeconds: 0 }])
  })

  it('makes its attempt at once, even while the breaker is open', async () => {
    const { send, enqueued } = createQuietClient()
    const endpoint = await seedOwn({ breaker_until: neverOpen })
    const ended = await seedDelivery(place(), endpoint.id)
    const waiting = await seedDelivery(place(), endpoint.id, { status: 'retrying', next_retry_at: neverOpen })
    for (const row of [ended, waiting]) {
      const { body } = await send(`/v1/webhooks/${endpoint.id}/deliveries/${row.id}/retry`, { method: 'POST' })
      expect(Date.parse(body.next_retry_at)).toBeLessThanOrEqual(Date.now())
    }
    const now = { endpoint_id: endpoint.id, delaySeconds: 0 }
    expect(enqueued).toEqual([now, now])
    expect((await buildEndpointRow(endpoint.id))?.breaker_until).toBe(neverOpen)
  })

  it('is refused for a delivery that succeeded, is under way, or has no active endpoint', async () => {
    const { send, enqueued } = createQuietClient()
    const on = await seedOwn()
    const off = await seedOwn({ is_active: false })
    const later = Date.now() + 60_000
    const cases: [{ id: string }, Parameters<typeof seedDelivery>[2], string, string[]][] = [
      [on, { status: 'success' }, 'delivery_already_succeeded', []],
      [off, { status: 'success' }, 'delivery_already_succeeded', []],
      [
        on,
        { status: 'pending', next_retry_at: later },
        'delivery_in_progress',
        ['success', 'retrying', 'failed', 'exhausted'],
      ],
      [
        on,
        { status: 'retrying', claimed_until: later, next_retry_at: later },
        'delivery_in_progress',
        ['success', 'failed', 'exhausted'],
      ],
      [
        on,
        { status: 'retrying', manual: 'alone', next_retry_at: later },
        'delivery_in_progress',
        ['success', 'failed', 'exhausted'],
      ],
      [off, { status: 'failed' }, 'endpoint_inactive', ['retrying']],
    ]
    for (const [endpoint, columns = {}, code, allowed] of cases) {
      const row = await seedDelivery(place(), endpoint.id, columns)
      const reply = await send(`/v1/webhooks/${endpoint.id}/deliveries/${row.id}/retry`, { method: 'POST' })
      expect(describeRefusal(reply)).toBe(`409 ${code}`)
      expect(reply.body).toMatchObject({ current_status: columns.status, allowed_transitions: allowed })
      expect(await buildDeliveryRow(row.id)).toEqual(row)
    }
    expect(enqueued).toEqual([])
  })

  it('makes one attempt for many simultaneous requests', async () => {
    const { send } = createQuietClient()
    const { id } = await seedOwn()
    const row = await seedDelivery(place(), id, { status: 'exhausted' })
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => send(`/v1/webhooks/${id}/deliveries/${row.id}/retry`, { method: 'POST' })),
    )
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const reply of replies.filter(({ status }) => status !== 200))
      expect(describeRefusal(reply)).toBe('409 delivery_in_progress')
    expect(await buildDeliveryRow(row.id)).toMatchObject({ manual: 'alone' })
  })
})
