import { and, eq, getTableColumns, isNull, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { claimUntil, isClaimable } from '../../db/claims.ts'
import { requireOneChange } from '../../db/commit.ts'
import { isLostRace } from '../../db/failures.ts'
import { erasures } from '../../db/schema/customers.ts'
import { mergeSearchIndexes } from '../../db/search.ts'
import { decodeAs, select } from '../../db/select.ts'
import { update } from '../../db/write.ts'
import { buildErasureStatements, type ErasureRow } from './places.ts'
import { searchedPlaces, secondPassAfterMs, type SearchedPlace } from './searches.ts'

/** An erasure continues after this time when a run crashed, or when a campaign was still sending to the person. */
const claimMs = 60_000
const runMs = 15_000
const erasuresPerSweep = 5

/** Claims an erasure that is due. Returns undefined when another run has it. */
const claimErasure = ({ db, now }: JobCtx, id: string): Promise<ErasureRow | undefined> =>
  db.first(
    decodeAs(
      getTableColumns(erasures),
      sql<ErasureRow>`update erasures set ${claimUntil(now(), claimMs)}
        where id = ${id} and due_at <= ${now()} and ${isClaimable(now())} returning *`,
    ),
  )

type ErasureProgress = Partial<Pick<ErasureRow, 'pass' | 'place' | 'cursor' | 'addresses' | 'completed_at'>>

/** Records the progress of an erasure and extends its claim. Throws LostRace when another run has made progress since. */
async function recordProgress(
  job: JobCtx,
  erasure: ErasureRow,
  progress: ErasureProgress,
  times: Partial<Pick<ErasureRow, 'due_at' | 'claimed_until'>> = { claimed_until: job.now() + claimMs },
): Promise<ErasureRow> {
  const isUnchanged = and(
    eq(erasures.id, erasure.id),
    eq(erasures.pass, erasure.pass),
    eq(erasures.place, erasure.place),
    eq(erasures.cursor, erasure.cursor),
    isNull(erasures.completed_at),
  )
  const changes = { ...progress, ...times }
  await job.db.batch([update(erasures, changes, sql`${isUnchanged}`), requireOneChange()])
  return { ...erasure, ...changes }
}

/** Erases the person's own rows again, and ends the pass. The second pass follows when all earlier work has ended. */
async function finishPass(job: JobCtx, erasure: ErasureRow): Promise<null> {
  await job.db.batch(await buildErasureStatements(job.db, erasure, job.now()))
  if (erasure.pass === 1) {
    const due_at = job.now() + secondPassAfterMs
    await recordProgress(job, erasure, { pass: 2, place: '', cursor: '' }, { due_at, claimed_until: null })
    return null
  }
  await mergeSearchIndexes(job.db)
  const completion = { addresses: [], completed_at: job.now() }
  await recordProgress(job, erasure, completion, { due_at: null, claimed_until: null })
  return null
}

const enterPlace = (job: JobCtx, erasure: ErasureRow, place: SearchedPlace): Promise<ErasureRow> =>
  recordProgress(job, erasure, { place: place.name, cursor: place.start(erasure) })

/** Does one step of a pass. Returns null when the pass has ended or has to wait. */
async function eraseNextStep(job: JobCtx, erasure: ErasureRow): Promise<ErasureRow | null> {
  const index = searchedPlaces.findIndex(({ name }) => name === erasure.place)
  const place = searchedPlaces[index]
  const [firstPlace] = searchedPlaces
  if (!place) return firstPlace ? enterPlace(job, erasure, firstPlace) : finishPass(job, erasure)
  const { cursor, is_waiting = false, addresses = erasure.addresses } = await place.search(job, erasure)
  if (cursor !== null) {
    const next = await recordProgress(job, erasure, { cursor, addresses })
    return is_waiting ? null : next
  }
  const nextPlace = searchedPlaces[index + 1]
  return nextPlace ? enterPlace(job, erasure, nextPlace) : finishPass(job, erasure)
}

/** Works on an erasure until the run has no more time. After a crash, the next run repeats the step. */
async function runErasure(job: JobCtx, id: string): Promise<void> {
  const endsAt = Date.now() + runMs
  try {
    let erasure = (await claimErasure(job, id)) ?? null
    while (erasure && Date.now() < endsAt) erasure = await eraseNextStep(job, erasure)
  } catch (error) {
    // Another run has continued the erasure.
    if (!isLostRace(error)) throw error
  }
}

/** Continues erasures that are due, longest due first. An error in one does not stop the others. */
export async function sweepErasures(job: JobCtx): Promise<void> {
  const dueErasures = await job.db.all(
    select({ id: erasures.id })
      .from(erasures)
      .where(sql`due_at <= ${job.now()} and ${isClaimable(job.now())}`)
      .orderBy(erasures.due_at)
      .limit(erasuresPerSweep),
  )
  const errors: unknown[] = []
  for (const { id } of dueErasures) await runErasure(job, id).catch((error: unknown) => errors.push(error))
  if (errors.length) throw new Error('erasures could not be finished', { cause: errors[0] })
}
