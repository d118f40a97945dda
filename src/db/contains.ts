import { type SQL, sql } from 'drizzle-orm'
import { fold } from '../domain/fold.ts'

/** The contains-filter on a folded column: exact, without the limits of LIKE. */
export const containsFolded = (column: SQL, needle: string): SQL => sql`instr(${column}, ${fold(needle)}) > 0`
