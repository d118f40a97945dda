import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { get, patch, post, remove } from '../support/api.ts'
import { seedMember } from '../support/seeding/members.ts'
import { db } from '../support/seeding/rows.ts'
import { neverOpen, seedDelivery, seedEndpoint } from '../support/seeding/webhooks.ts'
import { loadDeliveries, buildDeliveryRow, buildEndpointRow, createQuietClient } from '../support/webhook-rows.ts'
import { buildWorld, seedPerson, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

const token = (who: 'OA' | 'OM' | 'EA') => world.people[who].token
const inEdition = () => ({ organization: world.a.id, edition: world.a.editions[0].id })

describe('updateWebhook', () => {
  it('changes the fields of the body and no others', async () => {
    const endpoint = await seedEndpoint(inEdition(), { timeout_seconds: 7 })
    const path = `/v1/webhooks/${endpoint.id}`
    const reply = await patch(path, { name: ' Lager ', events: ['consent.given'] }, token('EA'))
    expect(reply.body).toMatchObject({
      name: 'Lager',
      events: ['consent.given'],
      url: endpoint.url,
      timeout_seconds: 7,
      is_active: true,
      secret: endpoint.secret,
    })
    expect(reply.body.modified > reply.body.created).toBe(true)
    expect((await get(path, token('EA'))).text).toBe(reply.text)
    expect(await buildEndpointRow(endpoint.id)).toMatchObject({ version: 2, secret: endpoint.secret })
  })

  it('refuses what createWebhook refuses', async () => {
    const { id } = await seedEndpoint(inEdition())
    const cases: [Record<string, unknown>, string, string][] = [
      [{ url: 'https://10.0.0.1/' }, 'forbidden_destination', '#/url'],
      [{ url: 'nowhere' }, 'malformed_url', '#/url'],
      [{ events: ['consent.given', 'consent.given'] }, 'duplicate', '#/events/1'],
      [{ events: [] }, 'min_items', '#/events'],
      [{ name: '' }, 'blank', '#/name'],
      [{ name: null }, 'null', '#/name'],
      [{ is_active: 'yes' }, 'invalid_type', '#/is_active'],
      [{ edition_id: world.b.editions[0].id }, 'does_not_exist', '#/edition_id'],
    ]
    for (const [change, code, pointer] of cases) {
      const reply = await patch(`/v1/webhooks/${id}`, change)
      expect([reply.status, reply.body.errors]).toEqual([400, [expect.objectContaining({ code, pointer })]])
    }
    expect(await buildEndpointRow(id)).toMatchObject({ version: 1 })
  })

  it('fails waiting deliveries when the endpoint is disabled, once', async () => {
    const endpoint = await seedEndpoint(inEdition())
    const seed = (columns: Parameters<typeof seedDelivery>[2]) => seedDelivery(inEdition(), endpoint.id, columns)
    const waiting = await seed({ status: 'retrying', next_retry_at: 5, manual: 'extra' })
    const claimed = await seed({ status: 'pending', next_retry_at: 5, claimed_until: 9 })
    const succeeded = await seed({ status: 'success' })
    const path = `/v1/webhooks/${endpoint.id}`
    const off = await patch(path, { is_active: false })
    expect(off.body).toMatchObject({ is_active: false, disabled_reason: 'manual', disabled_at: off.body.modified })
    const ended = { status: 'failed', next_retry_at: null, claimed_until: null, manual: null }
    expect(await buildDeliveryRow(waiting.id)).toMatchObject(ended)
    expect(await buildDeliveryRow(claimed.id)).toMatchObject(ended)
    expect(await buildDeliveryRow(succeeded.id)).toMatchObject({ status: 'success' })
    const secondReply = await patch(path, { is_active: false, name: 'Still off' })
    expect(secondReply.body.disabled_at).toBe(off.body.disabled_at)
  })

  it('resets the state of an endpoint that is enabled again, and its failed deliveries stay failed', async () => {
    const endpoint = await seedEndpoint(inEdition(), { failures_in_row: 3, failing_since: 1 })
    const waiting = await seedDelivery(inEdition(), endpoint.id, { status: 'retrying', next_retry_at: 5 })
    const path = `/v1/webhooks/${endpoint.id}`
    await patch(path, { is_active: false })
    const on = await patch(path, { is_active: true })
    expect(on.body).toMatchObject({ is_active: true, disabled_at: null, disabled_reason: null, failing_since: null })
    expect(await buildEndpointRow(endpoint.id)).toMatchObject({
      failures_in_row: 0,
      failing_since: null,
      breaker_until: null,
    })
    expect(await buildDeliveryRow(waiting.id)).toMatchObject({ status: 'failed' })
  })

  it.each([
    ['another address', { url: 'https://moved.example.com/events' }, {}],
    ['being switched on', { is_active: true }, { is_active: false }],
  ])('closes the breaker by %s, and makes the waiting deliveries due', async (_, change, columns) => {
    const { send, enqueued } = createQuietClient()
    const state = { failures_in_row: 9, failing_since: 1, is_slow: true, ...columns }
    const endpoint = await seedEndpoint(inEdition(), state)
    const open = { status: 'retrying' as const }
    const waiting = await seedDelivery(inEdition(), endpoint.id, { ...open, next_retry_at: neverOpen })
    const planned = await seedDelivery(inEdition(), endpoint.id, { ...open, next_retry_at: neverOpen + 5 })
    const other = await seedEndpoint(inEdition(), state)
    const others = await seedDelivery(inEdition(), other.id, { ...open, next_retry_at: neverOpen })
    const closed = { failures_in_row: 0, failing_since: null, breaker_until: null, is_slow: 0 }
    const path = `/v1/webhooks/${endpoint.id}`
    await send(path, { method: 'PATCH', body: { name: 'Same', url: endpoint.url } })
    expect(await buildEndpointRow(endpoint.id)).toMatchObject({
      failures_in_row: 9,
      breaker_until: neverOpen,
      is_slow: 1,
    })
    expect(enqueued).toEqual([])
    expect((await send(path, { method: 'PATCH', body: change })).status).toBe(200)
    expect(await buildEndpointRow(endpoint.id)).toMatchObject(closed)
    expect((await buildDeliveryRow(waiting.id))?.next_retry_at).toBeLessThanOrEqual(Date.now())
    expect(enqueued).toEqual([{ endpoint_id: endpoint.id, delaySeconds: 0 }])
    expect((await buildDeliveryRow(planned.id))?.next_retry_at).toBe(neverOpen + 5)
    expect((await buildDeliveryRow(others.id))?.next_retry_at).toBe(neverOpen)
    expect(await buildEndpointRow(other.id)).toMatchObject({ failures_in_row: 9, breaker_until: neverOpen })
  })

  it('keeps the reason why the endpoint was disabled', async () => {
    const { id } = await seedEndpoint(inEdition(), { is_active: false, disabled_at: 1000, disabled_reason: 'failing' })
    expect((await patch(`/v1/webhooks/${id}`, { is_active: false })).body.disabled_reason).toBe('failing')
  })

  it('moves an endpoint only for callers who may manage endpoints at both places', async () => {
    const { id } = await seedEndpoint(inEdition())
    const path = `/v1/webhooks/${id}`
    const [first, second] = world.a.editions
    const away = await patch(path, { edition_id: second.id }, token('EA'))
    expect([away.status, away.body.errors[0]]).toEqual([400, expect.objectContaining({ code: 'does_not_exist' })])
    const up = await patch(path, { edition_id: null }, token('EA'))
    expect([up.status, up.body.required_roles]).toEqual([403, ['OA', 'EA']])
    expect((await patch(path, { edition_id: first.id }, token('EA'))).status).toBe(200)
    const [half, both] = [await seedPerson('EA', world.a), await seedPerson('EA', world.a)]
    await seedMember(half.account, { organization: world.a.id, edition: second.id, role: 'manager' })
    await seedMember(both.account, { organization: world.a.id, edition: second.id, role: 'admin' })
    expect((await patch(path, { edition_id: second.id }, half.token)).status).toBe(403)
    expect((await patch(path, { edition_id: second.id }, both.token)).body.edition_id).toBe(second.id)
    expect((await get(path, token('EA'))).status).toBe(404)
    expect((await patch(path, { edition_id: null }, token('OA'))).body.edition_id).toBeNull()
    expect((await get(path, both.token)).status).toBe(404)
  })

  it('shows deliveries of the former place only to roles of the organisation', async () => {
    const [first, second] = world.a.editions
    const endpoint = await seedEndpoint({ organization: world.a.id, edition: second.id })
    const theirs = await seedDelivery({ organization: world.a.id, edition: second.id }, endpoint.id)
    await patch(`/v1/webhooks/${endpoint.id}`, { edition_id: first.id })
    const mine = await seedDelivery(inEdition(), endpoint.id)
    const path = `/v1/webhooks/${endpoint.id}/deliveries`
    const ids = async (who: 'OA' | 'EA') =>
      (await get(path, token(who))).body.results.map(({ id }: { id: string }) => id).toSorted()
    expect(await ids('EA')).toEqual([mine.id])
    expect(await ids('OA')).toEqual([mine.id, theirs.id].toSorted())
    expect((await get(`${path}/${theirs.id}`, token('EA'))).status).toBe(404)
    const recovered = await post(`/v1/webhooks/${endpoint.id}/recover`, { since: '2020-01-01T00:00:00Z' }, token('EA'))
    expect(recovered.body).toMatchObject({ recovered: 1, waiting: 0 })
    expect(await buildDeliveryRow(theirs.id)).toMatchObject({ status: 'failed' })
  })

  it('keeps all of several simultaneous changes', async () => {
    const { id } = await seedEndpoint(inEdition())
    const changes = [{ name: 'Together' }, { timeout_seconds: 3 }, { events: ['consent.given'] }]
    await Promise.all(changes.map((change) => patch(`/v1/webhooks/${id}`, change)))
    expect(await buildEndpointRow(id)).toMatchObject({
      name: 'Together',
      timeout_seconds: 3,
      events: '["consent.given"]',
      version: 4,
    })
  })
})

describe('rotateWebhookSecret', () => {
  it('returns a new secret, and keeps the former one valid for a day', async () => {
    const endpoint = await seedEndpoint(inEdition())
    const path = `/v1/webhooks/${endpoint.id}`
    const before = Date.now()
    const first = await post(`${path}/rotate-secret`, undefined, token('EA'))
    expect(first.body.secret).toMatch(/^whsec_/)
    expect(first.body.secret).not.toBe(endpoint.secret)
    const expires = Date.parse(first.body.previous_secret_expires_at)
    expect(expires).toBeGreaterThanOrEqual(before + 86_400_000)
    expect(expires).toBeLessThanOrEqual(Date.now() + 86_400_000)
    expect(await buildEndpointRow(endpoint.id)).toMatchObject({
      secret: first.body.secret,
      previous_secret: endpoint.secret,
      previous_secret_until: expires,
    })
    expect((await get(path, token('OM'))).text).not.toContain('whsec_')
    const second = await post(`${path}/rotate-secret`, undefined, token('OA'))
    expect(await buildEndpointRow(endpoint.id)).toMatchObject({
      secret: second.body.secret,
      previous_secret: first.body.secret,
    })
  })

  it('is refused to managers', async () => {
    const { id, secret } = await seedEndpoint(inEdition())
    expect((await post(`/v1/webhooks/${id}/rotate-secret`, undefined, token('OM'))).status).toBe(403)
    expect(await buildEndpointRow(id)).toMatchObject({ secret })
  })

  it('stops showing when the former secret ends once it has ended', async () => {
    const { id } = await seedEndpoint(inEdition(), { previous_secret: 'whsec_AAAA', previous_secret_until: 1000 })
    expect((await get(`/v1/webhooks/${id}`)).body.previous_secret_expires_at).toBeNull()
  })
})

describe('deleteWebhook', () => {
  it('deletes the endpoint with its deliveries and their attempts, and keeps the events', async () => {
    const endpoint = await seedEndpoint(inEdition())
    const other = await seedEndpoint(inEdition())
    const delivery = await seedDelivery(inEdition(), endpoint.id)
    await seedDelivery(inEdition(), other.id)
    const path = `/v1/webhooks/${endpoint.id}`
    expect((await remove(path, token('EA'))).status).toBe(204)
    expect((await get(path)).status).toBe(404)
    expect((await get(`${path}/deliveries/${delivery.id}`)).status).toBe(404)
    expect((await remove(path)).status).toBe(404)
    expect(await loadDeliveries(endpoint.id)).toEqual([])
    expect(await loadDeliveries(other.id)).toHaveLength(1)
    const remaining = await db.first(sql<{ attempts: number; events: number }>`select
      (select count(*) from webhook_attempts where delivery_id = ${delivery.id}) as attempts,
      (select count(*) from webhook_events where id = ${delivery.event_id}) as events`)
    expect(remaining).toEqual({ attempts: 0, events: 1 })
  })

  it('is refused to managers', async () => {
    const { id } = await seedEndpoint(inEdition())
    expect((await remove(`/v1/webhooks/${id}`, token('OM'))).status).toBe(403)
    expect(await buildEndpointRow(id)).toBeDefined()
  })
})
