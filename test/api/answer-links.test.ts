import { beforeAll, describe, expect, it } from 'vitest'
import { callWith, publicUrl } from '../support/api.ts'
import { seedEvents } from '../support/seeding/organizations.ts'
import { buildWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
  await seedEvents(world.a.id, 5)
})

const hosts = {
  host: 'evil.example',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'http',
  'x-original-host': 'evil.example',
  forwarded: 'host=evil.example;proto=http',
}

const list = (bindings: object, headers = {}) =>
  callWith(bindings, `/v1/events?organization_id=${world.a.id}&page_size=2&page=2`, { headers })

const create = (bindings: object, headers = {}) =>
  callWith(bindings, '/v1/organizations', { body: { name: 'Linked' }, headers })

describe('the links in an answer', () => {
  it('begin with PUBLIC_URL in a list, for any host of the request', async () => {
    const page = await list({}, hosts)
    for (const link of [page.body.next, page.body.previous]) {
      expect(new URL(link).origin).toBe(publicUrl)
      expect(new URL(link).searchParams.get('page_size')).toBe('2')
    }
    const links = [...(page.headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)]
    expect(links.map(([, link, relation]) => [relation, link])).toEqual([
      ['next', page.body.next],
      ['prev', page.body.previous],
    ])
    expect([page.text, ...page.headers.values()].filter((text) => text.includes('evil'))).toEqual([])
  })

  it('begin with PUBLIC_URL in the Location of a new resource, for any host of the request', async () => {
    const reply = await create({}, hosts)
    expect(reply.headers.get('location')).toBe(`${publicUrl}/v1/organizations/${reply.body.id}`)
    expect([reply.text, ...reply.headers.values()].filter((text) => text.includes('evil'))).toEqual([])
  })

  it('keep the path of PUBLIC_URL', async () => {
    const bindings = { PUBLIC_URL: 'https://shop.example/api/' }
    const page = await list(bindings)
    expect(page.body.next).toMatch(/^https:\/\/shop\.example\/api\/v1\/events\?/)
    const reply = await create(bindings)
    expect(reply.headers.get('location')).toBe(`https://shop.example/api/v1/organizations/${reply.body.id}`)
  })

  it('are ASCII with a host and a path of other letters', async () => {
    const bindings = { PUBLIC_URL: 'https://bücher.example/å/' }
    const page = await list(bindings)
    expect(page.body.next).toMatch(/^https:\/\/xn--bcher-kva\.example\/%C3%A5\/v1\/events\?/)
    const made = await create(bindings)
    expect(made.headers.get('location')).toBe(`https://xn--bcher-kva.example/%C3%A5/v1/organizations/${made.body.id}`)
  })

  it('begin with the host of the request where PUBLIC_URL is empty', async () => {
    const page = await list({ PUBLIC_URL: '' })
    expect(page.body.next).toMatch(/^https:\/\/api\.example\/v1\/events\?/)
    const reply = await create({ PUBLIC_URL: '' })
    expect(reply.headers.get('location')).toBe(`/v1/organizations/${reply.body.id}`)
  })

  it('lead to the next page, which begins where the first one ends', async () => {
    const first = await list({ PUBLIC_URL: 'https://shop.example/api' })
    const path = String(first.body.next).replace('https://shop.example/api', '')
    const second = await callWith({ PUBLIC_URL: 'https://shop.example/api' }, path)
    expect(second.status).toBe(200)
    const ids = [...first.body.results, ...second.body.results].map(({ id }: { id: string }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})
