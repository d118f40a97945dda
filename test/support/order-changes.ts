import { sql } from 'drizzle-orm'
import type * as fc from 'fast-check'
import { changesOf } from './list-changes.ts'
import { seedManyOrders } from './seeding/many-orders.ts'
import { write } from './seeding/rows.ts'

/** What may happen to orders. */
export const act = changesOf(
  'amount',
  'status',
  'type',
  'number',
  'no number',
  'created',
  'edition',
  'nothing',
  'search',
)
export type Act = typeof act extends fc.Arbitrary<infer One> ? One : never

const isSome = ({ part, rest }: { part: number; rest: number }) => sql`seq % ${part} = ${rest % part}`

const changed = (editions: readonly string[], now: number) => ({
  amount: sql`amount_minor = amount_minor * 13 % 90000`,
  status: sql`status = iif(status = 'pending', 'completed', 'pending')`,
  type: sql`type = iif(type = 'online', 'in-person', 'online')`,
  number: sql`number_key = '02' || seq % 90`,
  'no number': sql`number_key = null`,
  created: sql`created_at = created_at * 3 % ${now}`,
  edition: sql`edition_id = iif(edition_id = ${editions[0]}, ${editions[1]}, ${editions[0]})`,
  nothing: sql`status = status`,
  search: sql`search = 'x'`,
})

/** Does what changes orders. */
export async function changeOrders(
  one: Act,
  place: { organization: string; editions: readonly string[] },
  now: number,
): Promise<void> {
  const ofPlace = sql`organization_id = ${place.organization}`
  if (one.act === 'insert') {
    const edition_id = place.editions[one.edition] ?? ''
    await seedManyOrders({ organization_id: place.organization, edition_id }, one.many)
    await write(
      sql`update orders set modified_at = ${now - one.age} where ${ofPlace} and seq > (select max(seq) - ${one.many} from orders)`,
    )
  }
  if (one.act === 'change')
    await write(sql`update orders set ${changed(place.editions, now)[one.set]} ${one.isLater ? sql`, modified_at = ${now}` : sql``}
      where ${ofPlace} and ${isSome(one.some)}`)
  if (one.act === 'delete') await write(sql`delete from orders where ${ofPlace} and ${isSome(one.some)}`)
}
