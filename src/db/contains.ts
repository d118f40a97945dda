import { type SQL, sql } from 'drizzle-orm'
import { digitsOf, fold, phoneNeedle } from '../domain/fold.ts'

/** The contains-filter on a folded column: exact, without the limits of LIKE. */
export const containsFolded = (column: SQL, needle: string): SQL => sql`instr(${column}, ${fold(needle)}) > 0`

/** As above for a column that also holds telephone numbers as digits: `+45 12 34` finds `451234`. */
export function containsFoldedOrDigits(column: SQL, needle: string): SQL {
  const digits = phoneNeedle(needle)
  const text = containsFolded(column, needle)
  return digits === null ? text : sql`(${text} or instr(${column}, ${digits}) > 0)`
}

/** Compares digits alone; a needle without any digit finds nothing. */
export function containsDigits(column: SQL, needle: string): SQL {
  const digits = digitsOf(needle)
  return digits === '' ? sql`0` : sql`instr(${column}, ${digits}) > 0`
}
