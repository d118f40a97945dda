/** The text of a D1 failure: batches throw it plainly, some layers wrap it as a cause. */
function messageOf(error: unknown): string {
  const messages: string[] = []
  for (let cause = error; cause instanceof Error && messages.length < 5; cause = cause.cause)
    messages.push(cause.message)
  return messages.join(' | ')
}

/** True when a guard aborted the batch: the statement before it did not change exactly one row. */
export const isLostRace = (error: unknown): boolean => messageOf(error).includes('malformed JSON')

/** True when a referenced row was deleted, or a row to delete is referenced by now: a lost race. */
export const hasLostReference = (error: unknown): boolean => messageOf(error).includes('FOREIGN KEY constraint failed')

/** The code that a condition aborted the batch with, or null. */
export const raisedRefusal = (error: unknown): string | null =>
  /(?:bad JSON path: |JSON path error near )'(\w+)'/.exec(messageOf(error))?.[1] ?? null

/** The index of a violated uniqueness as SQLite names it, such as `editions.organization_id, editions.slug`, or null. */
export const violatedUnique = (error: unknown): string | null =>
  /UNIQUE constraint failed: ([^|:]+)/.exec(messageOf(error))?.[1]?.trim() ?? null

/** True for temporary failures of the database: the request may be tried again later. */
export const isTransient = (error: unknown): boolean =>
  /Network connection lost|storage caused object to be reset|reset because its code was updated|Cannot resolve D1 DB|Internal error while starting up|D1 DB is overloaded|exceeded timeout/i.test(
    messageOf(error),
  )

/** True when it is the statement's own fault: the same one will fail again. */
export const isStatementFailure = (error: unknown): boolean =>
  /SQLITE_(ERROR|TOOBIG|RANGE|MISMATCH)\b/.test(messageOf(error))
