import { sql } from 'drizzle-orm'
import type * as fc from 'fast-check'
import { changesOf } from './list-changes.ts'
import { copyRequests, type LongRefunds } from './refund-intervals.ts'
import { write } from './seeding/rows.ts'

/** What may happen to requests. */
export const change = changesOf('amount', 'status', 'reason', 'created', 'edition', 'older', 'nothing', 'note')
export type Change = typeof change extends fc.Arbitrary<infer One> ? One : never

const changed = ([first, second]: readonly string[]) => ({
  amount: sql`requested_minor = requested_minor * 13 % 9000`,
  status: sql`status = iif(status = 'pending', 'rejected', 'pending')`,
  reason: sql`reason = iif(reason = 'fraud', 'other', 'fraud')`,
  created: sql`created_at = created_at + 8640000000`,
  edition: sql`edition_id = iif(edition_id = ${first}, ${second}, ${first})`,
  older: sql`modified_at = modified_at - 7200000`,
  nothing: sql`status = status`,
  note: sql`note = 'x'`,
})

/** Does what changes requests. */
export async function changeRefunds(one: Change, place: LongRefunds, now: number): Promise<void> {
  const { organization, editions, first } = place
  if (one.act === 'insert') {
    const given = { count: one.many, from: now - one.age, step: 0 }
    await copyRequests(place, editions[one.edition] ?? '', given)
  }
  if (one.act !== 'change' && one.act !== 'delete') return
  const { part, rest } = one.some
  const these = sql`where organization_id = ${organization} and id <> ${first} and (unicode(substr(id, -1)) * 64 + unicode(substr(id, -2)) * 8 + unicode(substr(id, -3))) % ${part} = ${rest % part}`
  if (one.act === 'delete') return write(sql`delete from refund_requests ${these}`)
  const moved = one.isLater && one.set !== 'older' ? sql`, modified_at = ${now}` : sql``
  await write(sql`update refund_requests set ${changed(editions)[one.set]} ${moved} ${these}`)
}
