import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/domain/ids.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { exampleData } from '../../src/modules/webhooks/events/example-contract.ts'
import { listWebhookEvents } from '../../src/modules/webhooks/events/list.ts'
import { announce } from '../../src/modules/webhooks/index.ts'
import { sweepEvents } from '../../src/modules/webhooks/jobs.ts'
import { get, post } from '../support/api.ts'
import { createContextAt } from '../support/context.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedPlace } from '../support/retention.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedDelivery, seedEndpoint, seedEvents, seedOpenEndpoint } from '../support/seeding/webhooks.ts'
import { createQuietClient } from '../support/webhook-rows.ts'
import { happen } from '../support/webhooks.ts'
import { buildWorld, type Who, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

interface EventItem {
  id: string
  kind: string
  edition_id: string | null
  cursor: string
  payload: string
}

const now = Date.now()
const old = now - 91 * dayMs
const buildPath = (organization: string, query = '') => `/v1/webhooks/events?organization_id=${organization}${query}`

async function read(organization: string, query = '', token?: string): Promise<EventItem[]> {
  const reply = await get(buildPath(organization, query), token)
  expect([reply.status, reply.status === 200 || reply.text]).toEqual([200, true])
  return reply.body.results
}

const listIds = async (...request: Parameters<typeof read>) => (await read(...request)).map(({ id }) => id)

const seedOldEvents = async (place: { organization: string; edition: string | null }, count: number, at = old) => {
  for (let index = 0; index < count; index++)
    await seedEvents(place, 1, { id: newId('webhook_event', at, Math.random), created_at: at })
}

describe('listWebhookEvents', () => {
  it('has every event in the bytes that endpoints receive, whether anyone subscribes to it or not', async () => {
    const { organization, edition } = await seedPlace()
    await happen({ organization_id: organization, edition_id: edition }, 2)
    const endpoint = await seedEndpoint({ organization, edition: null })
    await happen({ organization_id: organization })
    const events = await read(organization)
    expect(events.map(({ edition_id }) => edition_id)).toEqual([edition, edition, null])
    const stored = await db.all(sql<{ id: string; payload: string; created_at: number }>`select id, payload, created_at
      from webhook_events where organization_id = ${organization} order by seq`)
    expect(events).toEqual(
      stored.map(({ id, payload, created_at }, index) => ({
        id,
        kind: 'purchase.action',
        organization_id: organization,
        edition_id: index < 2 ? edition : null,
        created: new Date(created_at).toISOString(),
        cursor: expect.stringMatching(/^org_\w+:\d+$/),
        payload,
      })),
    )
    const [delivery] = (await get(`/v1/webhooks/${endpoint.id}/deliveries`)).body.results
    const { body } = await get(`/v1/webhooks/${endpoint.id}/deliveries/${delivery.id}`)
    expect([body.event_id, body.payload]).toEqual([events[2]?.id, events[2]?.payload])
  })

  it('continues after a cursor, and has late commits of earlier ids there', async () => {
    const { organization, edition } = await seedPlace()
    const buildAt = (at: number) =>
      announce(createContextAt(at), {
        kind: 'consent.given',
        organization_id: organization,
        edition_id: edition,
        data: exampleData['consent.given'],
      })
    const slow = buildAt(now - 60_000)
    await write(...buildAt(now))
    const [first] = await read(organization)
    expect(await read(organization, `&after=${first?.cursor}`)).toEqual([])
    await write(...slow)
    const next = await read(organization, `&after=${first?.cursor}`)
    expect(next).toHaveLength(1)
    expect([(next[0]?.id ?? '') < (first?.id ?? ''), (await read(organization)).map(({ id }) => id)]).toEqual([
      true,
      [first?.id, next[0]?.id],
    ])
    expect(await listIds(organization, '&ordering=-cursor')).toEqual([next[0]?.id, first?.id])
    const { body } = await get(buildPath(organization, '&page_size=1'))
    expect([body.count, body.results[0].id]).toEqual([2, first?.id])
  })

  it('numbers the events of one transaction, of several organisations too', async () => {
    const [one, other] = [await seedPlace(), await seedPlace()]
    const places = [one, other, one, other, one]
    const ctx = createContextAt(now)
    const statements = places.flatMap(({ organization, edition }) =>
      announce(ctx, {
        kind: 'consent.given',
        organization_id: organization,
        edition_id: edition,
        data: exampleData['consent.given'],
      }),
    )
    await write(...statements)
    await seedEvents(one, 3)
    const seqs = await db.all(sql<{ organization_id: string; seq: number }>`select organization_id, seq
      from webhook_events where organization_id in (${one.organization}, ${other.organization}) order by seq`)
    expect(new Set(seqs.map(({ organization_id, seq }) => `${organization_id} ${seq}`)).size).toBe(8)
    expect(await read(one.organization)).toHaveLength(6)
    expect(await read(other.organization)).toHaveLength(2)
  })

  it('filters by kinds, edition, time and resource', async () => {
    const { organization, edition } = await seedPlace()
    const place = { organization, edition }
    const [early, late] = ['2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z']
    const order = newId('order', now, Math.random)
    const [given] = await seedEvents(place, 1, { kind: 'consent.given', created_at: Date.parse(early) })
    const [skipped] = await seedEvents({ organization, edition: null }, 1, {
      kind: 'consent.skipped',
      created_at: Date.parse(late),
    })
    const [sold] = await seedEvents(place, 1, { kind: 'purchase.action', created_at: Date.parse(late) + 1 })
    await write(sql`update webhook_events set resource_ids = ${` pur_1  ${order} `} where id = ${sold?.id ?? ''}`)
    const cases: [string, (typeof given)[]][] = [
      ['&kind=consent.given', [given]],
      ['&kind=consent.given,purchase.action', [given, sold]],
      [`&edition_id=${edition}`, [given, sold]],
      [`&created_after=${late}`, [skipped, sold]],
      [`&created_before=${late}`, [given]],
      [`&resource_id=${order}`, [sold]],
      [`&resource_id=${order.slice(0, -1)}`, []],
      [`&resource_id=ord_%25`, []],
      [`&edition_id=${edition}&kind=purchase.action&created_after=${early}`, [sold]],
    ]
    for (const [query, events] of cases)
      expect([query, await listIds(organization, query)]).toEqual([query, events.map((event) => event?.id)])
    expect(describeRefusal(await get(buildPath(organization, '&kind=consent.lost')))).toBe(
      '400 validation_error: invalid_choice null',
    )
  })

  it('finds an event by each resource that its data name', async () => {
    const { organization, edition } = await seedPlace()
    await write(
      ...announce(createContextAt(now), {
        kind: 'purchase.action',
        organization_id: organization,
        edition_id: edition,
        data: exampleData['purchase.action'],
      }),
    )
    const { purchase, order, user } = exampleData['purchase.action']
    for (const id of [purchase.id, order.id, user.api_id])
      expect([id, (await read(organization, `&resource_id=${id}`)).length]).toEqual([id, 1])
  })

  it('shows a role of an edition the events of its editions, and none without an edition or of others', async () => {
    const { a, b, people } = world
    const [one, two] = a.editions
    const mine = await seedEvents({ organization: a.id, edition: one.id }, 2)
    const others = [
      ...(await seedEvents({ organization: a.id, edition: two.id }, 1)),
      ...(await seedEvents({ organization: a.id, edition: null }, 1)),
    ]
    await seedEvents({ organization: b.id, edition: b.editions[0].id }, 1)
    const seen = await read(a.id, '&page_size=500', people.EA.token)
    expect(new Set(seen.map(({ edition_id }) => edition_id))).toEqual(new Set([one.id]))
    expect(seen.map(({ id }) => id)).toEqual(expect.arrayContaining(mine.map(({ id }) => id)))
    expect(await listIds(a.id, `&edition_id=${two.id}`, people.EA.token)).toEqual([])
    expect(await listIds(b.id, '', people.EA.token)).toEqual([])
    expect(await listIds(b.id, '', people.OA.token)).toEqual([])
    const all = await listIds(a.id, '&page_size=500', people.OA.token)
    expect(all).toEqual(expect.arrayContaining([...mine, ...others].map(({ id }) => id)))
    for (const who of ['OM', 'OV', 'EM', 'EV'] satisfies Who[])
      expect(describeRefusal(await get(buildPath(a.id), people[who].token))).toBe('403 permission_denied')
  })

  it('needs no organisation of a caller who has only one', async () => {
    const { people } = world
    expect((await get('/v1/webhooks/events', people.EA.token)).body.count).toBeGreaterThan(0)
    const reply = await get('/v1/webhooks/events')
    expect(reply.body.errors[0]).toMatchObject({ attr: 'organization_id', code: 'required' })
  })

  it('leaves out the examples that test an endpoint', async () => {
    const endpoint = await seedOpenEndpoint()
    const { post: send } = createQuietClient()
    expect((await send(`/v1/webhooks/${endpoint.id}/test`, { event: 'purchase.action' })).status).toBe(201)
    expect(await read(endpoint.organization_id)).toEqual([])
  })

  it('answers 410 to a cursor behind deleted events, and to no other organisation', async () => {
    const [place, quiet] = [await seedPlace(), await seedPlace()]
    await seedOldEvents(place, 3)
    await seedEvents(place, 2, { created_at: now })
    await seedEvents(quiet, 1)
    const [oldest, second, third] = await read(place.organization)
    const [quietEvent] = await read(quiet.organization)
    await sweepEvents(createContextAt(now))
    for (const event of [oldest, second]) {
      const reply = await get(buildPath(place.organization, `&after=${event?.cursor}`))
      expect(describeRefusal(reply)).toBe('410 events_expired')
    }
    expect(await read(place.organization, `&after=${third?.cursor}`)).toHaveLength(2)
    expect(await read(place.organization)).toHaveLength(2)
    expect(await read(quiet.organization, `&after=${quietEvent?.cursor}`)).toEqual([])
    const hidden = await get(buildPath(place.organization, `&after=${oldest?.cursor}`), world.people.OA.token)
    expect([hidden.status, hidden.body.results]).toEqual([200, []])
  })

  it('answers 410 when events are deleted while a client walks from page to page', async () => {
    const place = await seedPlace()
    await seedOldEvents(place, 4)
    await seedEvents(place, 1, { created_at: now })
    const first = await get(buildPath(place.organization, '&page_size=1'))
    await sweepEvents(createContextAt(now))
    const next = new URL(first.body.next)
    expect(describeRefusal(await get(next.pathname + next.search))).toBe('410 events_expired')
  })

  it('counts on after all events were deleted, so that a client that waits misses nothing', async () => {
    const place = await seedPlace()
    await seedOldEvents(place, 3)
    const last = (await read(place.organization)).at(-1)
    await sweepEvents(createContextAt(now))
    expect(await read(place.organization, `&after=${last?.cursor}`)).toEqual([])
    const [next] = await seedEvents(place, 1, { created_at: now })
    expect(await listIds(place.organization, `&after=${last?.cursor}`)).toEqual([next?.id])
  })

  it('hides events before a deleted one, although their deliveries keep them', async () => {
    const place = await seedPlace()
    const endpoint = await seedEndpoint(place)
    const event_id = newId('webhook_event', old, Math.random)
    await seedDelivery(place, endpoint.id, { event_id, status: 'retrying', created_at: old })
    await seedOldEvents(place, 1)
    const [next] = await seedEvents(place, 1, { created_at: now })
    await sweepEvents(createContextAt(now))
    expect(await db.all(sql`select 1 from webhook_events where id = ${event_id}`)).toHaveLength(1)
    expect(await listIds(place.organization)).toEqual([next?.id])
  })

  it('refuses a cursor of another organisation and texts that are none', async () => {
    const [one, other] = [await seedPlace(), await seedPlace()]
    await seedEvents(other, 1)
    const [event] = await read(other.organization)
    for (const cursor of [
      event?.cursor,
      'x',
      `${one.organization}:`,
      `${one.organization}:1e3`,
      `${one.organization}:01`,
    ]) {
      const { status, body } = await get(buildPath(one.organization, `&after=${cursor}`))
      expect([cursor, status, body.errors?.[0].code, body.errors?.[0].attr]).toEqual([
        cursor,
        400,
        'invalid_cursor',
        'after',
      ])
    }
  })

  it('reads no more for the newest events of a long list than of a short one', async () => {
    const place = await seedPlace()
    const other = await seedPlace()
    await seedEvents(place, 600)
    await seedEvents(other, 600)
    const cursor = (await read(place.organization, '&ordering=-cursor&page_size=1'))[0]?.cursor
    await seedEvents(place, 2)
    const ctx = createContextAt(now)
    const query = { ordering: [], organization_id: place.organization, after: cursor }
    const page = await listWebhookEvents(ctx, { page: 1, size: 100, after: null }, query)
    expect([page.rows.length, page.count]).toEqual([2, 2])
    expect(ctx.db.meter.rows_read).toBeLessThan(20)
  })
})

it('an event announced by a request is in the list at once', async () => {
  const { a, people } = world
  const purchase = a.editions[0].purchase
  const before = (await read(a.id, '&ordering=-cursor&page_size=1', people.OA.token))[0]?.cursor
  expect((await post(`/v1/purchases/${purchase}/uses`, {}, people.OA.token)).status).toBe(201)
  const events = await read(a.id, `&after=${before}&resource_id=${purchase}`, people.OA.token)
  expect(events.map(({ payload }) => JSON.parse(payload).data.action)).toEqual(['used'])
})
