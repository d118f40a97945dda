import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { post } from '../../support/api.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { buildWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

const token = () => world.people.OA.token
const repeatItem = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item)
const manyNames = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 0]))

const webhook = (change: object) => ({
  organization_id: world.a.id,
  name: 'Warehouse',
  url: 'https://hooks.example.com/events',
  events: ['purchase.action'],
  ...change,
})

const order = (change: object) => ({
  external_id: 'L-1',
  currency: 'dkk',
  customer: { email: 'long@example.dk' },
  items: [{ product: 'Ticket', quantity: 1, unit_price: 1 }],
  ...change,
})

const importOrders = (orders: unknown[]) =>
  post(
    '/v1/data-imports/external-orders',
    { organization_id: world.a.id, edition_id: world.a.editions[0].id, source: 'lists', orders },
    token(),
  )

const countOf = async (table: string) =>
  (await env.DB.prepare(`select count(*) as n from ${table}`).first<{ n: number }>())?.n

describe('lists that are too long', () => {
  it.each([
    ['numbers in place of names', () => webhook({ events: repeatItem(450_000, 0) }), '#/events'],
    ['empty objects', () => webhook({ events: repeatItem(300_000, {}) }), '#/events'],
    ['a list in a list', () => webhook({ events: [repeatItem(300_000, 0)] }), '#/events/0'],
    ['fields', () => webhook(manyNames(90_000)), '#'],
  ])('are refused with a pointer to the list: %s', async (_, body, pointer) => {
    const before = await countOf('webhook_endpoints')
    const reply = await post('/v1/webhooks', body(), token())
    expect([reply.status, reply.body.errors]).toEqual([
      400,
      [expect.objectContaining({ code: 'max_items', pointer, detail: 'Must have at most 20000 items.' })],
    ])
    expect(await countOf('webhook_endpoints')).toBe(before)
  })

  it.each([
    ['orders', () => repeatItem(300_000, 0)],
    ['items', () => [order({ items: repeatItem(300_000, 0) })]],
    [
      'options',
      () => [order({ items: [{ product: 'Ticket', quantity: 1, unit_price: 1, options: repeatItem(300_000, 0) }] })],
    ],
    ['consents', () => [order({ consents: manyNames(90_000) })]],
  ])('are refused in an import with a pointer to the list: %s', async (_, orders) => {
    const reply = await importOrders(orders())
    expect(describeRefusal(reply)).toMatch(/^400 validation_error: max_items #\/orders/)
  })
})

describe('many faults of one request', () => {
  it('are counted, and the first hundred are listed', async () => {
    const reply = await post('/v1/webhooks', webhook({ events: repeatItem(20_000, 'none') }), token())
    expect(reply.status).toBe(400)
    expect(reply.body.errors).toHaveLength(100)
    expect(reply.body.detail).toMatch(/ \d{5} more fields are invalid\. The first 100 are in `errors`\.$/)
  })

  it('are limited to twenty for each order of an import, and the other orders are imported', async () => {
    const consents = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, true]))
    const broken = Array.from({ length: 30 }, (_, index) => order({ external_id: `L-${index}`, consents }))
    const reply = await importOrders([...broken, order({ external_id: 'L-good' })])
    expect(reply.status).toBe(201)
    expect(reply.body.results.map((item: { errors: unknown[] }) => item.errors.length)).toEqual([
      ...repeatItem(30, 20),
      0,
    ])
    expect(reply.body.results.at(-1).action).toBe('created')
  })

  it('repeat only the beginning of a very long name', async () => {
    const name = '/'.repeat(900_000)
    const reply = await importOrders([order({ [name]: 1 })])
    expect([reply.status, reply.body.results[0].errors]).toEqual([
      422,
      [expect.objectContaining({ code: 'unknown_field', pointer: `#/orders/0/${'~1'.repeat(128)}` })],
    ])
  })
})
