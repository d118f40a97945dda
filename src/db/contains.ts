import { type SQL, sql } from 'drizzle-orm'
import { fold, listPhoneDigits, parsePhoneNeedles } from '../domain/text/fold.ts'

const anyOf = (conditions: readonly SQL[]): SQL => sql`(${sql.join([...conditions], sql` or `)})`

const contains = (column: SQL, part: string): SQL => sql`instr(${column}, ${part}) > 0`

/** Whether a folded column has one of these folded texts. */
const containsAny = (column: SQL, parts: readonly string[]): SQL => anyOf(parts.map((part) => contains(column, part)))

/** The texts of which one has to be in a folded column that also holds telephone numbers as digits. */
export const listSearchForms = (needle: string): string[] => [fold(needle), ...parsePhoneNeedles(needle)]

/** The contains-filter on a folded column: exact, without the limits of LIKE. */
export const containsFolded = (column: SQL, needle: string): SQL => contains(column, fold(needle))

/** As above for a column that also holds telephone numbers as digits: `+45 12 34` finds `451234`. */
export const containsFoldedOrDigits = (column: SQL, needle: string): SQL => containsAny(column, listSearchForms(needle))

/** Compares digits alone; a needle without any digit finds nothing. */
export function containsDigits(column: SQL, needle: string): SQL {
  const parts = listPhoneDigits(needle)
  return parts.length === 0 ? sql`0` : containsAny(column, parts)
}
