import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { dayMs } from '../../src/domain/time/instants.ts'
import { deliveryStatuses } from '../../src/domain/webhooks/webhooks.ts'
import { sweepEvents } from '../../src/modules/webhooks/jobs.ts'
import { contextAt } from './context.ts'
import { type LongEndpoint, seedManyDeliveries } from './delivery-intervals.ts'
import { write } from './seeding/rows.ts'

const minute = 60_000

/** What may happen to deliveries. */
export const deliveryChange = fc.oneof(
  fc.record({
    act: fc.constant('add' as const),
    many: fc.constantFrom(1, 40, 300),
    step: fc.constantFrom(0, 1000, 600_000),
  }),
  fc.record({
    act: fc.constant('change' as const),
    status: fc.constantFrom(...deliveryStatuses, null),
    part: fc.constantFrom(1, 3, 40, 700),
    rest: fc.nat({ max: 700 }),
  }),
  fc.record({ act: fc.constant('wait' as const), ms: fc.constantFrom(minute, 9 * minute, 20 * minute, dayMs) }),
  fc.record({ act: fc.constant('sweep' as const) }),
)
export type DeliveryChange = typeof deliveryChange extends fc.Arbitrary<infer One> ? One : never

/** Does what changes deliveries. */
export async function changeDeliveries(
  one: DeliveryChange,
  { place, other, endpoint }: LongEndpoint,
  now: number,
): Promise<void> {
  if (one.act === 'add')
    await seedManyDeliveries(place, endpoint, { count: one.many, from: now, step: one.step, other })
  if (one.act === 'sweep') await sweepEvents(contextAt(now))
  if (one.act === 'change')
    await write(sql`update webhook_deliveries set status = coalesce(${one.status}, status), modified_at = ${now}
      where endpoint_id = ${endpoint} and created_at <= ${now} and substr(id, -6) % ${one.part} = ${one.rest % one.part}`)
}
