import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { readCell } from '../../src/domain/cells.ts'
import { readConfig } from '../../src/entry/config.ts'
import { callWith, readLinkPath, type Request } from '../support/api.ts'
import { makeFreshPng, uploadRaw } from '../support/files.ts'
import { seedAccount, seedMember } from '../support/seeding/members.ts'
import { db, next } from '../support/seeding/rows.ts'
import { anOrder } from '../support/seeding/sales/orders.ts'
import { enableWallet } from '../support/seeding/sales/wallet-passes.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'
import { loadDeliveries, listPurchaseEvents } from '../support/webhook-rows.ts'

/** Runs the Worker with this mark over the database of the tests. */
function deployment(CELL: string) {
  const queue = { sendBatch: async () => undefined }
  const bindings = { CELL, WEBHOOKS: queue }
  const send = (path: string, request: Request = {}) => callWith(bindings, path, request)
  const post = async (path: string, body: unknown, token?: string) => {
    const reply = await send(path, { method: 'POST', body, ...(token ? { token } : {}) })
    expect(reply.status, reply.text).toBe(201)
    return reply.body
  }
  return { bindings, send, post }
}

type Deployment = ReturnType<typeof deployment>

async function givenEdition({ post }: Deployment) {
  const organization = await post('/v1/organizations', { name: `Marked ${crypto.randomUUID()}` })
  const event = await post('/v1/events', { organization_id: organization.id, name: 'Festival' })
  const edition = await post('/v1/editions', {
    organization_id: organization.id,
    event_id: event.id,
    name: `Edition ${next()}`,
  })
  return { organization_id: organization.id as string, edition_id: edition.id as string, event_id: event.id as string }
}

/** Lists the marks of all ids in a value. */
function listMarks(value: unknown): string[] {
  if (typeof value === 'string') return readCell(value) === null ? [] : [readCell(value) ?? '']
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listMarks) : []
}

/** Each table of an import has the column that finds its rows. */
const importTables = [
  ['orders', 'edition_id'],
  ['purchases', 'edition_id'],
  ['edition_customers', 'edition_id'],
  ['data_imports', 'edition_id'],
  ['users', 'organization_id'],
  ['products', 'organization_id'],
] as const

describe.each([
  ['with a mark', 'k7'],
  ['without a mark', ''],
])('a deployment %s', (_, cell) => {
  const there = deployment(cell)

  describe('has, after an import, its mark in the ids', () => {
    let place: { organization_id: string; edition_id: string }
    let endpoint: string
    beforeAll(async () => {
      const { organization_id, edition_id } = await givenEdition(there)
      place = { organization_id, edition_id }
      endpoint = (await seedEndpoint({ organization: organization_id, edition: null })).id
      const orders = [anOrder({ external_id: 'A' }), anOrder({ external_id: 'B' })]
      const body = { ...place, source: 'webshop', emit_webhooks: true, orders }
      expect((await there.post('/v1/data-imports/external-orders', body)).created_orders).toBe(2)
    })

    it.each(importTables)('of %s', async (table, column) => {
      const rows = await db.all(sql`select * from ${sql.raw(table)} where ${sql.raw(column)} = ${place[column]}`)
      expect(new Set(listMarks(rows))).toEqual(new Set([cell]))
    })

    it('of events and deliveries', async () => {
      const events = await listPurchaseEvents(place.organization_id)
      const deliveries = await loadDeliveries(endpoint)
      expect(deliveries.map(({ event_id }) => event_id).toSorted()).toEqual(events.map(({ id }) => id))
      expect(events.length).toBeGreaterThan(1)
      for (const { id } of [...events, ...deliveries]) expect([id, readCell(id)]).toEqual([id, cell])
    })

    it('of the audit log', async () => {
      const audited = await db.all<{ id: string }>(
        sql`select id from audit_log where organization_id = ${place.organization_id}`,
      )
      expect(new Set(audited.map(({ id }) => readCell(id)))).toEqual(new Set([cell]))
    })

    it('of requests', async () => {
      const [order] = await db.all<{ id: string }>(sql`select id from orders where edition_id = ${place.edition_id}`)
      const reply = await there.send(`/v1/orders/${order?.id}`)
      expect([reply.status, readCell(reply.headers.get('x-request-id') ?? '')]).toEqual([200, cell])
    })
  })

  it('has its mark in access tokens, and accepts them', async () => {
    const { organization_id } = await givenEdition(there)
    const account = await seedAccount()
    const member_id = await seedMember(account, { organization: organization_id, role: 'admin' })
    const { token, id } = await there.post('/v1/auth/tokens', { name: 'Shop', member_id })
    expect([readCell(token), readCell(id)]).toEqual([cell, cell])
    expect((await there.send('/v1/auth/user-info', { token })).status).toBe(200)
    const other = cell === '' ? `${token}k7` : token.slice(0, -2)
    expect((await there.send('/v1/auth/user-info', { token: other })).status).toBe(401)
  })

  it('has its mark in the address of a file, and serves the file there', async () => {
    const { organization_id } = await givenEdition(there)
    const bytes = makeFreshPng()
    const { body } = await uploadRaw(organization_id, bytes, { bindings: there.bindings })
    const path = readLinkPath(body.image.original)
    expect(readCell(path.split('/')[2] ?? '')).toBe(cell)
    expect((await there.send(path, { token: null })).status).toBe(200)
  })

  it('has its mark in the serial number of a pass, whose link downloads the pass', async () => {
    const { organization_id, edition_id } = await givenEdition(there)
    await there.post('/v1/data-imports/external-orders', {
      organization_id,
      edition_id,
      source: 'webshop',
      orders: [anOrder({ external_id: 'A' })],
    })
    const [purchase] = await db.all<{ id: string }>(sql`select id from purchases where edition_id = ${edition_id}`)
    await enableWallet({ organization: organization_id, edition: edition_id }, purchase?.id ?? '')
    const pass = await there.post(`/v1/purchases/${purchase?.id}/wallet-passes`, { platform: 'apple' })
    expect([readCell(pass.id), readCell(pass.serial_number)]).toEqual([cell, cell])
    const { status, headers } = await there.send(new URL(pass.add_url).pathname, { token: null })
    expect([status, headers.get('content-type')]).toEqual([200, 'application/vnd.apple.pkpass'])
  })
})

it('a deployment that gets its mark later still reads and changes its older rows', async () => {
  const { organization_id, edition_id } = await givenEdition(deployment(''))
  const marked = deployment('k7')
  const changeReply = await marked.send(`/v1/editions/${edition_id}`, { method: 'PATCH', body: { name: 'Renamed' } })
  expect([changeReply.status, changeReply.body.name]).toEqual([200, 'Renamed'])
  const [entry] = (await marked.send(`/v1/audit-log?organization_id=${organization_id}`)).body.results
  expect([entry.resource_id, readCell(entry.id)]).toEqual([edition_id, 'k7'])
})

it.each(['k', 'k77', 'K7', 'k-', 'é7', ' k7', 'k7\n'])(
  'the Worker refuses to start with a cell mark such as %j',
  (CELL) => {
    expect(() => readConfig({ ...env, CELL })).toThrow(/^CELL is /)
  },
)

it.each(['0', '-1', '1.5', 'ninety', '36501'])(
  'the Worker refuses to start with a number of days such as %j',
  (days) => {
    expect(() => readConfig({ ...env, WEBHOOK_KEPT_DAYS: days })).toThrow(/^WEBHOOK_KEPT_DAYS is /)
    expect(() => readConfig({ ...env, AUDIT_KEPT_DAYS: days })).toThrow(/^AUDIT_KEPT_DAYS is /)
  },
)

it('the Worker starts with valid marks and days, and has defaults', () => {
  const day = 86_400_000
  const { cell, retentionMs } = readConfig(env)
  expect([cell, retentionMs]).toEqual(['', { webhooks: 90 * day, auditLog: 400 * day }])
  const set = readConfig({ ...env, CELL: 'a0', WEBHOOK_KEPT_DAYS: '30', AUDIT_KEPT_DAYS: '730' })
  expect([set.cell, set.retentionMs]).toEqual(['a0', { webhooks: 30 * day, auditLog: 730 * day }])
})
