import { env } from 'cloudflare:workers'
import { configureGlobal, readConfigureGlobal } from 'fast-check'
import { setTestClock } from './clock.ts'

configureGlobal({ ...readConfigureGlobal(), seed: Number(env.PROPERTY_SEED) })

setTestClock({ startsAt: env.TEST_CLOCK, rate: env.TEST_CLOCK_RATE })

// Files that share an isolate share its database.
const { count } = (await env.DB.prepare(
  `select count(*) as count from sqlite_master where name = 'organizations'`,
).first<{ count: number }>()) ?? { count: 0 }

if (count === 0)
  await env.DB.batch(env.TEST_MIGRATIONS.flatMap(({ queries }) => queries.map((query) => env.DB.prepare(query))))
