import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFailure } from '../../../src/domain/messaging/messaging.ts'
import { transactionalEmailLifecycle } from '../../../src/domain/messaging/transactional-emails.ts'
import { sweepEmails } from '../../../src/modules/transactional-emails/jobs.ts'
import { type Conduct, createProvider, createReceiptEngine, listReceipts, sell } from '../../support/receipts.ts'
import { db } from '../../support/seeding/rows.ts'
import { aReceiptOrder, seedShopWithReceipts, type Shop } from '../../support/seeding/sales/orders.ts'

const minute = 60_000

const conducts: readonly Conduct[] = [
  'accept',
  'accept and lose the answer',
  'accept and die',
  'die',
  createFailure('transient', 'http_500', ''),
  createFailure('rate_limited', 'rate_limit', '', 90_000),
  createFailure('configuration', 'invalid_api_key', ''),
  createFailure('sender', 'validation_error', ''),
]

type Step =
  | { do: 'sell'; count: number }
  | { do: 'messages'; copies: number; script: Conduct[]; trips: number | undefined }
  | { do: 'wait'; minutes: number }
  | { do: 'sweep' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sell' as const), count: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('messages' as const),
      // With this value the consumer gets no message, as if it was lost.
      copies: fc.integer({ min: 0, max: 3 }),
      script: fc.array(fc.constantFrom(...conducts), { maxLength: 4 }),
      // The consumer crashes at one of its round trips.
      trips: fc.option(fc.integer({ min: 0, max: 14 }), { nil: undefined }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), minutes: fc.constantFrom(1, 3, 15, 120) }) },
  fc.constant({ do: 'sweep' as const }),
)

let opened: Promise<Shop> | undefined

async function open(deduplicates: boolean) {
  await db.all(sql`delete from transactional_emails`)
  const shop = await (opened ??= seedShopWithReceipts())
  const provider = createProvider({ deduplicates })
  const engine = createReceiptEngine(provider.gateway, Date.now() + 1000)
  let bought = 0
  async function take(one: Step): Promise<void> {
    switch (one.do) {
      case 'sell':
        bought += one.count
        return void (await sell(
          shop,
          Array.from({ length: one.count }, () => aReceiptOrder()),
        ))
      case 'messages':
        provider.play(one.script)
        await Promise.all(Array.from({ length: one.copies }, () => engine.runUntilCrash(one.trips)))
        return provider.play([])
      case 'wait':
        return void engine.advance(one.minutes * minute)
      case 'sweep':
        return sweepEmails(engine.job)
    }
  }
  /** No further faults happen, and time passes. */
  async function runToEnd(): Promise<void> {
    const isOpen = async () => (await listReceipts(shop)).some(({ status }) => status === 'pending')
    for (let turn = 0; turn < 8 && (await isOpen()); turn++) {
      engine.advance(130 * minute)
      await engine.runUntilCrash()
    }
  }
  return { shop, provider, take, runToEnd, bought: () => bought }
}

type World = Awaited<ReturnType<typeof open>>

/** Checks what must hold at every moment: one receipt for an order, a due time for open ones, and none sent twice. */
async function check({ shop, provider, bought }: World): Promise<void> {
  const rows = await listReceipts(shop)
  expect(rows).toHaveLength(bought())
  for (const row of rows) {
    expect(transactionalEmailLifecycle.states).toContain(row.status)
    expect(row.due_at === null).toBe(row.status !== 'pending')
    const got = provider.accepted.get(row.recipient) ?? 0
    expect(got).toBeLessThanOrEqual(1)
    if (row.status === 'sent') expect(got).toBe(1)
    // A receipt whose sending is unknown to the service is marked as doubtful.
    if (got === 1 && row.status === 'pending') expect(row.is_doubtful).toBe(true)
  }
}

const numRuns = 15

describe('receipts under random faults', () => {
  it('arrive exactly once when the provider deduplicates by key', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
        const world = await open(true)
        for (const nextStep of [{ do: 'sell', count: 2 } as const, ...steps]) {
          await world.take(nextStep)
          await check(world)
        }
        await world.runToEnd()
        await check(world)
        const rows = await listReceipts(world.shop)
        expect(rows.map(({ id, status }) => [id, status])).toEqual(rows.map(({ id }) => [id, 'sent']))
      }),
      { numRuns },
    )
  })

  it('arrive at most once, or end as unknown, when the provider does not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
        const world = await open(false)
        for (const nextStep of [{ do: 'sell', count: 2 } as const, ...steps]) {
          await world.take(nextStep)
          await check(world)
        }
        await world.runToEnd()
        await check(world)
        for (const row of await listReceipts(world.shop)) {
          if (row.status === 'sent') continue
          expect([row.status, row.error_code]).toEqual(['failed', 'unknown'])
        }
      }),
      { numRuns },
    )
  })
})
