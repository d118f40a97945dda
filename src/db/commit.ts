import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { catalogueFull } from '../domain/catalogue.ts'
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
import { hasLostReference, isLostRace, parseRaisedCode, parseViolatedIndex } from './failures.ts'
import { decodeRows, type Query } from './select.ts'

export interface UnitOfWork {
  db: Database
  /** Builds what `commit` adds to the transaction: the audit entry, if anything changes, and the stored response. */
  recordWrite: (result: unknown, isChange: boolean) => Promise<Statement[]>
  /** Delays work until the response is sent. Without it the work runs right after the commit. */
  afterCommit?: (work: Work) => void
}

/** It may get lost after the commit, so a sweep must find what it left undone. */
type Work = () => Promise<unknown>

interface StatementWithWork extends SQLWrapper {
  afterCommit: (rows: unknown[]) => Promise<unknown>
}

/** Adds work to a statement. The work runs after the commit, with the rows that the statement returned. */
export const addAfterCommit = <Row>(
  statement: SQL<Row> | Query<Row> | Statement<Row>,
  afterCommit: (rows: Row[]) => Promise<unknown>,
): Statement => {
  const withWork: StatementWithWork = {
    getSQL: () => statement.getSQL(),
    afterCommit: (rows) => afterCommit(decodeRows(statement, rows as Row[])),
  }
  return withWork
}

/** Reads at the end of a transaction that writes. */
export interface TransactionRead<Rows> {
  statements: readonly Statement[]
  /** The rows by name. Throws before the transaction is committed. */
  rows: () => Rows
}

/** Reads what a transaction has written without another round trip. */
export function readInTransaction<const S extends NamedStatements>(statements: S): TransactionRead<NamedRows<S>> {
  const rowsByName: Record<string, unknown[]> = {}
  const reads = listStatements(statements)
  return {
    statements: reads.map(({ name, statement }): ReadStatement => ({
      getSQL: () => statement.getSQL(),
      receiveRows: (rows) => void (rowsByName[name] = decodeRows(statement, rows)),
    })),
    rows: () => {
      if (reads.some(({ name }) => !(name in rowsByName)))
        throw new Error('The transaction of these reads is not committed.')
      return rowsByName as NamedRows<S>
    },
  }
}

interface ReadStatement extends SQLWrapper {
  receiveRows: (rows: unknown[]) => void
}

const isReadStatement = (statement: Statement): statement is Statement & ReadStatement => 'receiveRows' in statement

const hasWork = (statement: Statement): statement is Statement & StatementWithWork => 'afterCommit' in statement

/**
 * Aborts the batch unless the statement directly before it changed exactly one row. SQL has no way to raise an error on
 * a condition, except to parse a text that is not JSON.
 */
export const requireOneChange = (): SQL => requireChanges(1)

/** Aborts the batch unless the statement directly before it changed exactly `count` rows. */
export const requireChanges = (count: number): SQL =>
  sql`select case when changes() = ${count} then 1 else json('guard') end`

/** An expression that is 1 if the condition holds and otherwise aborts the batch as a lost race. */
export const holdsOrAborts = (condition: SQL): SQL => sql`case when ${condition} then 1 else json('guard') end`

/** Aborts the batch as a lost race unless the condition holds. */
export const abortUnless = (condition: SQL): SQL => sql`select ${holdsOrAborts(condition)}`

/** Errors that a condition inside the transaction can raise. */
const refusals = {
  catalogue_full: catalogueFull,
  edition_archived: editionArchived,
  import_limit: importLimit,
  shared_customer: sharedCustomer,
  storage_full: storageFull,
  unknown_edition: () => doesNotExist('edition_id'),
  unknown_organization: () => doesNotExist('organization_id'),
} satisfies Record<string, () => AppError>

/**
 * An expression that is 1 if the condition holds and otherwise aborts the batch with the error. SQLite quotes an invalid
 * JSON path in its message, which carries the code out.
 */
export const holdsOrRefuses = (condition: SQL, code: keyof typeof refusals): SQL =>
  sql`case when ${condition} then 1 else json_extract('{}', ${code}) end`

/** Aborts the batch with the error unless the condition holds. */
export const refuseUnless = (condition: SQL, code: keyof typeof refusals): SQL =>
  sql`select ${holdsOrRefuses(condition, code)}`

interface Requirement {
  /** It must not be null. */
  condition: SQL
  code: keyof typeof refusals
}

/** Aborts the batch with the error of the first condition that does not hold. */
export const refuseUnlessAll = (...requirements: readonly Requirement[]): SQL => {
  const cases = requirements.map(({ condition, code }) => sql`when not ${condition} then json_extract('{}', ${code})`)
  return sql`select case ${sql.join(cases, sql` `)} else 1 end`
}

const readRefusal = (error: unknown): AppError | undefined => {
  const code = parseRaisedCode(error)
  return code !== null && Object.hasOwn(refusals, code) ? refusals[code as keyof typeof refusals]() : undefined
}

/**
 * Runs all statements in one transaction and returns `result`. The transaction also writes the audit entry, unless
 * there are no statements, and stores the response if the request has an Idempotency-Key. Throws LostRace for a failed
 * guard or a reference that is gone, and the error in `uniqueErrors` for a violated unique index, by the columns of the
 * index.
 */
export async function commit<Result>(
  unit: UnitOfWork,
  result: Result,
  statements: readonly Statement[],
  uniqueErrors: Readonly<Record<string, () => Error>> = {},
): Promise<Result> {
  await commitPart(unit, [...statements, ...(await unit.recordWrite(result, statements.length > 0))], uniqueErrors)
  return result
}

/** One row sees fewer simultaneous requests than this in practice. */
const maxAttempts = 20

/** Repeats `attempt`, which reads, decides and commits, when it throws LostRace. */
export async function retryLostRaces<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let attempts = 1; ; attempts++)
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof LostRace) || attempts >= maxAttempts) throw error
    }
}

/** Commits without an audit entry and a stored response, in background work and in requests with several transactions. */
export async function commitPart(
  unit: Pick<UnitOfWork, 'db' | 'afterCommit'>,
  statements: readonly Statement[],
  uniqueErrors: Readonly<Record<string, () => Error>> = {},
): Promise<void> {
  if (statements.length === 0) return
  let results: readonly unknown[][]
  try {
    results = await unit.db.batch(statements)
  } catch (error) {
    if (isLostRace(error) || hasLostReference(error)) throw new LostRace(error)
    const columns = parseViolatedIndex(error)
    const createError = columns === null ? undefined : uniqueErrors[columns]
    throw createError ? createError() : (readRefusal(error) ?? error)
  }
  for (const [index, statement] of statements.entries())
    if (isReadStatement(statement)) statement.receiveRows([...(results[index] ?? [])])
  const pendingWork = statements.flatMap((statement, index): Work[] =>
    hasWork(statement) ? [() => statement.afterCommit(results[index] ?? [])] : [],
  )
  if (unit.afterCommit) for (const work of pendingWork) unit.afterCommit(work)
  else await Promise.allSettled(pendingWork.map((work) => work()))
}
