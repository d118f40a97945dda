import type { JobCtx } from '../../context.ts'
import { findNextSpan, ordersOf, type OrderSpan, recountOthers, recountStatements } from './counts/recount.ts'
import { keyOfInterval, nextInterval, recountOfInterval } from './intervals/recount-intervals.ts'
import { intervalSizes, longOrganizations, settleOrganizations } from './intervals/settle-orders.ts'
import { sweepScopes } from '../../db/settle-lists.ts'
import { findNightPosition } from '../../db/sweeps/nightly.ts'
import { sweepPositionStatement } from '../../db/sweeps/sweep-positions.ts'

const sweepName = 'order-counts'
const ordersASweep = 20_000
const spansASweep = 25

const keyOf = ({ edition_id, span }: OrderSpan): string => `${edition_id}:${span}`

function spanOf(key: string): OrderSpan {
  const [edition_id = '', span = '0'] = key.split(':')
  return { edition_id, span: Number(span) }
}

/**
 * Counts orders, purchases and customers anew, each night those of the next spans, and stores what they are. Throws where counts were wrong: they
 * are repaired then, but something changed orders behind the triggers, or triggers are wrong.
 */
export async function recountOrders({ db, now }: Pick<JobCtx, 'db' | 'now'>): Promise<void> {
  const begin = await findNightPosition({ db, now }, sweepName)
  if (!begin) return
  const { begun_at } = begin
  let last = spanOf(begin.after)
  const wrong: string[] = []
  for (let spans = 0, orders = 0; spans < spansASweep && orders < ordersASweep; spans++) {
    const next = await findNextSpan(db, last)
    const position = sweepPositionStatement(sweepName, { after: next ? keyOf(next) : '', begun_at })
    if (!next) {
      await db.batch([position])
      break
    }
    const parts = await db.batch([
      ...recountStatements(next),
      ...recountOthers(next, next.edition_id !== last.edition_id),
      position,
    ])
    // The position answers no rows.
    const repaired = parts.reduce((sum, rows) => sum + rows.length, 0)
    if (repaired > 0) wrong.push(`${keyOf(next)} (${repaired} of its parts)`)
    orders += (await db.first(ordersOf(next)))?.n ?? 0
    last = next
  }
  if (wrong.length) throw new Error(`Counts of orders were wrong and are repaired: ${wrong.join(', ')}`)
}

/** Counts orders of intervals that are some minutes old, so that lists need not. */
export const settleOrders = ({ db, now }: Pick<JobCtx, 'db' | 'now'>, sizes = intervalSizes): Promise<void> =>
  sweepScopes(
    { db, now },
    {
      name: 'settle orders',
      findNext: (from, most) => longOrganizations(db, from, { most, sizes }),
      settle: (organizations) => settleOrganizations(db, organizations, { now: now(), sizes }),
    },
  )

/**
 * Counts intervals anew, each night the next ones, and stores what they are. Throws where they were wrong: they are
 * repaired then, but something changed orders behind the triggers.
 */
export async function recountIntervals({ db, now }: Pick<JobCtx, 'db' | 'now'>): Promise<void> {
  const name = 'recount order intervals'
  const begin = await findNightPosition({ db, now }, name)
  if (!begin) return
  let last = begin.after
  const wrong: string[] = []
  for (let intervals = 0, orders = 0; intervals < spansASweep && orders < ordersASweep; intervals++) {
    const next = await db.first(nextInterval(last))
    last = next ? keyOfInterval(next) : ''
    const position = sweepPositionStatement(name, { after: last, begun_at: begin.begun_at })
    if (!next) {
      await db.batch([position])
      break
    }
    const [repaired] = await db.batch([...recountOfInterval(next, intervalSizes.orders), position])
    if (repaired.length) wrong.push(last)
    orders += next.total
  }
  if (wrong.length) throw new Error(`Counts of intervals were wrong and are repaired: ${wrong.join(', ')}`)
}
