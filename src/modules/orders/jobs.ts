import type { JobCtx } from '../../context.ts'
import { findNextSpan, ordersOf, type OrderSpan, recountOthers, recountStatements } from './counts/recount.ts'
import { findSweepPosition, sweepPositionStatement } from '../../db/sweeps/sweep-positions.ts'

const sweepName = 'order-counts'
/** The hour of the day in which counts are looked at, UTC. */
const workingHour = 3
const passAgainMs = 12 * 3_600_000
const ordersASweep = 20_000
const spansASweep = 25

const hourOf = (at: number): number => new Date(at).getUTCHours()

const keyOf = ({ edition_id, span }: OrderSpan): string => `${edition_id}:${span}`

function spanOf(key: string): OrderSpan {
  const [edition_id = '', span = '0'] = key.split(':')
  return { edition_id, span: Number(span) }
}

/** Where the sweep goes on; null while the last pass through all editions is from this night. */
async function findBegin({ db, now }: Pick<JobCtx, 'db' | 'now'>) {
  const position = await findSweepPosition(db, sweepName)
  if (position?.after) return { last: spanOf(position.after), begun_at: position.begun_at }
  if (position && now() - position.begun_at < passAgainMs) return null
  return { last: { edition_id: '', span: 0 }, begun_at: now() }
}

/**
 * Counts orders, purchases and customers anew, each night those of the next spans, and stores what they are. Throws where counts were wrong: they
 * are repaired then, but something changed orders behind the triggers, or triggers are wrong.
 */
export async function recountOrders({ db, now }: Pick<JobCtx, 'db' | 'now'>): Promise<void> {
  if (hourOf(now()) !== workingHour) return
  const begin = await findBegin({ db, now })
  if (!begin) return
  const { begun_at } = begin
  let { last } = begin
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
