import type { SQL } from 'drizzle-orm'
import type { Database } from '../database.ts'
import { findSweepPosition, type SweepPosition, sweepPositionStatement } from './sweep-positions.ts'

/** The hour of the day in which counts are looked at, UTC. */
const workingHour = 3
const passAgainMs = 12 * 3_600_000

interface NightJob {
  db: Database
  now: () => number
}

/** Where a sweep of the night goes on; null by day, and while its last pass through all rows is from this night. */
async function findNightPosition({ db, now }: NightJob, name: string): Promise<SweepPosition | null> {
  if (new Date(now()).getUTCHours() !== workingHour) return null
  const position = await findSweepPosition(db, name)
  if (position?.after) return position
  if (position && now() - position.begun_at < passAgainMs) return null
  return { after: '', begun_at: now() }
}

const partsASweep = 25
const rowsASweep = 20_000

/** What is compared with its rows by night, one part after the other. */
interface NightlyCheck<Part> {
  /** Of the sweep. */
  name: string
  /** What an error says, before it names what was wrong. */
  fault: string
  /** A sweep ends after so many rows, where it does not end after 20,000. */
  rows?: number
  findNext: (after: string) => Promise<Part | undefined>
  placeOf: (part: Part) => string
  /** Compares a part and repairs it, in one transaction with where the sweep goes on. Answers what was wrong of how many rows. */
  repair: (part: Part, position: SQL) => Promise<{ wrong: readonly string[]; rows: number }>
}

/** An error names so many of the things that were wrong, and says how many others there are. */
const mostNamed = 50

function namesOf(wrong: readonly string[]): string {
  const others = wrong.length - mostNamed
  return `${wrong.slice(0, mostNamed).join(', ')}${others > 0 ? `, and ${others} more` : ''}`
}

async function checkParts<Part>(
  { db }: NightJob,
  check: NightlyCheck<Part>,
  begin: SweepPosition,
  wrong: string[],
): Promise<void> {
  const { name, rows: mostRows = rowsASweep, findNext, placeOf, repair } = check
  let last = begin.after
  for (let parts = 0, rows = 0; parts < partsASweep && rows < mostRows; parts++) {
    const next = await findNext(last)
    last = next ? placeOf(next) : ''
    const position = sweepPositionStatement(name, { after: last, begun_at: begin.begun_at })
    if (!next) {
      await db.batch([position])
      return
    }
    const found = await repair(next, position)
    wrong.push(...found.wrong)
    rows += found.rows
  }
}

/**
 * Compares the next parts with their rows, and stores what they are. Throws where some were wrong: they are repaired then,
 * but something changed rows behind what keeps them.
 */
export async function checkAtNight<Part>(job: NightJob, check: NightlyCheck<Part>): Promise<void> {
  const begin = await findNightPosition(job, check.name)
  if (!begin) return
  const wrong: string[] = []
  // What was repaired is said, too, where a later part fails.
  const failure = await checkParts(job, check, begin, wrong).then(
    () => null,
    (cause: unknown) => ({ cause }),
  )
  if (wrong.length) throw new Error(`${check.fault}: ${namesOf(wrong)}`, failure ?? {})
  if (failure) throw failure.cause
}
