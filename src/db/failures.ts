/** The messages of an error and of its causes, because some layers of D1 wrap SQLite's error. */
function joinMessages(error: unknown): string {
  const messages: string[] = []
  for (let cause = error; cause instanceof Error && messages.length < 5; cause = cause.cause)
    messages.push(cause.message)
  return messages.join(' | ')
}

/**
 * True if a guard of `commit.ts` aborted the batch. Guards parse the text `guard` as JSON, and SQLite answers with this
 * message.
 */
export const isLostRace = (error: unknown): boolean => joinMessages(error).includes('malformed JSON')

/** An insert looks the customer up by their id, and finds nobody once they were merged or deleted. */
const lostCustomer = 'NOT NULL constraint failed: edition_customers.user_seq'

/** True if a referenced row was deleted, or a row to delete is referenced by now. */
export const hasLostReference = (error: unknown): boolean =>
  ['FOREIGN KEY constraint failed', lostCustomer].some((message) => joinMessages(error).includes(message))

/** The error code with which a condition aborted the batch, or null. */
export const parseRaisedCode = (error: unknown): string | null =>
  /(?:bad JSON path: |JSON path error near )'(\w+)'/.exec(joinMessages(error))?.[1] ?? null

/** The violated unique index as SQLite names it, such as `editions.organization_id, editions.slug`, or null. */
export const parseViolatedIndex = (error: unknown): string | null =>
  /UNIQUE constraint failed: ([^|:]+)/.exec(joinMessages(error))?.[1]?.trim() ?? null

/** True for temporary failures of D1, after which the client can repeat the request. */
export const isTransient = (error: unknown): boolean =>
  /Network connection lost|storage caused object to be reset|reset because its code was updated|Cannot resolve D1 DB|Internal error while starting up|D1 DB is overloaded|exceeded timeout/i.test(
    joinMessages(error),
  )

/** True if the statement itself is at fault, so that it would fail again. */
export const isStatementFailure = (error: unknown): boolean =>
  /SQLITE_(ERROR|TOOBIG|RANGE|MISMATCH)\b/.test(joinMessages(error))
