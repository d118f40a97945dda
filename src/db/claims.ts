import { type Placeholder, type SQL, sql } from 'drizzle-orm'

/*
 * Only one worker at a time may work on a row, so it claims the row until `claimed_until`. A worker that dies never
 * releases its claim: another worker can claim the row after that time. `due_at` is when the row may be worked on, and
 * `attempts` counts how often a worker has tried.
 */

export const isClaimed = (now: number | Placeholder): SQL => sql`claimed_until > ${now}`

export const isClaimable = (now: number | Placeholder): SQL => sql`(claimed_until is null or claimed_until <= ${now})`

/** An assignment in the `set` of an update. */
export const claimUntil = (now: number, ms: number): SQL => sql`claimed_until = ${now + ms}`

/** An assignment in the `set` of an update. */
export const release = sql`claimed_until = null`
