import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { buildContactColumn } from '../../../db/customers.ts'
import { hasStatus } from '../../../db/consents.ts'
import { stateAfterRequest } from '../../../domain/consents/consents.ts'
import { LostRace } from '../../../domain/errors.ts'
import { commitAnnounced } from '../../webhooks/index.ts'
import { answerAnnouncements, answerRaces, answerStatements, closingRecord, type RecordRow } from './records.ts'

const answersASweep = 500

type LapsedRow = RecordRow & { key: string; email: string | null }

/**
 * Closes requests that were not confirmed in time, each with one record: of the answer before the request, or of a skipped
 * one without such an answer. Webhooks get an event where that changes the answer. The status is written out, because the
 * index has waiting answers only and is not used for a bound value.
 */
export async function sweepLapsed(job: JobCtx): Promise<number> {
  const now = job.now()
  const rows = await job.db.all(sql<LapsedRow>`select r.*, consents.key,
      ${buildContactColumn(sql`users`, 'email', sql`r.edition_id`)} as email
    from (select user_id, consent_id, number from consent_records indexed by consent_records_waiting
        where is_latest = 1 and ${hasStatus(sql`consent_records`, 'pending')} and expires_at <= ${now}
        order by expires_at limit ${answersASweep}) due
      cross join consent_records r on r.user_id = due.user_id and r.consent_id = due.consent_id and r.number = due.number
      join consents on consents.id = r.consent_id join users on users.id = r.user_id`)
  if (rows.length === 0) return 0
  const closed = await Promise.all(
    rows.map(async ({ key, email, ...before }) => {
      const records = [await closingRecord(job, before, stateAfterRequest(before))]
      return { definition: { key }, user: { id: before.user_id, email }, before, records }
    }),
  )
  const news = closed.filter(({ before, records }) => records[0]?.status !== before.previous_status)
  try {
    await commitAnnounced(job, answerStatements(closed), news.flatMap(answerAnnouncements), answerRaces)
  } catch (error) {
    // An answer was recorded, or another sweep was faster. The next sweep tries again.
    if (!(error instanceof LostRace)) throw error
    return 0
  }
  return rows.length
}
