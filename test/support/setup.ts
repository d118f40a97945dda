import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { configureGlobal, readConfigureGlobal } from 'fast-check'
import { vi } from 'vitest'
import { setTestClock } from './clock.ts'
import { openLimiters } from './open-limiters.ts'
import { checkStatementPlans } from './statement-plans.ts'
import { keepWorker } from './worker-module.ts'

configureGlobal({ ...readConfigureGlobal(), seed: Number(env.PROPERTY_SEED) })

// Removes what an earlier file left.
vi.restoreAllMocks()
vi.unstubAllGlobals()
vi.useRealTimers()

keepWorker()
openLimiters()
checkStatementPlans()
// A request posts webhooks by itself, and no receiver exists outside.
globalThis.fetch = () => Promise.reject(new TypeError('Network connection lost.'))

setTestClock({ startsAt: env.TEST_CLOCK, rate: env.TEST_CLOCK_RATE })

const isMade =
  (await env.DB.prepare(`select 1 from sqlite_master where name = 'organizations'`).first<object>()) !== null
const isFresh = env.TEST_STORAGE === 'own'

if (isMade && isFresh) await reset()
if (!isMade || isFresh) await env.DB.batch(env.TEST_SCHEMA.map((statement) => env.DB.prepare(statement)))
