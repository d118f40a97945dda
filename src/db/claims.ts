import { type SQL, sql } from 'drizzle-orm'

/*
 * Rows that one worker at a time takes have `claimed_until`, which is null while nobody works on them, and `due_at` where
 * they wait for a time. `attempts` counts what was tried. A worker that dies releases nothing: its row can be claimed
 * again when `claimed_until` is over.
 */

export const isClaimed = (now: number): SQL => sql`claimed_until > ${now}`

export const isClaimable = (now: number): SQL => sql`(claimed_until is null or claimed_until <= ${now})`

/** The assignment that makes a claim. */
export const claimUntil = (now: number, ms: number): SQL => sql`claimed_until = ${now + ms}`

/** The assignment that ends a claim. */
export const release = sql`claimed_until = null`
