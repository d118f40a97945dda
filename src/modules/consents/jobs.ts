import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { hasStatus } from '../../db/consents.ts'
import { buildContactColumn } from '../../db/customers.ts'
import { getStateAfterRequest } from '../../domain/consents/consents.ts'
import { LostRace } from '../../domain/errors.ts'
import { commitAnnounced } from '../webhooks/index.ts'
import {
  answerRaces,
  buildAnswerAnnouncements,
  buildAnswerStatements,
  buildClosingRecord,
  buildExpiryRecord,
  type RecordRow,
} from './answers/records.ts'

/** A sweep expires consents in this many transactions and leaves the rest to the next sweep. */
const batchesPerSweep = 40
const consentsPerBatch = 250
const requestsPerSweep = 500

interface DueRow extends RecordRow {
  key: string
  email: string | null
}

/**
 * Lists consents that have ended. The status is a literal, because SQLite does not use a partial index for a bound
 * value.
 */
const listDueConsents = ({ db, now }: JobCtx, limit: number): Promise<DueRow[]> =>
  db.all(
    sql<DueRow>`select r.*, consents.key, ${buildContactColumn(sql`users`, 'email', sql`r.edition_id`)} as email
      from (select user_id, consent_id, number from consent_records
        where is_latest = 1 and ${hasStatus(sql`consent_records`, 'given')}
          and expires_at is not null and expires_at <= ${now()}
        order by expires_at limit ${limit}) as due
      cross join consent_records r on r.user_id = due.user_id and r.consent_id = due.consent_id and r.number = due.number
      cross join consents on consents.id = r.consent_id cross join users on users.id = r.user_id`,
  )

/** Records the consents as expired in one transaction. Throws LostRace when one of them was answered meanwhile. */
async function expireConsents(job: JobCtx, rows: readonly DueRow[]): Promise<void> {
  const answers = await Promise.all(
    rows.map(async ({ key, email, ...before }) => ({
      definition: { key },
      user: { id: before.user_id, email },
      before,
      records: [await buildExpiryRecord(job, before)],
    })),
  )
  await commitAnnounced(job, buildAnswerStatements(answers), answers.flatMap(buildAnswerAnnouncements), answerRaces)
}

/** Records consents that have ended as expired, each once even when two sweeps overlap. Returns how many. */
export async function sweepConsents(job: JobCtx, batchSize = consentsPerBatch): Promise<number> {
  let expiredCount = 0
  for (let batch = 0; batch < batchesPerSweep; batch++) {
    const rows = await listDueConsents(job, batchSize)
    if (rows.length === 0) break
    try {
      await expireConsents(job, rows)
      expiredCount += rows.length
    } catch (error) {
      if (!(error instanceof LostRace)) throw error
    }
  }
  return expiredCount
}

/**
 * Closes requests that were not confirmed in time. The new record has the status before the request, or `skipped` when
 * there was none. Webhooks get an event only when that changes the status. The status in the query is a literal,
 * because SQLite does not use a partial index for a bound value.
 */
export async function sweepLapsed(job: JobCtx): Promise<number> {
  const now = job.now()
  const rows = await job.db.all(sql<DueRow>`select r.*, consents.key,
      ${buildContactColumn(sql`users`, 'email', sql`r.edition_id`)} as email
    from (select user_id, consent_id, number from consent_records indexed by consent_records_waiting
        where is_latest = 1 and ${hasStatus(sql`consent_records`, 'pending')} and expires_at <= ${now}
        order by expires_at limit ${requestsPerSweep}) due
      cross join consent_records r on r.user_id = due.user_id and r.consent_id = due.consent_id and r.number = due.number
      join consents on consents.id = r.consent_id join users on users.id = r.user_id`)
  if (rows.length === 0) return 0
  const answers = await Promise.all(
    rows.map(async ({ key, email, ...before }) => {
      const records = [await buildClosingRecord(job, before, getStateAfterRequest(before))]
      return { definition: { key }, user: { id: before.user_id, email }, before, records }
    }),
  )
  const changedAnswers = answers.filter(({ before, records }) => records[0]?.status !== before.previous_status)
  try {
    await commitAnnounced(
      job,
      buildAnswerStatements(answers),
      changedAnswers.flatMap(buildAnswerAnnouncements),
      answerRaces,
    )
  } catch (error) {
    // A request was answered, or another sweep closed it. The next sweep tries again.
    if (!(error instanceof LostRace)) throw error
    return 0
  }
  return rows.length
}
