import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { buildContactColumn } from '../../db/customers.ts'
import { hasStatus } from '../../db/consents.ts'
import { LostRace } from '../../domain/errors.ts'
import { commitAnnounced } from '../webhooks/index.ts'
import { answerAnnouncements, answerRaces, answerStatements, expiryRecord, type RecordRow } from './answers/records.ts'

export { sweepLapsed } from './answers/lapse.ts'

/** Consents that one transaction ends, and transactions of one sweep. The rest is left to the next sweep. */
const consentsABatch = 250
const batchesASweep = 40

interface DueRow extends RecordRow {
  key: string
  email: string | null
}

/** The status is written out, because the index has given answers only and is not used for a bound value. */
const dueConsents = ({ db, now }: JobCtx, limit: number): Promise<DueRow[]> =>
  db.all(
    sql<DueRow>`select r.*, consents.key, ${buildContactColumn(sql`users`, 'email', sql`r.edition_id`)} as email
      from (select user_id, consent_id, number from consent_records
        where is_latest = 1 and ${hasStatus(sql`consent_records`, 'given')}
          and expires_at is not null and expires_at <= ${now()}
        order by expires_at limit ${limit}) as due
      cross join consent_records r on r.user_id = due.user_id and r.consent_id = due.consent_id and r.number = due.number
      cross join consents on consents.id = r.consent_id cross join users on users.id = r.user_id`,
  )

/** Records them in one transaction. Throws LostRace when one of them has expired or was answered meanwhile. */
async function expire(job: JobCtx, rows: readonly DueRow[]): Promise<void> {
  const outcomes = await Promise.all(
    rows.map(async ({ key, email, ...before }) => ({
      definition: { key },
      user: { id: before.user_id, email },
      before,
      records: [await expiryRecord(job, before)],
    })),
  )
  await commitAnnounced(job, answerStatements(outcomes), outcomes.flatMap(answerAnnouncements), answerRaces)
}

/** Records consents that have expired, each once, also where two sweeps run at the same time. Answers how many. */
export async function sweepConsents(job: JobCtx, batchSize = consentsABatch): Promise<number> {
  let ended = 0
  for (let batch = 0; batch < batchesASweep; batch++) {
    const rows = await dueConsents(job, batchSize)
    if (rows.length === 0) break
    try {
      await expire(job, rows)
      ended += rows.length
    } catch (error) {
      if (!(error instanceof LostRace)) throw error
    }
  }
  return ended
}
