import { sql } from 'drizzle-orm'
import { Hono } from 'hono'
import type { Bindings } from '../../src/app.ts'
import { openJob } from '../../src/entry/job.ts'
import { sweepConsents } from '../../src/modules/consents/jobs.ts'

/** What the bench of consents asks of the Worker. */
export const consentsBench = new Hono<{ Bindings: Bindings }>()

/** Everyone of the organisation has given the consent, and its time is over. */
consentsBench.post('/floor/consents/due', async (c) => {
  const { organization_id, consent_id } = await c.req.json<{ organization_id: string; consent_id: string }>()
  const { db, now } = openJob(c.env)
  const at = now()
  await db.batch([
    sql`insert into consent_records (id, organization_id, consent_id, consent_version, content_hash, user_id, status,
        method, source, language, occurred_at, expires_at, record_hash, is_latest)
      select 'cre' || substr(id, 4), organization_id, ${consent_id}, 1, '', id, 'given', 'import', 'bench', 'en',
        ${at} - 86400000, ${at} - seq % 1000, 'bench', 1
      from users where organization_id = ${organization_id}`,
  ])
  return c.json({}, 201)
})

/** One sweep, with the time of its longest read and of its longest transaction. */
consentsBench.post('/floor/consents/sweep', async (c) => {
  const job = openJob(c.env)
  const longest = { all: 0, batch: 0 }
  for (const name of ['all', 'batch'] as const) {
    const call = job.db[name].bind(job.db) as (query: never) => Promise<never>
    job.db[name] = async (query: never) => {
      const before = Date.now()
      const answer = await call(query)
      longest[name] = Math.max(longest[name], Date.now() - before)
      return answer
    }
  }
  const started = Date.now()
  const ended = await sweepConsents(job)
  return c.json({ ended, ms: Date.now() - started, read_ms: longest.all, write_ms: longest.batch })
})
