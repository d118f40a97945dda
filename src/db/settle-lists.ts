import type { Database } from './database.ts'
import { nextSpan, recountOf } from './lists/spans/recount-spans.ts'
import { settleScopes } from './lists/spans/settle-spans.ts'
import { divideSpan, isDivisible, nextUndivided } from './lists/spans/span-parts.ts'
import type { ListSpan, SpannedList } from './lists/spans/spanned-list.ts'
import { findNightPosition } from './sweeps/nightly.ts'
import { findSweepPosition, sweepPositionStatement } from './sweeps/sweep-positions.ts'

const scopesASweep = 10

interface Job {
  db: Database
  now: () => number
}

interface ScopesOfSweep {
  name: string
  /** Answers at most so many scopes from the given one on, in their order. */
  findNext: (from: string, most: number) => Promise<readonly string[]>
  /** Works on some scopes. Answers those that it came to no end with. */
  settle: (scopes: readonly string[]) => Promise<readonly string[]>
}

/** Works on the next scopes. A sweep goes on where the one before ended. */
export async function sweepScopes({ db, now }: Job, { name, findNext, settle }: ScopesOfSweep): Promise<void> {
  const from = (await findSweepPosition(db, name))?.after ?? ''
  const found = await findNext(from, scopesASweep + 1)
  const [left] = await settle(found.slice(0, scopesASweep))
  const after = left ?? found[scopesASweep] ?? ''
  if (after !== from) await db.batch([sweepPositionStatement(name, { after, begun_at: now() })])
}

/** Counts rows of the next scopes. */
export const settleNext = (job: Job, list: SpannedList, findNext: ScopesOfSweep['findNext']): Promise<void> =>
  sweepScopes(job, {
    name: `settle ${list.name}`,
    findNext,
    settle: (scopes) => settleScopes(job.db, list, scopes, job.now()),
  })

const spansASweep = 25
const rowsASweep = 20_000
const keyOf = ({ scope, span }: ListSpan): string => `${scope} ${span}`

function spanOf(key: string): ListSpan {
  const [scope = '', span = '-1'] = key.split(' ')
  return { scope, span: Number(span) }
}

/**
 * Counts the next spans anew, each night all of them, and stores what they are. Throws where counts were wrong: they are
 * repaired then, but something changed rows behind what counts them.
 */
export async function recountNext(job: Job, list: SpannedList): Promise<void> {
  const { db } = job
  const name = `recount ${list.name}`
  const begin = await findNightPosition(job, name)
  if (!begin) return
  let last = spanOf(begin.after)
  const wrong: string[] = []
  for (let spans = 0, rows = 0; spans < spansASweep && rows < rowsASweep; spans++) {
    const next = await db.first(nextSpan(list, last))
    const position = sweepPositionStatement(name, { after: next ? keyOf(next) : '', begun_at: begin.begun_at })
    if (!next) {
      await db.batch([position])
      break
    }
    const { repairs, counted } = recountOf(list, next, job.now())
    const [[found], , ...repaired] = await db.batch([counted, position, ...repairs])
    if (repaired.flat().some(({ total }) => total !== 0)) wrong.push(keyOf(next))
    rows += found?.n ?? 0
    last = next
  }
  if (wrong.length) throw new Error(`Counts of ${list.name} were wrong and are repaired: ${wrong.join(', ')}`)
}

const lookedAtASweep = 50

/** Gives the next spans of a list that triggers count parts, where they have many rows. */
export async function divideNext(job: Job, list: SpannedList): Promise<void> {
  const { db } = job
  const name = `divide ${list.name}`
  const from = (await findSweepPosition(db, name))?.after ?? ''
  const found = await db.all(nextUndivided(list, spanOf(from), lookedAtASweep))
  const due = found.filter((one) => one.is_due === 1 && isDivisible(list, one, job.now()))
  for (const span of due) await db.batch(divideSpan(list, span))
  const last = found.length === lookedAtASweep ? found.at(-1) : undefined
  const after = last ? keyOf(last) : ''
  if (after !== from) await db.batch([sweepPositionStatement(name, { after, begun_at: job.now() })])
}
