import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { deliveryLifecycle, type DeliveryStatus } from '../../../src/domain/webhooks/webhooks.ts'
import { failOpenDeliveries } from '../../../src/modules/webhooks/delivery/switch-off.ts'
import { sweepDeliveries } from '../../../src/modules/webhooks/jobs.ts'
import { givenOrganization } from '../../support/seeding/organizations.ts'
import { db } from '../../support/seeding/rows.ts'
import { seedOpenEndpoint } from '../../support/seeding/webhooks.ts'
import { expectVerified } from '../../support/verified.ts'
import { allAttempts, answers, loadDeliveries, engine, happen, timesOut } from '../../support/webhooks.ts'

afterAll(expectVerified)

const minute = 60_000

/**
 * One post ends with an answer, with a crash before or after the receiver got it, or so late that another consumer
 * has made the next attempt.
 */
const endings = ['ok', 'ok', 'failure', 'timeout', 'retry-after', 'dies before', 'dies after', 'overtaken'] as const
type Ending = (typeof endings)[number]

type Step =
  | { do: 'announce'; count: number }
  | { do: 'messages'; copies: number; endings: Ending[] }
  | { do: 'sweep' }
  | { do: 'wait'; minutes: number }
  | { do: 'rotate' }
  | { do: 'switch off' }
  | { do: 'switch on' }
  | { do: 'retry' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('announce' as const), count: fc.integer({ min: 1, max: 6 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('messages' as const),
      copies: fc.integer({ min: 1, max: 3 }),
      endings: fc.array(fc.constantFrom(...endings), { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), minutes: fc.constantFrom(1, 6, 200, 2000) }) },
  fc.constant({ do: 'sweep' as const }),
  fc.constant({ do: 'rotate' as const }),
  fc.constant({ do: 'switch off' as const }),
  fc.constant({ do: 'switch on' as const }),
  fc.constant({ do: 'retry' as const }),
)

/** All steps use one endpoint and its receiver. */
async function seedDeliveryWorld() {
  const endpoint = await seedOpenEndpoint()
  /** Posts that reached the receiver, by event. */
  const received = new Map<string, number>()
  let diedBefore = 0
  let overtaken = 0
  let script: Ending[] = []
  const machine = engine(async ({ headers }) => {
    const ending = script.shift() ?? 'ok'
    if (ending === 'dies before') {
      diedBefore++
      throw new Error('the consumer dies')
    }
    const id = headers['webhook-id'] ?? ''
    received.set(id, (received.get(id) ?? 0) + 1)
    switch (ending) {
      case 'dies after':
        throw new Error('the consumer dies')
      case 'overtaken':
        overtaken++
        machine.advance(2 * minute)
        await machine.runUntilCrash([endpoint.id])
        return answers(500)
      case 'failure':
        return answers(500)
      case 'timeout':
        return timesOut
      case 'retry-after':
        return answers(503, { retryAfter: '120' })
      default:
        return answers(200)
    }
  })
  return {
    endpoint,
    machine,
    received,
    play: (next: Ending[]) => (script = [...next]),
    diedBefore: () => diedBefore,
    overtaken: () => overtaken,
  }
}

type World = Awaited<ReturnType<typeof seedDeliveryWorld>>

async function take(world: World, one: Step): Promise<void> {
  const { endpoint, machine, play } = world
  const now = machine.job.now()
  switch (one.do) {
    case 'announce':
      return happen(endpoint, one.count, { now })
    case 'messages':
      play(one.endings)
      await Promise.all(Array.from({ length: one.copies }, () => machine.runUntilCrash([endpoint.id])))
      return void play([])
    case 'wait':
      return void machine.advance(one.minutes * minute)
    case 'sweep':
      return void (await sweepDeliveries(machine.job))
    case 'rotate':
      return void (await db.batch([
        sql`update webhook_endpoints set previous_secret = secret, previous_secret_until = ${now + minute}
          where id = ${endpoint.id}`,
      ]))
    case 'switch off':
      return void (await db.batch([
        sql`update webhook_endpoints set is_active = 0 where id = ${endpoint.id}`,
        failOpenDeliveries([endpoint.id], now),
      ]))
    case 'switch on':
      return void (await db.batch([
        sql`update webhook_endpoints set is_active = 1, failures_in_row = 0, failing_since = null, breaker_until = null
          where id = ${endpoint.id}`,
      ]))
    case 'retry':
      return void (await db.batch([
        sql`update webhook_deliveries set status = 'retrying', manual = 'alone', next_retry_at = ${now}
          where endpoint_id = ${endpoint.id} and status in ('failed', 'exhausted')`,
      ]))
  }
}

const hasEnded = (status: string): boolean => ['success', 'failed', 'exhausted'].includes(status)

/**
 * Checks what must hold at every moment: open deliveries have a due time, ended ones have none, and attempts are the
 * posts that were made.
 */
async function check(world: World): Promise<void> {
  const deliveries = await loadDeliveries(world.endpoint.id)
  const attempts = await db.all(sql<{ delivery_id: string; number: number }>`select delivery_id, number
    from ${allAttempts} where delivery_id in (select id from webhook_deliveries where endpoint_id = ${world.endpoint.id})`)
  let unheard = 0
  for (const delivery of deliveries) {
    const isOpen = !hasEnded(delivery.status)
    expect(deliveryLifecycle.states).toContain(delivery.status as DeliveryStatus)
    expect(delivery.next_retry_at === null, `${delivery.status} ${delivery.next_retry_at}`).toBe(!isOpen)
    const posts = world.received.get(delivery.event_id) ?? 0
    expect(delivery.attempts).toBeGreaterThanOrEqual(posts)
    unheard += delivery.attempts - posts
    const numbers = attempts.filter(({ delivery_id }) => delivery_id === delivery.id).map(({ number }) => number)
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(Math.max(0, ...numbers)).toBeLessThanOrEqual(delivery.attempts)
  }
  // A consumer whose claim is over does not make the posts that it has not begun.
  const dropped = unheard - world.diedBefore()
  expect(dropped).toBeGreaterThanOrEqual(0)
  expect(dropped).toBeLessThanOrEqual(world.overtaken() * deliveries.length)
}

/** Without further faults all open deliveries must arrive. */
async function runToEnd(world: World): Promise<void> {
  const { machine, endpoint } = world
  for (let turn = 0; turn < 12; turn++) {
    machine.advance(26 * 60 * minute)
    await sweepDeliveries(machine.job)
    await machine.runUntilCrash([endpoint.id])
    await machine.runUntilCrash([endpoint.id])
    if ((await loadDeliveries(endpoint.id)).every(({ status }) => hasEnded(status))) return
  }
}

describe('webhook deliveries under random faults', () => {
  it('are never lost, are posted once for each claim, and end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        const world = await seedDeliveryWorld()
        for (const nextStep of steps) {
          await take(world, nextStep)
          await check(world)
        }
        await take(world, { do: 'switch on' })
        await take(world, { do: 'retry' })
        await runToEnd(world)
        await check(world)
        const deliveries = await loadDeliveries(world.endpoint.id)
        for (const delivery of deliveries) expect([delivery.id, delivery.status]).toEqual([delivery.id, 'success'])
        for (const delivery of deliveries) expect(world.received.get(delivery.event_id)).toBeGreaterThanOrEqual(1)
      }),
      { numRuns: 25 },
    )
  })
})

/** Takes a real turn of the event loop, also while timers are simulated. */
const realTimer = globalThis.setTimeout
const turn = () => new Promise<void>((resolve) => void realTimer(resolve, 0))

/** Lets the database finish while simulated time stands still, then moves time on. */
function simulatedTime(machine: ReturnType<typeof engine>) {
  const { db: database } = machine.job
  let busy = 0
  for (const name of ['all', 'batch'] as const) {
    const call = database[name].bind(database) as (query: never) => Promise<never>
    database[name] = async (query: never) => {
      busy++
      return call(query).finally(() => busy--)
    }
  }
  return async (ms: number) => {
    for (let calm = 0; calm < 3; calm = busy === 0 ? calm + 1 : 0) await turn()
    machine.advance(ms)
    await vi.advanceTimersByTimeAsync(ms)
  }
}

const quickMs = 20
const hangMs = 15_000
/**
 * A pool gives a waiting delivery away after six checks of 30 ms, and finds at least one endpoint that hangs each time.
 */
const waitMs = (hanging: number): number => (1 + hanging) * (6 * 30 + quickMs)

async function waitsBesides(hanging: number, well: number, events: number): Promise<void> {
  const place = { organization_id: (await givenOrganization()).id }
  const endpoints = await Promise.all(Array.from({ length: hanging + well }, () => seedOpenEndpoint(place)))
  const healthy = new Set(endpoints.slice(hanging).map(({ url }) => url))
  await happen(place, events)
  const waits: number[] = []
  let ended = 0
  const machine = engine(async ({ url }) => {
    if (healthy.has(url)) waits.push(machine.job.now() - began)
    await new Promise((resolve) => setTimeout(resolve, healthy.has(url) ? quickMs : hangMs))
    ended++
    return healthy.has(url) ? answers(200) : timesOut
  })
  const began = machine.job.now()
  const advance = simulatedTime(machine)
  const working = machine.run(endpoints.map(({ id }) => id))
  // The wait is shorter than the first timeout, so that no slot becomes free by itself.
  while (waits.length < well * events && machine.job.now() - began < hangMs) await advance(10)
  expect(waits).toHaveLength(well * events)
  // When one slot is left, all other posts to healthy endpoints may come before the last one.
  expect(Math.max(...waits)).toBeLessThanOrEqual(waitMs(hanging) + well * events * quickMs)
  const over = working.then(() => true)
  while (!(await Promise.race([over, advance(1000)])));
  expect(ended).toBe(machine.sent.length)
}

describe('a delivery to a healthy endpoint', () => {
  it('waits for a limited time, beside any number of hanging endpoints', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 0, max: 12 }),
          fc.integer({ min: 1, max: 6 }),
          fc.integer({ min: 1, max: 4 }),
          waitsBesides,
        ),
        { numRuns: 8 },
      )
    } finally {
      vi.useRealTimers()
    }
  })
})
