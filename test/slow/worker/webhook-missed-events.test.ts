import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { sweepDeliveries } from '../../../src/modules/webhooks/jobs.ts'
import { call, callWith, patch } from '../../support/api.ts'
import { interruptDatabase } from '../../support/bindings.ts'
import { crashAt } from '../../support/crashes.ts'
import { dearRuns } from '../../support/property-runs.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { seedPlace } from '../../support/retention.ts'
import { db, type Place, write } from '../../support/seeding/rows.ts'
import { type EndpointRow, seedEvents, seedOpenEndpoint } from '../../support/seeding/webhooks.ts'
import { createQuietClient, loadDeliveries } from '../../support/webhook-rows.ts'
import { answers, engine, happen } from '../../support/webhooks.ts'
import { buildWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

const { post: ask } = createQuietClient()
const since = new Date(0).toISOString()

const recover = (id: string, window: object = {}, token?: string) =>
  ask(`/v1/webhooks/${id}/recover`, { since, include_missed: true, ...window }, token)

const seedSlow = ({ organization, edition }: Place, columns: Partial<EndpointRow> = {}) =>
  seedOpenEndpoint({ organization_id: organization, edition_id: edition, is_slow: true, ...columns })

const switchOff = (id: string) => patch(`/v1/webhooks/${id}`, { is_active: false })

/** The requests of the tests post nothing to slow endpoints themselves. */
const switchOn = async (id: string) => {
  await patch(`/v1/webhooks/${id}`, { is_active: true })
  await write(sql`update webhook_endpoints set is_slow = 1 where id = ${id}`)
}

const listEventIds = async (id: string) => (await loadDeliveries(id)).map(({ event_id }) => event_id).toSorted()
const sortIds = (events: readonly { id: string }[]) => events.map(({ id }) => id).toSorted()

describe('recoverWebhookDeliveries with include_missed', () => {
  it('sends what happened while the endpoint was off or did not exist, once', async () => {
    const place = await seedPlace()
    const before = await seedEvents(place, 2, { kind: 'purchase.action' })
    const { id } = await seedSlow(place)
    await switchOff(id)
    await happen({ organization_id: place.organization, edition_id: place.edition }, 3)
    await switchOn(id)
    const first = await recover(id)
    expect([first.status, first.body]).toMatchObject([200, { recovered: 0, missed: 5, has_more_missed: false }])
    const deliveries = await loadDeliveries(id)
    expect(deliveries).toHaveLength(5)
    expect(deliveries.map(({ event_id }) => event_id)).toEqual(expect.arrayContaining(sortIds(before)))
    expect(new Set(deliveries.map(({ status }) => status))).toEqual(new Set(['pending']))
    expect((await recover(id)).body).toMatchObject({ recovered: 0, missed: 0, waiting: 5 })
    expect(await loadDeliveries(id)).toEqual(deliveries)
    const machine = engine(() => answers(200))
    await machine.run([id])
    expect(machine.sent.map(({ headers }) => headers['webhook-id']).toSorted()).toEqual(await listEventIds(id))
    expect((await recover(id)).body).toMatchObject({ recovered: 0, missed: 0, waiting: 0 })
  })

  it('sends nothing that was missed without it', async () => {
    const place = await seedPlace()
    await seedEvents(place, 2, { kind: 'purchase.action' })
    const { id } = await seedSlow(place)
    const { body } = await recover(id, { include_missed: false })
    expect([body.missed, body.has_more_missed, await loadDeliveries(id)]).toEqual([0, false, []])
  })

  it('leaves out other kinds, editions, organisations and times, and tests of other endpoints', async () => {
    const [place, other] = [await seedPlace(), await seedPlace()]
    const { organization, edition } = place
    const at = Date.parse('2026-02-01T00:00:00Z')
    const inTime = { kind: 'purchase.action', created_at: at } as const
    const [mine] = await seedEvents(place, 1, inTime)
    await seedEvents(place, 1, { ...inTime, kind: 'consent.given' })
    await seedEvents(place, 1, { ...inTime, created_at: at - 1 })
    await seedEvents(place, 1, { ...inTime, created_at: at + 1 })
    await seedEvents({ organization, edition: null }, 1, inTime)
    await seedEvents(other, 1, inTime)
    const tested = await seedSlow(place)
    await ask(`/v1/webhooks/${tested.id}/test`, { event: 'purchase.action' })
    const { id } = await seedSlow(place, { events: ['purchase.action', 'consent.skipped'] })
    const moment = new Date(at).toISOString()
    expect((await recover(id, { since: moment, until: moment })).body.missed).toBe(1)
    expect(await listEventIds(id)).toEqual([mine?.id])
    const wide = await seedOpenEndpoint({ organization_id: organization, is_slow: true })
    expect((await recover(wide.id, { since: moment, until: moment })).body.missed).toBe(2)
    expect((await recover(id)).body.missed).toBe(2)
    expect(
      await db.all(sql`select 1 from webhook_deliveries join webhook_events on webhook_events.id = event_id
      where endpoint_id = ${id} and webhook_events.edition_id <> ${edition}`),
    ).toEqual([])
  })

  it('repeats lost deliveries in the same request', async () => {
    const place = await seedPlace()
    const { id } = await seedSlow(place)
    await happen({ organization_id: place.organization, edition_id: place.edition }, 2)
    await switchOff(id)
    await happen({ organization_id: place.organization, edition_id: place.edition }, 1)
    await switchOn(id)
    expect((await recover(id)).body).toMatchObject({ recovered: 2, missed: 1, waiting: 0 })
    expect((await loadDeliveries(id)).map(({ status }) => status).toSorted()).toEqual([
      'pending',
      'retrying',
      'retrying',
    ])
  })

  it('lets an admin of the edition recover its own endpoints alone', async () => {
    const { a, people } = world
    const [one, two] = a.editions
    const mine = await seedSlow({ organization: a.id, edition: one.id })
    const others = await seedSlow({ organization: a.id, edition: two.id })
    const wide = await seedOpenEndpoint({ organization_id: a.id, is_slow: true })
    const [event] = await seedEvents({ organization: a.id, edition: one.id }, 1, { kind: 'purchase.action' })
    await seedEvents({ organization: a.id, edition: two.id }, 1, { kind: 'purchase.action' })
    await recover(mine.id, {}, people.EA.token)
    const editions = await db.all(sql<{ edition_id: string }>`select distinct edition_id from webhook_deliveries
      where endpoint_id = ${mine.id}`)
    expect([editions, (await listEventIds(mine.id)).includes(event?.id ?? '')]).toEqual([
      [{ edition_id: one.id }],
      true,
    ])
    for (const { id } of [others, wide]) expect((await recover(id, {}, people.EA.token)).status).toBe(404)
    expect((await recover(mine.id, {}, people.EM.token)).status).toBe(403)
  })

  it('sends five thousand events at a time, the oldest first', async () => {
    const place = await seedPlace()
    const events = await seedEvents(place, 5001, { kind: 'purchase.action' })
    const { id } = await seedSlow(place)
    expect((await recover(id)).body).toMatchObject({ missed: 5000, has_more_missed: true })
    expect(await listEventIds(id)).toEqual(sortIds(events.slice(0, 5000)))
    expect((await recover(id)).body).toMatchObject({ missed: 1, has_more_missed: false })
    expect(await listEventIds(id)).toEqual(sortIds(events))
  })

  it('adds each delivery once for simultaneous requests, and beside new events', async () => {
    const place = await seedPlace()
    const events = await seedEvents(place, 30, { kind: 'purchase.action' })
    const { id } = await seedSlow(place)
    const works = Array.from({ length: 5 }, () => recover(id))
    await happen({ organization_id: place.organization, edition_id: place.edition }, 5)
    const replies = await Promise.all(works)
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(replies.reduce((sum, { body }) => sum + body.missed, 0)).toBe(30)
    const ids = await listEventIds(id)
    expect([ids.length, new Set(ids).size]).toEqual([35, 35])
    expect(ids).toEqual(expect.arrayContaining(sortIds(events)))
  })

  it('loses no event and sends none twice when the Worker dies at any step', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    let hasCrashed = true
    for (let at = 1; hasCrashed; at++) {
      const place = await seedPlace()
      const events = await seedEvents(place, 3, { kind: 'purchase.action' })
      const { id } = await seedSlow(place)
      const crash = crashAt(at)
      const quiet = { WEBHOOKS: { sendBatch: () => Promise.reject(new Error('The machine is gone.')) } }
      const request = { body: { since, include_missed: true }, headers: { 'idempotency-key': `crash-${at}-${id}` } }
      const send = (bindings: object) => callWith({ ...bindings, ...quiet }, `/v1/webhooks/${id}/recover`, request)
      await send(crash.bindings).catch(() => undefined)
      hasCrashed = crash.hasCrashed()
      const added = (await loadDeliveries(id)).length
      expect([at, [0, 3].includes(added)]).toEqual([at, true])
      await call(`/v1/webhooks/${id}/recover`, { body: { since, include_missed: true } })
      expect([at, await listEventIds(id)]).toEqual([at, sortIds(events)])
      const machine = engine(() => answers(200))
      await sweepDeliveries(machine.job)
      expect([at, machine.enqueued.map(({ endpoint_id }) => endpoint_id).includes(id)]).toEqual([at, true])
      await machine.run([id])
      expect([at, machine.sent.length]).toEqual([at, 3])
    }
  })

  it('adds nothing when the endpoint is switched off meanwhile, and what it still subscribes to when that changes', async () => {
    const place = await seedPlace()
    await seedEvents(place, 2, { kind: 'purchase.action' })
    const [given] = await seedEvents(place, 1, { kind: 'consent.given' })
    const change = (body: object) => async (id: string) => void (await patch(`/v1/webhooks/${id}`, body))
    const interrupt = async (work: (id: string) => Promise<void>) => {
      const { id } = await seedSlow(place, { events: ['purchase.action', 'consent.given'] })
      const bindings = interruptDatabase(/insert into webhook_deliveries/, () => work(id))
      const reply = await callWith(bindings, `/v1/webhooks/${id}/recover`, { body: { since, include_missed: true } })
      return { id, reply }
    }
    const off = await interrupt(change({ is_active: false }))
    expect(describeRefusal(off.reply)).toBe('409 endpoint_inactive')
    expect(await loadDeliveries(off.id)).toEqual([])
    const narrowed = await interrupt(change({ events: ['consent.given'] }))
    expect([narrowed.reply.body.missed, await listEventIds(narrowed.id)]).toEqual([1, [given?.id]])
  })

  it('gives an endpoint every event of its kinds once, however often it is switched and recovered', async () => {
    const steps = fc.array(fc.constantFrom('happen', 'off', 'on', 'recover', 'twice'), { minLength: 3, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(steps, async (some) => {
        const place = await seedPlace()
        const { id } = await seedSlow(place)
        const act = {
          happen: () => happen({ organization_id: place.organization, edition_id: place.edition }, 2),
          off: () => switchOff(id),
          on: () => switchOn(id),
          recover: () => recover(id),
          twice: () => Promise.all([recover(id), recover(id)]),
        }
        for (const step of [...some, 'on', 'recover'] as const) await act[step]()
        const events = await db.all(
          sql<{ id: string }>`select id from webhook_events where organization_id = ${place.organization}`,
        )
        expect(await listEventIds(id)).toEqual(sortIds(events))
        expect((await loadDeliveries(id)).filter(({ status }) => status === 'failed')).toEqual([])
      }),
      { numRuns: dearRuns(40, 8) },
    )
  })
})
