import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recordLastSeen } from '../../src/db/customers.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { applyEvents } from '../../src/modules/message-events/jobs.ts'
import { get, post } from '../support/api.ts'
import { alarm, realJob } from '../support/campaigns.ts'
import { choose, pageOf } from '../support/consent-pages.ts'
import { idsOf } from '../support/lists.ts'
import { scan } from '../support/purchases.ts'
import { seedPeople, seedScene } from '../support/seeding/customers.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'
import { db, write } from '../support/seeding/rows.ts'
import { givenTicket, seedShop } from '../support/seeding/sales/orders.ts'
import { later, pathsIn, type Sent, sent, visit } from '../support/visits.ts'

const lastSeen = async (user: string): Promise<number | null> =>
  (await db.first(sql<{ at: number | null }>`select last_seen_at as at from users where id = ${user}`))?.at ?? null

const buyerOf = async (purchase: string): Promise<string> =>
  (await db.first(sql<{ user_id: string }>`select user_id from purchases where id = ${purchase}`))?.user_id ?? ''

/** Hands these visits to the campaign, and lets its object write to the database. */
async function report({ id }: Sent, enqueued: Parameters<typeof later>[0]): Promise<void> {
  expect(enqueued.length).toBeGreaterThan(0)
  await applyEvents(realJob(), later(enqueued))
  for (let turn = 0; turn < 20; turn++) await alarm(id)
}

describe('last_seen of a customer', () => {
  it('is the time of the first use of a purchase on a day', async () => {
    const ticket = await givenTicket(await seedShop(), { is_unlimited_use: true })
    const user = await buyerOf(ticket.id)
    expect(await lastSeen(user)).toBeNull()
    const { body } = await scan(ticket.id)
    expect(new Date((await lastSeen(user)) ?? 0).toISOString()).toBe(body.used_at)
    const first = await lastSeen(user)
    await scan(ticket.id)
    expect(await lastSeen(user)).toBe(first)
    expect((await get(`/v1/user/${user}`)).body.last_seen).toBe(body.used_at)
  })

  it('is the time of an answer on the page of consents', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    const path = await pageOf(scene, scene.person)
    await visit(path)
    expect(await lastSeen(scene.person.id)).toBeNull()
    await choose(path, { give: [consent.id] })
    expect(await lastSeen(scene.person.id)).toBeGreaterThan(Date.now() - 60_000)
  })

  it.each([
    ['an open', 'o'],
    ['a click', 'c'],
  ])('is the time of %s by a person', async (_, kind) => {
    const all = await sent(2)
    const [seen, unseen] = all.crowd.people
    if (!seen || !unseen) throw new Error('nobody is there')
    const mail = all.captured.find(({ recipient }) => recipient.includes(seen.email ?? '?'))
    await report(all, (await visit(pathsIn(mail, kind)[0] ?? '')).enqueued)
    expect(await lastSeen(seen.id)).toBeGreaterThan(Date.now() - 60_000)
    expect(await lastSeen(seen.id)).toBeLessThanOrEqual(Date.now())
    expect(await lastSeen(unseen.id)).toBeNull()
  })

  it('ignores machines', async () => {
    const all = await sent(1)
    const [pixel = ''] = pathsIn(all.captured[0], 'o')
    const bot = await visit(pixel, {}, 'Mozilla/5.0 (compatible; bingbot/2.0)')
    const head = await visit(pathsIn(all.captured[0], 'c')[0] ?? '', { method: 'HEAD' })
    await report(all, [...bot.enqueued, ...head.enqueued])
    expect(await lastSeen(all.crowd.people[0]?.id ?? '')).toBeNull()
  })

  it('is written once a day, and never goes back', async () => {
    const { person } = await seedScene()
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(4 * dayMs), { maxLength: 12 }), async (times) => {
        await write(sql`update users set last_seen_at = null where id = ${person.id}`)
        let expected: number | null = null
        for (const at of times) {
          if (expected === null || Math.floor(at / dayMs) > Math.floor(expected / dayMs)) expected = at
          await write(...recordLastSeen([{ user_id: person.id, at }]))
          expect(await lastSeen(person.id)).toBe(expected)
        }
      }),
      { numRuns: 20 },
    )
  })

  it('is cleared by an erasure, and stays empty afterwards', async () => {
    const ticket = await givenTicket(await seedShop(), { is_unlimited_use: true })
    const user = await buyerOf(ticket.id)
    await scan(ticket.id)
    await post(`/v1/user/${user}/erase`, {})
    expect(await lastSeen(user)).toBeNull()
    expect((await scan(ticket.id)).status).toBe(201)
    expect(await lastSeen(user)).toBeNull()
  })

  it('is hidden from roles of an edition, who cannot find it out by sorting', async () => {
    const shop = await seedShop()
    const tickets = []
    for (let count = 0; count < 3; count++) tickets.push(await givenTicket(shop, { is_unlimited_use: true }))
    const users = await Promise.all(tickets.map(({ id }) => buyerOf(id)))
    await scan(tickets[1]?.id ?? '')
    const organization = { id: shop.organization_id }
    const { token: viewer } = await givenMember(organization, 'viewer', shop.edition_id)
    const { token: admin } = await givenMember(organization, 'admin')
    const orderOf = async (token: string, ordering: string): Promise<string[]> => {
      const ids = idsOf(await get(`/v1/user?ordering=${ordering}`, token))
      return ids.filter((id) => users.includes(id))
    }
    expect((await orderOf(admin, 'last_seen'))[0]).toBe(users[1])
    expect(await orderOf(viewer, 'last_seen')).toEqual(await orderOf(viewer, 'date_joined'))
    expect(await orderOf(viewer, '-last_seen')).toEqual(await orderOf(viewer, '-date_joined'))
    expect((await get(`/v1/user/${users[1]}`, viewer)).body.last_seen).toBeNull()
    expect((await get(`/v1/user/${users[1]}`, admin)).body.last_seen).not.toBeNull()
  })

  it('is recorded for many customers in one statement', async () => {
    const scene = await seedScene()
    const people = await seedPeople(scene, [{}, {}, {}])
    await write(...recordLastSeen(people.map(({ id }, index) => ({ user_id: id, at: dayMs + index }))))
    expect(await Promise.all(people.map(({ id }) => lastSeen(id)))).toEqual([dayMs, dayMs + 1, dayMs + 2])
  })
})
