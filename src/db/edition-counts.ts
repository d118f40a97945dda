import { type SQL, sql } from 'drizzle-orm'

/** A constant in a statement. It is not bound, because a statement has at most 100 parameters. */
export const written = (value: number): SQL => sql.raw(String(value))
