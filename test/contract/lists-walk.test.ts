import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import { call, type Reply } from '../support/api.ts'
import { listIds, readAs, walkAs } from '../support/lists.ts'
import { seedTokens } from '../support/seeding/members.ts'
import { seedEvents } from '../support/seeding/organizations.ts'
import { buildWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
  await seedTokens(world.people.OA.account, 8)
})

const read = (address: string): Promise<Reply> => readAs(world.people.OA.token, address)
const walk = (address: string) => walkAs(world.people.OA.token, address)

it('a walk through pages skips no row when others are deleted between pages', async () => {
  const { token } = world.people.OA
  const all = listIds(await read('/v1/auth/tokens'))
  const first = await read('/v1/auth/tokens?page_size=2')
  const deletedIds = listIds(first).filter((id) => id !== world.people.OA.tokenId)
  for (const id of deletedIds)
    expect((await call(`/v1/auth/tokens/${id}`, { method: 'DELETE', token })).status).toBe(204)
  const rest = await walk(first.body.next)
  expect([...listIds(first), ...rest.ids]).toEqual(all)
  const last = await read(`/v1/auth/tokens?page_size=${all.length - deletedIds.length - 1}`)
  const [end] = listIds(await read(last.body.next))
  await env.DB.prepare('update access_tokens set revoked_at = 1 where id = ? and id <> ?')
    .bind(end, world.people.OA.tokenId)
    .run()
  const past = await read(last.body.next)
  expect([past.status, past.body.next]).toEqual([200, null])
})

it('a page has at most five hundred rows', async () => {
  await seedEvents(world.a.id, 505)
  for (const size of ['501', '100000']) {
    const reply = await read(`/v1/events?page_size=${size}`)
    expect([size, reply.body.results.length]).toEqual([size, 500])
    const rest = await read(reply.body.next)
    expect(reply.body.count).toBe(500 + rest.body.results.length)
  }
  expect((await read('/v1/events')).body.results).toHaveLength(100)
})
