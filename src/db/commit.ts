import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import {
  type AppError,
  doesNotExist,
  editionArchived,
  importLimit,
  LostRace,
  sharedCustomer,
  storageFull,
} from '../domain/errors.ts'
import { type Database, listStatements, type NamedRows, type NamedStatements, type Statement } from './database.ts'
import { decodeRows, type Query } from './select.ts'
import { hasLostReference, isLostRace, raisedRefusal, violatedUnique } from './failures.ts'

export interface UnitOfWork {
  db: Database
  /** Statements that record what was done, if anything changes, and store the request's answer: for the transaction that decides it. */
  settle: (result: unknown, isChange: boolean) => Promise<Statement[]>
  /** Takes work until the answer is out. Without it the work is done as soon as the transaction stands. */
  afterCommit?: (work: Work) => void
}

/** Work that follows a commit. It may be lost: a sweep finds what is left. */
type Work = () => Promise<unknown>

interface FollowedStatement extends SQLWrapper {
  afterCommit: (rows: unknown[]) => Promise<unknown>
}

/**
 * The statement with work that is due once it is committed, and that takes the rows it answered. A transaction that is
 * aborted leaves none behind.
 */
export const addAfterCommit = <Row>(
  statement: SQL<Row> | Query<Row> | Statement<Row>,
  afterCommit: (rows: Row[]) => Promise<unknown>,
): Statement => {
  const followed: FollowedStatement = {
    getSQL: () => statement.getSQL(),
    afterCommit: (rows) => afterCommit(decodeRows(statement, rows as Row[])),
  }
  return followed
}

/** Reads for the end of a transaction that writes. */
export interface TransactionRead<Rows> {
  statements: readonly Statement[]
  /** What they answered, by name, once the transaction is committed. */
  rows: () => Rows
}

/** Statements that read what a transaction leaves behind, so that no round trip is made for them alone. */
export function readInTransaction<const S extends NamedStatements>(named: S): TransactionRead<NamedRows<S>> {
  const found: Record<string, unknown[]> = {}
  const given = listStatements(named)
  return {
    statements: given.map(({ name, one }): ReadStatement => ({
      getSQL: () => one.getSQL(),
      committed: (rows) => void (found[name] = decodeRows(one, rows)),
    })),
    rows: () => {
      if (given.some(({ name }) => !(name in found)))
        throw new Error('The transaction of these reads is not committed.')
      return found as NamedRows<S>
    },
  }
}

interface ReadStatement extends SQLWrapper {
  committed: (rows: unknown[]) => void
}

const isRead = (statement: Statement): statement is Statement & ReadStatement => 'committed' in statement

const isFollowed = (statement: Statement): statement is Statement & FollowedStatement => 'afterCommit' in statement

/**
 * Aborts the batch unless the statement directly before it changed exactly one row. `json()` of a text that is no JSON
 * is the one runtime error that plain SQL can raise on a condition.
 */
export const requireOneChange = (): SQL => requireChanges(1)

/** As `requireOneChange`, for any number of rows. */
export const requireChanges = (count: number): SQL =>
  sql`select case when changes() = ${count} then 1 else json('guard') end`

/** True where the condition holds; aborts the batch, as a lost race, otherwise. */
export const holdsOrAborts = (condition: SQL): SQL => sql`case when ${condition} then 1 else json('guard') end`

/** Aborts the batch, as a lost race, unless what was decided on still holds. */
export const abortUnless = (condition: SQL): SQL => sql`select ${holdsOrAborts(condition)}`

/** The refusals by conditions that are checked inside the transaction. */
const refusals = {
  edition_archived: editionArchived,
  import_limit: importLimit,
  shared_customer: sharedCustomer,
  storage_full: storageFull,
  unknown_edition: () => doesNotExist('edition_id'),
  unknown_organization: () => doesNotExist('organization_id'),
} satisfies Record<string, () => AppError>

/** True where the condition holds; aborts the batch with the refusal otherwise. A JSON path that is none is an error with its text. */
export const holdsOrRefuses = (condition: SQL, code: keyof typeof refusals): SQL =>
  sql`case when ${condition} then 1 else json_extract('{}', ${code}) end`

/** `holdsOrRefuses` as a statement of its own. */
export const refuseUnless = (condition: SQL, code: keyof typeof refusals): SQL =>
  sql`select ${holdsOrRefuses(condition, code)}`

interface Requirement {
  /** True or false, and never null. */
  condition: SQL
  code: keyof typeof refusals
}

/** As `refuseUnless`, with the refusal of the first condition that fails. */
export const refuseUnlessAll = (...requirements: readonly Requirement[]): SQL => {
  const cases = requirements.map(({ condition, code }) => sql`when not ${condition} then json_extract('{}', ${code})`)
  return sql`select case ${sql.join(cases, sql` `)} else 1 end`
}

const refusalOf = (error: unknown): AppError | undefined => {
  const code = raisedRefusal(error)
  return code !== null && Object.hasOwn(refusals, code) ? refusals[code as keyof typeof refusals]() : undefined
}

/**
 * Writes all statements in one transaction and answers `result`. The entry of the audit log is written in the same
 * transaction, unless there is nothing to write; so is the answer, when the request carries an Idempotency-Key.
 * A failed guard and a reference that is lost meanwhile throw LostRace; a violated uniqueness throws what `unique` has for its columns.
 */
export async function commit<Result>(
  unit: UnitOfWork,
  result: Result,
  statements: readonly Statement[],
  unique: Readonly<Record<string, () => Error>> = {},
): Promise<Result> {
  await commitPart(unit, [...statements, ...(await unit.settle(result, statements.length > 0))], unique)
  return result
}

/** More tries than simultaneous requests to one row in practice. */
const maxTries = 20

/** Reads, decides and commits once more after a lost race. */
export async function retryLostRaces<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++)
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof LostRace) || tries >= maxTries) throw error
    }
}

/** One transaction of a request that makes several: it does not settle the answer. */
export async function commitPart(
  unit: Pick<UnitOfWork, 'db' | 'afterCommit'>,
  statements: readonly Statement[],
  unique: Readonly<Record<string, () => Error>> = {},
): Promise<void> {
  if (statements.length === 0) return
  let results: readonly unknown[][]
  try {
    results = await unit.db.batch(statements)
  } catch (error) {
    if (isLostRace(error) || hasLostReference(error)) throw new LostRace(error)
    const columns = violatedUnique(error)
    const refuse = columns === null ? undefined : unique[columns]
    throw refuse ? refuse() : (refusalOf(error) ?? error)
  }
  for (const [index, statement] of statements.entries())
    if (isRead(statement)) statement.committed([...(results[index] ?? [])])
  const due = statements.flatMap((statement, index): Work[] =>
    isFollowed(statement) ? [() => statement.afterCommit(results[index] ?? [])] : [],
  )
  if (unit.afterCommit) for (const work of due) unit.afterCommit(work)
  else await Promise.allSettled(due.map((work) => work()))
}
