import { z } from '@hono/zod-openapi'
import { sql } from 'drizzle-orm'
import { Hono } from 'hono'
import type { JobCtx } from '../context.ts'
import { fieldError, invalid, notFound } from '../domain/errors.ts'
import { dayMs, toIso } from '../domain/time/instants.ts'
import type { AppContext, AppEnv, Bindings } from '../http/env.ts'
import { Instant } from '../http/fields.ts'
import { parseJson, readBody } from '../http/requests/body.ts'
import { parseBody } from '../http/requests/validation.ts'
import { startCampaignsUntil } from '../modules/campaigns/jobs.ts'
import { isMovable } from './clock.ts'
import { readConfig } from './config.ts'
import { openCurrentJob, openJob } from './job.ts'
import { sweepAll } from './scheduled.ts'

/** The clock is at most this far ahead, so that years keep four digits. */
const maxAheadMs = 100 * 366 * dayMs

const ClockChange = z.object({
  advance_seconds: z
    .int()
    .min(1)
    .max(maxAheadMs / 1000)
    .optional(),
  now: Instant.optional(),
})

const readOffset = ({ clockOffsetMs }: JobCtx): number => clockOffsetMs?.() ?? 0

/** Computes by how many milliseconds the change sets the clock ahead of the machine's. Throws if it would move back. */
function computeOffset({ advance_seconds, now }: z.output<typeof ClockChange>, job: JobCtx): number {
  if ((advance_seconds === undefined) === (now === undefined))
    throw invalid(fieldError([], 'required', 'Send either `advance_seconds` or `now`.'))
  const offset = now === undefined ? readOffset(job) + (advance_seconds ?? 0) * 1000 : now - Date.now()
  const path = [now === undefined ? 'advance_seconds' : 'now']
  if (offset < readOffset(job))
    throw invalid(fieldError(path, 'in_past', `The clock shows ${toIso(job.now())}, and it never goes back.`))
  if (offset > maxAheadMs)
    throw invalid(fieldError(path, 'too_late', 'The clock can be at most a hundred years ahead.'))
  return offset
}

/**
 * Moves the clock and runs all sweeps, so that what is due now begins at once. Campaigns whose time is skipped start as
 * if the clock had shown it, because they are not sent hours later.
 */
async function moveClock(env: Bindings, offset: number): Promise<void> {
  const job = openJob(env)
  await startCampaignsUntil(job, Date.now() + offset)
  await job.db.all(sql`insert into dev_clock (id, offset_ms) values (1, ${offset})
    on conflict (id) do update set offset_ms = max(offset_ms, excluded.offset_ms)`)
  await sweepAll(await openCurrentJob(env))
}

function presentClock(env: Bindings) {
  const job = openJob(env)
  return { now: toIso(job.now()), ahead_seconds: Math.round(readOffset(job) / 1000) }
}

/** `/dev/clock` shows and moves the time of the service, in development only. */
export function buildDevClockRoutes(): Hono<AppEnv> {
  const routes = new Hono<AppEnv>({ strict: false })
  routes.use('/dev/clock', async (c, next) => {
    if (!isMovable(readConfig(c.env))) throw notFound()
    await next()
    c.header('cache-control', 'no-store')
  })
  routes.get('/dev/clock', (c) => c.json(presentClock(c.env)))
  routes.post('/dev/clock', async (c: AppContext) => {
    const change = parseBody(ClockChange, parseJson(await readBody(c), c.req.raw.headers))
    await moveClock(c.env, computeOffset(change, openJob(c.env)))
    return c.json(presentClock(c.env))
  })
  return routes
}
