import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { firstIdAt } from '../../domain/ids.ts'
import { dayMs, retentionDays } from '../../domain/time/instants.ts'
import { buildSignInEmailDeletion } from '../transactional-emails/index.ts'

const rowsPerSweep = 500

/** Deletes old codes with their messages, old links, and sessions that ended long ago. */
export async function sweepSignIns({ db, now }: Pick<JobCtx, 'db' | 'now'>): Promise<void> {
  const bounds = {
    codes: firstIdAt('sign_in_code', now() - retentionDays.signInSecrets * dayMs),
    links: firstIdAt('sign_in_link', now() - retentionDays.signInSecrets * dayMs),
    sessions: now() - retentionDays.sessions * dayMs,
  }
  const oldCodes = sql`select id from sign_in_codes where id < ${bounds.codes} order by id limit ${rowsPerSweep}`
  const oldLinks = sql`select id from sign_in_links where id < ${bounds.links} order by id limit ${rowsPerSweep}`
  const oldSessions = sql`select id from access_tokens indexed by access_tokens_of_sessions
    where is_session = 1 and expires_at < ${bounds.sessions} order by expires_at limit ${rowsPerSweep}`
  await db.batch([
    buildSignInEmailDeletion(oldCodes),
    sql`delete from sign_in_codes where id in (${oldCodes})`,
    sql`delete from sign_in_links where id in (${oldLinks})`,
    sql`delete from access_tokens where id in (${oldSessions})`,
  ])
}
