import type { Config, JobCtx } from '../context.ts'
import { Database } from '../db/database.ts'
import { devClock } from '../db/schema/captures.ts'
import { select } from '../db/select.ts'
import { newMeter } from '../domain/meter.ts'
import type { Bindings } from '../http/env.ts'
import { readConfig } from './config.ts'

/** Only the clock of development can be moved. All others are the machine's, and nothing is read for them. */
export const isMovable = ({ environment }: Pick<Config, 'environment'>): boolean => environment === 'development'

/** The milliseconds by which the clock is ahead of the machine's, as this isolate has last read them. */
let offsetMs = 0

/** Reads how far the clock was moved. Whatever opens a request or a job calls it first. */
export async function loadClock(env: Bindings): Promise<void> {
  if (!isMovable(readConfig(env))) return
  const db = new Database(env.DB.withSession('first-primary'), newMeter())
  const row = await db.first(select({ offset_ms: devClock.offset_ms }).from(devClock))
  offsetMs = row?.offset_ms ?? 0
}

type Clock = Pick<JobCtx, 'now' | 'clockOffsetMs'>

export const createClock = (config: Pick<Config, 'environment'>): Clock =>
  isMovable(config) ? { now: () => Date.now() + offsetMs, clockOffsetMs: () => offsetMs } : { now: Date.now }

type ObjectStorage = Pick<
  DurableObjectStorage,
  'sql' | 'transactionSync' | 'getAlarm' | 'setAlarm' | 'deleteAlarm' | 'deleteAll'
>

/** Opens the storage of an object whose alarms follow the clock. The platform's alarms follow the machine's. */
export function openStorage(state: DurableObjectState, env: Bindings): ObjectStorage {
  const { storage } = state
  if (!isMovable(readConfig(env))) return storage
  void state.blockConcurrencyWhile(() => loadClock(env))
  return {
    sql: storage.sql,
    transactionSync: (work) => storage.transactionSync(work),
    getAlarm: async () => {
      const at = await storage.getAlarm()
      return at === null ? null : at + offsetMs
    },
    setAlarm: (at) => storage.setAlarm(Number(at) - offsetMs),
    deleteAlarm: () => storage.deleteAlarm(),
    deleteAll: () => storage.deleteAll(),
  }
}
