import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { Webhook } from 'standardwebhooks'
import { vi } from 'vitest'
import { minuteMs } from '../../src/domain/time/instants.ts'
import { openJob } from '../../src/entry/job.ts'
import { allSweeps, sweepAll } from '../../src/entry/scheduled.ts'
import { write } from './seeding/rows.ts'

export const alertSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='
export const alertUrl = 'https://alerts.example.com/hook'
export const alertBindings = { ALERT_WEBHOOK_URL: alertUrl, ALERT_WEBHOOK_SECRET: alertSecret }

export interface AlarmPost {
  id: string
  type: string
  text: string
  data: { id: string; kind: string; subject: string | null; resource_id: string | null; [field: string]: unknown }
}

/**
 * Starts a receiver that verifies each post, and answers as the test says. Other addresses are not reached. Restore all
 * mocks afterwards.
 */
export function startAlertReceiver(respond: (post: AlarmPost) => Promise<Response> | Response = () => new Response()) {
  const posts: AlarmPost[] = []
  const state = { respond }
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    if (request.url !== alertUrl) throw new TypeError('Network connection lost.')
    const body = await request.text()
    new Webhook(alertSecret).verify(body, Object.fromEntries(request.headers))
    const post = { id: request.headers.get('webhook-id') ?? '', ...(JSON.parse(body) as Omit<AlarmPost, 'id'>) }
    posts.push(post)
    return state.respond(post)
  })
  return { posts, state, listPosts: () => posts.map(({ type, data }) => [type, data.kind, data.subject ?? '']) }
}

/** Sets the machine's clock. Restore all mocks afterwards. */
export const setMachineTime = (now: number) => void vi.spyOn(Date, 'now').mockReturnValue(now)

/** Runs the last sweep of each minute at times of the test's choice, which the machine's clock shows too. */
export function createMinutes(bindings: object = alertBindings) {
  const state = { now: Math.ceil(Date.now() / minuteMs) * minuteMs }
  return {
    state,
    run: async (minutes = 1) => {
      for (let minute = 0; minute < minutes; minute++) {
        state.now += minuteMs
        setMachineTime(state.now)
        const job = openJob({ ...env, ...bindings })
        await sweepAll({ ...job, now: () => state.now }, { sweeps: { alarms: allSweeps.alarms } })
      }
    },
  }
}

/** Stores when the sweeps ran, and when all of them had run. */
export const seedSweepRuns = (runs: object, ended_at: number) =>
  write(sql`insert into sweep_runs (id, sweeps, ended_at) values (1, ${JSON.stringify(runs)}, ${ended_at})
    on conflict (id) do update set sweeps = excluded.sweeps, ended_at = excluded.ended_at`)
