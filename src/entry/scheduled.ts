import { Database } from '../db/database.ts'
import { forgetExpiredKeys } from '../db/idempotency.ts'
import { newMeter } from '../domain/meter.ts'
import type { Bindings } from '../http/env.ts'
import { logError } from '../http/log.ts'

type Sweep = (db: Database, now: number) => Promise<void>

/** Each minute. A sweep takes a bounded share of what is due by the state of its rows, so a missed minute costs nothing. */
const sweeps: Record<string, Sweep> = { 'forget-expired-keys': forgetExpiredKeys }

export async function scheduled(controller: ScheduledController, env: Bindings): Promise<void> {
  const db = new Database(env.DB.withSession('first-primary'), newMeter())
  for (const [name, sweep] of Object.entries(sweeps))
    await sweep(db, controller.scheduledTime).catch((error: unknown) => logError(`sweep:${name}`, error))
}
