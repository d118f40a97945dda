import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { app, type Bindings } from '../../src/app.ts'

/** A statement of a request, and its time. */
export interface Execution {
  text: string
  values: SQLInputValue[]
  milliseconds: number
}

type Execute = (text: string, values: unknown[]) => D1Result

/** The part of a D1 session that the service uses. Nobody else writes, so a batch needs no transaction. */
function openSession(execute: Execute) {
  const executions = new WeakMap<object, () => D1Result>()
  return {
    prepare: (text: string) => ({
      bind: (...values: unknown[]) => {
        const statement = { all: async () => execute(text, values) }
        executions.set(statement, () => execute(text, values))
        return statement
      },
    }),
    batch: async (statements: object[]) => statements.map((statement) => executions.get(statement)?.()),
    getBookmark: () => null,
  }
}

/** Sends GET requests to the service over a database of `node:sqlite`, which is the SQLite of D1. */
export function openService(database: DatabaseSync) {
  let executions: Execution[] = []

  const execute: Execute = (text, bound) => {
    const values = bound.map((value) => (typeof value === 'boolean' ? Number(value) : value)) as SQLInputValue[]
    const statement = database.prepare(text)
    const started = performance.now()
    const results = statement.all(...values)
    executions.push({ text, values, milliseconds: performance.now() - started })
    return { results, success: true, meta: { rows_read: 0, rows_written: 0 } } as unknown as D1Result
  }

  // The caller is looked up on the primary, and lists are read from a replica.
  const lookUp: Execute = (text, values) => {
    const result = execute(text, values)
    executions.pop()
    return result
  }

  const env = {
    ENVIRONMENT: 'test',
    PUBLIC_URL: 'https://api.example.test',
    LINK_SIGNING_KEY: 'link-signing-key-of-the-tests',
    RATE_LIMIT_PER_MINUTE: '0',
    DB: {
      withSession: (constraint: string) => openSession(constraint === 'first-primary' ? lookUp : execute),
    },
  } as unknown as Bindings
  const context = { waitUntil: () => undefined, passThroughOnException: () => undefined } as unknown as ExecutionContext

  /** Sends a request that must succeed, and returns the answer with the statements that read it. */
  return async (
    path: string,
    token: string,
    readAnswer: (response: Response) => Promise<unknown> = (response) => response.json(),
  ): Promise<{ answer: unknown; executions: Execution[] }> => {
    executions = []
    const request = new Request(new URL(path, env.PUBLIC_URL), { headers: { authorization: `Bearer ${token}` } })
    const response = await app.fetch(request, env, context)
    if (response.status !== 200) throw new Error(`${path} answers ${response.status}: ${await response.text()}`)
    return { answer: await readAnswer(response), executions }
  }
}

interface Step {
  id: number
  parent: number
  detail: string
}

/** What the plan of a statement reads. */
export interface QueryPlan {
  /** Steps that read every row of a table, or every entry of an index. */
  scans: string[]
  /** Steps that find the keys of a page and read a table for it, or all steps when the statement makes no page. */
  tableReads: string[]
  /** True if SQLite sorts the keys of a page. */
  isSorted: boolean
  hasPage: boolean
}

const subquery = /^(?:CO-ROUTINE|MATERIALIZE) (.+)$/

export function explain(database: DatabaseSync, { text, values }: Execution): QueryPlan {
  const steps = database.prepare(`explain query plan ${text}`).all(...values) as unknown as Step[]
  const subqueries = new Set(steps.flatMap(({ detail }) => subquery.exec(detail)?.[1] ?? []))
  const page = steps.find(({ detail }) => subquery.exec(detail)?.[1] === 'page')
  const isOfPage = ({ parent }: Step): boolean =>
    parent === page?.id || steps.some((step) => step.id === parent && isOfPage(step))
  const keySteps = page ? steps.filter(isOfPage) : steps
  const isScan = ({ detail }: Step): boolean =>
    detail.startsWith('SCAN ') &&
    !detail.includes(' VIRTUAL TABLE ') &&
    detail !== 'SCAN CONSTANT ROW' &&
    !subqueries.has(detail.slice('SCAN '.length))
  // Tables of a few rows have no index except their key, or one that a list of them needs.
  const isTableRead = ({ detail }: Step): boolean =>
    detail.startsWith('SEARCH ') &&
    !/ USING COVERING INDEX |^SEARCH (?:editions|order_counts|webhook_endpoints|webhook_event_expiries) /.test(detail)
  return {
    scans: steps.filter(isScan).map(({ detail }) => detail),
    tableReads: keySteps.filter(isTableRead).map(({ detail }) => detail),
    isSorted: steps.some(({ parent, detail }) => parent === page?.id && detail.startsWith('USE TEMP B-TREE')),
    hasPage: page !== undefined,
  }
}
