import { env } from 'cloudflare:workers'
import { Database, type Statement } from '../../../src/db/database.ts'
import { type IdKind, newId } from '../../../src/domain/ids.ts'
import { newMeter } from '../../../src/domain/meter.ts'

/** The organisation and the edition that rows belong to. */
export interface Place {
  organization: string
  edition: string
}

/** Like `Place`, for rows that may belong to an organisation as a whole. */
export interface WidePlace {
  organization: string
  edition: string | null
}

/** The database behind the API, for rows that no operation writes and for looking at stored rows. */
export const db = new Database(env.DB, newMeter())

export const write = async (...statements: Statement[]): Promise<void> => {
  await db.batch(statements)
}

export const freshId = (kind: IdKind): string => newId(kind, Date.now(), Math.random)

/** Makes an id of the right form that nothing has. */
export const unknownId = (like: string): string => `${like.split('_')[0]}_${newId('request', 1, Math.random).slice(4)}`

let serial = 0
/** Returns a number that was not used before in this file. */
export const next = (): number => ++serial

/** Like `next`, with letters that no other file has. */
export const unique = (): string => `${next()}-${crypto.randomUUID().slice(0, 8)}`

/** Formats the time in an hour, such as that of a schedule. */
export const formatHourFromNow = (): string => new Date(Date.now() + 3_600_000).toISOString()

/** Rows of one test share their time of creation by default, so that their key decides their order. */
export const seededAt = Date.UTC(2026, 0, 15, 9)

/** The times of the row with this number; three successive rows share them. */
export const seededTimes = (number: number) => {
  const at = seededAt + Math.floor(number / 3) * 1000
  return { created_at: at, modified_at: at }
}

export const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length))
