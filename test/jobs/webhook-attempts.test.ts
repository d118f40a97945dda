import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { findDelivery } from '../../src/modules/webhooks/queries.ts'
import { createContextAt } from '../support/context.ts'
import { db } from '../support/seeding/rows.ts'
import { seedOpenEndpoint } from '../support/seeding/webhooks.ts'
import { answers, listAttempts, loadDeliveries, engine, happen } from '../support/webhooks.ts'

const minute = 60_000

const loadDelivery = async (endpointId: string) => {
  const [delivery] = await loadDeliveries(endpointId)
  if (!delivery) throw new Error('no delivery was made')
  return delivery
}

describe('the attempts of a delivery', () => {
  it('are all listed, the latest and the earlier ones', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint)
    const { run, advance } = engine((_, count) => answers(count < 3 ? 500 : 200))
    const { id } = await loadDelivery(endpoint.id)
    const listMovedAttempts = () =>
      db.all(sql<{ number: number }>`select number from webhook_attempts where delivery_id = ${id}`)
    await run([endpoint.id])
    expect(await listMovedAttempts()).toEqual([])
    expect((await findDelivery(createContextAt(Date.now()), endpoint.id, id)).attempt_log).toMatchObject([
      { number: 1, status_code: 500, is_manual: false, next_reason: 'schedule' },
    ])
    for (let later = 0; later < 2; later++) {
      advance(60 * minute)
      await run([endpoint.id])
    }
    expect(await listMovedAttempts()).toEqual([{ number: 1 }, { number: 2 }])
    expect((await findDelivery(createContextAt(Date.now()), endpoint.id, id)).attempt_log).toMatchObject([
      { number: 1, status_code: 500, error: 'http_error' },
      { number: 2, status_code: 500, error: 'http_error' },
      { number: 3, status_code: 200, error: null, next_retry_at: null, next_reason: null },
    ])
  })

  it('include one whose result comes after the next was stored', async () => {
    const endpoint = await seedOpenEndpoint()
    await happen(endpoint)
    const machine = engine(async (_, count) => {
      if (count > 1) return answers(200)
      machine.advance(2 * minute)
      await machine.run([endpoint.id])
      return answers(500)
    })
    await machine.run([endpoint.id])
    const { id, status, attempts } = await loadDelivery(endpoint.id)
    expect([status, attempts]).toEqual(['success', 2])
    expect(await listAttempts(id)).toMatchObject([
      { number: 1, status_code: 500 },
      { number: 2, status_code: 200 },
    ])
  })
})
