import { Webhook } from 'standardwebhooks'
import { beforeAll, describe, expect, it } from 'vitest'
import { signHeaders } from '../../src/domain/webhooks/webhook-signature.ts'
import { type DeliveryStatus, eventKindNames } from '../../src/domain/webhooks/webhooks.ts'
import { callWith, get, patch, post, publicUrl } from '../support/api.ts'
import { readCost } from '../support/cost.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedPlace } from '../support/retention.ts'
import { seedToken } from '../support/seeding/members.ts'
import { seededAt } from '../support/seeding/rows.ts'
import { seedDeliveries, seedEndpoint } from '../support/seeding/webhooks.ts'
import { buildEndpointRow } from '../support/webhook-rows.ts'
import { buildWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

const anEndpoint = (change: Record<string, unknown> = {}) => ({
  organization_id: world.a.id,
  name: 'Warehouse',
  url: 'https://hooks.example.com/events',
  events: ['purchase.action'],
  ...change,
})

const token = (who: 'OA' | 'OM' | 'OV' | 'EA' | 'EM') => world.people[who].token
describe('createWebhook', () => {
  it('stores the endpoint and returns its secret', async () => {
    const edition_id = world.a.editions[0].id
    const reply = await post(
      '/v1/webhooks',
      anEndpoint({ name: ' Lager ', edition_id, events: ['consent.given', 'purchase.action'], timeout_seconds: 9 }),
      token('OA'),
    )
    expect(reply.status).toBe(201)
    expect(reply.headers.get('location')).toBe(`${publicUrl}/v1/webhooks/${reply.body.id}`)
    expect(reply.body).toMatchObject({
      organization_id: world.a.id,
      name: 'Lager',
      url: 'https://hooks.example.com/events',
      edition_id,
      events: ['consent.given', 'purchase.action'],
      is_active: true,
      timeout_seconds: 9,
      previous_secret_expires_at: null,
      disabled_at: null,
      disabled_reason: null,
      failing_since: null,
    })
    expect(reply.body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const stored = await buildEndpointRow(reply.body.id)
    expect(stored).toMatchObject({ secret: reply.body.secret, previous_secret: null, version: 1 })
    expect((await get(`/v1/webhooks/${reply.body.id}`, token('OA'))).text).toBe(reply.text)
  })

  it('returns a secret with which receivers can verify signatures', async () => {
    const { body } = await post('/v1/webhooks', anEndpoint())
    const keys = { secret: body.secret, previous_secret: null, previous_secret_until: null }
    const { headers } = await signHeaders(keys, { id: 'evn_1', payload: '{}' }, Date.now())
    expect(new Webhook(body.secret).verify('{}', headers)).toEqual({})
  })

  it('uses defaults for optional fields: enabled, no edition, the default timeout', async () => {
    const { body } = await post('/v1/webhooks', anEndpoint())
    expect(body).toMatchObject({ is_active: true, edition_id: null, timeout_seconds: 0 })
    const most = await post('/v1/webhooks', anEndpoint({ timeout_seconds: 2_147_483_647, is_active: false }))
    expect(most.body).toMatchObject({ timeout_seconds: 2_147_483_647, is_active: false, disabled_reason: 'manual' })
  })

  it('points at each invalid field', async () => {
    const cases: [Record<string, unknown>, string, string][] = [
      [{ events: [] }, 'min_items', '#/events'],
      [{ events: ['purchase.action', 'consent.given', 'purchase.action'] }, 'duplicate', '#/events/2'],
      [{ events: ['purchase.made'] }, 'invalid_choice', '#/events/0'],
      [{ name: 'x'.repeat(121) }, 'max_length', '#/name'],
      [{ name: ' ' }, 'blank', '#/name'],
      [{ url: `https://hooks.example.com/${'x'.repeat(200)}` }, 'max_length', '#/url'],
      [{ url: 'hooks.example.com' }, 'malformed_url', '#/url'],
      [{ url: 'http://hooks.example.com' }, 'forbidden_destination', '#/url'],
      [{ url: 'https://127.0.0.1/' }, 'forbidden_destination', '#/url'],
      [{ url: 'https://metadata.google.internal/' }, 'forbidden_destination', '#/url'],
      [{ timeout_seconds: -1 }, 'min_value', '#/timeout_seconds'],
      [{ timeout_seconds: 2_147_483_648 }, 'max_value', '#/timeout_seconds'],
      [{ timeout_seconds: 1.5 }, 'invalid_type', '#/timeout_seconds'],
      [{ edition_id: world.b.editions[0].id }, 'does_not_exist', '#/edition_id'],
      [{ organization_id: 'org_unknown' }, 'does_not_exist', '#/organization_id'],
    ]
    for (const [change, code, pointer] of cases)
      expect(describeRefusal(await post('/v1/webhooks', anEndpoint(change)))).toBe(
        `400 validation_error: ${code} ${pointer}`,
      )
  })

  it('names the rule that a forbidden address breaks, and repeats nothing of the address', async () => {
    const details = new Set<string>()
    for (const url of ['https://10.0.0.1/', 'https://localhost/', 'https://user:secret@hooks.example.com/'])
      details.add((await post('/v1/webhooks', anEndpoint({ url }))).body.errors[0].detail)
    expect(details.size).toBe(3)
    expect([...details].join(' ')).not.toMatch(/secret|10\.0/)
  })

  it('refuses addresses of the service itself, and accepts http where the configuration allows it', async () => {
    const ownUrl = { PUBLIC_URL: 'https://api.tickets.dk' }
    const create = (url: string, bindings: object) =>
      callWith(bindings, '/v1/webhooks', { method: 'POST', body: anEndpoint({ url }) })
    expect(describeRefusal(await create('https://API.tickets.dk/v1/x', ownUrl))).toBe(
      '400 validation_error: forbidden_destination #/url',
    )
    expect((await create('https://hooks.tickets.dk/', ownUrl)).status).toBe(201)
    const lenient = { ...ownUrl, ALLOW_INSECURE_WEBHOOKS: '1' }
    expect((await create('http://127.0.0.1:9000/hook', lenient)).status).toBe(201)
    expect((await create('http://169.254.169.254/', lenient)).status).toBe(400)
  })

  it('lets an admin of an edition create endpoints of that edition only', async () => {
    const create = (change: Record<string, unknown>) => post('/v1/webhooks', anEndpoint(change), token('EA'))
    const mine = await create({ edition_id: world.a.editions[0].id })
    expect([mine.status, typeof mine.body.secret]).toEqual([201, 'string'])
    expect((await create({})).status).toBe(403)
    expect((await create({ edition_id: null })).status).toBe(403)
    expect(describeRefusal(await create({ edition_id: world.a.editions[1].id }))).toBe(
      '400 validation_error: does_not_exist #/edition_id',
    )
  })
})

describe('getWebhook', () => {
  it('returns the secret only to admins', async () => {
    const endpoint = await seedEndpoint({ organization: world.a.id, edition: world.a.editions[0].id })
    const path = `/v1/webhooks/${endpoint.id}`
    for (const who of ['OA', 'EA'] as const) expect((await get(path, token(who))).body.secret).toBe(endpoint.secret)
    expect((await get(path)).body.secret).toBe(endpoint.secret)
    for (const who of ['OM', 'EM'] as const) {
      const reply = await get(path, token(who))
      expect([reply.status, 'secret' in reply.body, reply.text.includes('whsec_')]).toEqual([200, false, false])
    }
    for (const who of ['OA', 'EA'] as const) {
      const reader = await seedToken(world.people[who].account, { scopes: ['read'] })
      const reply = await get(path, reader.token)
      expect([who, reply.status, reply.text.includes('whsec_')]).toEqual([who, 200, false])
      const writer = await seedToken(world.people[who].account, { scopes: ['read', 'write'] })
      expect((await get(path, writer.token)).body.secret).toBe(endpoint.secret)
    }
    for (const list of [`/v1/webhooks?edition_id=${world.a.editions[0].id}`, `${path}/deliveries`])
      expect((await get(list, token('OA'))).text).not.toContain('whsec_')
  })

  it('hides endpoints without an edition from edition roles', async () => {
    const endpoint = await seedEndpoint({ organization: world.a.id, edition: null })
    expect((await get(`/v1/webhooks/${endpoint.id}`, token('EA'))).status).toBe(404)
    expect((await get(`/v1/webhooks/${endpoint.id}`, token('OM'))).status).toBe(200)
    expect((await get(`/v1/webhooks/${endpoint.id}`, token('OV'))).status).toBe(403)
  })
})

describe('listWebhooks', () => {
  it('filters by organisation, edition and enabled state', async () => {
    const [edition] = world.b.editions
    const on = await seedEndpoint({ organization: world.b.id, edition: edition.id }, { name: 'On' })
    const off = await seedEndpoint({ organization: world.b.id, edition: null }, { name: 'Off', is_active: false })
    const ids = async (query: string, who?: string) =>
      (await get(`/v1/webhooks?${query}`, who)).body.results.map(({ id }: { id: string }) => id)
    expect(await ids(`organization_id=${world.b.id}&is_active=false`)).toEqual([off.id])
    expect(await ids(`organization_id=${world.b.id}&is_active=true&ordering=-name`)).toContain(on.id)
    expect(await ids(`edition_id=${edition.id}`)).toContain(on.id)
    expect(await ids(`edition_id=${edition.id}`)).not.toContain(off.id)
    expect(await ids(`edition_id=${edition.id}`, token('OA'))).toEqual([])
    expect((await get('/v1/webhooks?is_active=maybe')).body.errors[0]).toMatchObject({ attr: 'is_active' })
  })

  it('returns the fields of the specification, and how the endpoint does', async () => {
    const { body } = await get(`/v1/webhooks?edition_id=${world.a.editions[0].id}`)
    expect(Object.keys(body.results[0])).toEqual([
      'id',
      'organization_id',
      'name',
      'url',
      'edition_id',
      'events',
      'is_active',
      'timeout_seconds',
      'created',
      'modified',
      'disabled_at',
      'failing_since',
      'success_rate',
    ])
  })

  it('says since when an endpoint fails, when it was switched off, and how many deliveries succeed', async () => {
    const { organization, edition } = await seedPlace()
    const [failingSince, disabledAt] = [seededAt, seededAt + 5000]
    const endpoint = await seedEndpoint(
      { organization, edition: null },
      { failing_since: failingSince, is_active: false, disabled_at: disabledAt, disabled_reason: 'failing' },
    )
    const readOnly = async () => (await get(`/v1/webhooks?organization_id=${organization}`)).body.results[0]
    expect(await readOnly()).toMatchObject({
      failing_since: new Date(failingSince).toISOString(),
      disabled_at: new Date(disabledAt).toISOString(),
      success_rate: null,
    })
    const hour = 3_600_000
    const seed = (status: DeliveryStatus, hoursAgo = 1, count = 1) =>
      seedDeliveries({ organization, edition }, endpoint.id, count, {
        status,
        created_at: Date.now() - hoursAgo * hour,
      })
    await seed('pending')
    expect((await readOnly()).success_rate).toBe(null)
    await seed('success', 1, 4)
    await seed('success', 25, 10)
    for (const status of ['retrying', 'failed', 'exhausted'] as const) await seed(status)
    expect((await readOnly()).success_rate).toBe(0.5714)
  })

  it('rates the latest thousand deliveries, and those of the edition that an endpoint belongs to now', async () => {
    const { organization, edition } = await seedPlace()
    const endpoint = await seedEndpoint({ organization, edition })
    const now = Date.now()
    await seedDeliveries({ organization, edition }, endpoint.id, 1500, { created_at: now - 2000 })
    await seedDeliveries({ organization, edition: null }, endpoint.id, 400, { created_at: now - 1000 })
    await seedDeliveries({ organization, edition }, endpoint.id, 300, { status: 'success', created_at: now })
    const path = `/v1/webhooks?organization_id=${organization}`
    const reply = await get(path)
    expect(reply.body.results[0].success_rate).toBe(0.5)
    expect(readCost(reply).rows_read).toBeLessThan(1100)
  })
})

describe('listWebhookEventKinds', () => {
  it('lists every kind with its schema and an example', async () => {
    const { body } = await get('/v1/webhooks/event-kinds', token('OV'))
    expect(body.results.map(({ kind }: { kind: string }) => kind)).toEqual(eventKindNames)
    for (const { kind, meaning, schema, example } of body.results) {
      expect(meaning.length).toBeGreaterThan(5)
      expect(schema).toMatchObject({ type: 'object', properties: { type: { const: kind }, data: { type: 'object' } } })
      expect(Object.keys(schema.properties)).toEqual(Object.keys(example))
      expect(Object.keys(schema.properties.data.properties).toSorted()).toEqual(Object.keys(example.data).toSorted())
    }
  })

  it('lists the kinds of the OpenAPI document', async () => {
    const { body: document } = await get('/openapi.json', null)
    expect(Object.keys(document.webhooks)).toEqual(eventKindNames)
    const { body } = await get('/v1/webhooks/event-kinds')
    for (const { kind, example } of body.results) {
      const { post: request } = document.webhooks[kind]
      expect(request.requestBody.content['application/json'].example).toEqual(example)
      const { parameters } = document.components
      const names = request.parameters.map(({ $ref, name }: { $ref?: string; name?: string }) =>
        $ref ? parameters[$ref.slice('#/components/parameters/'.length)].name : name,
      )
      expect(names).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature'])
    }
  })
})

describe('the ETag of an endpoint', () => {
  it('must match in changes, rotation and deletion', async () => {
    const endpoint = await seedEndpoint({ organization: world.a.id, edition: null })
    const path = `/v1/webhooks/${endpoint.id}`
    const first = (await get(path, token('OA'))).headers.get('etag') ?? ''
    await patch(path, { name: 'Changed' }, token('OA'))
    const requests = [
      { path, method: 'PATCH', body: { name: 'Lost' } },
      { path, method: 'DELETE' },
      { path: `${path}/rotate-secret`, method: 'POST' },
      { path: `${path}/recover`, method: 'POST', body: { since: '2026-01-01T00:00:00Z' } },
    ]
    for (const { path: at, ...request } of requests) {
      const reply = await callWith({}, at, { ...request, token: token('OA'), headers: { 'if-match': first } })
      expect([at, reply.status]).toEqual([at, 412])
    }
    const second = (await get(path, token('OA'))).headers.get('etag') ?? ''
    const deleteReply = await callWith({}, path, {
      method: 'DELETE',
      token: token('OA'),
      headers: { 'if-match': second },
    })
    expect(deleteReply.status).toBe(204)
  })
})
