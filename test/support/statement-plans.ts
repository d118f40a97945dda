import { env } from 'cloudflare:workers'
import { afterAll, expect } from 'vitest'

/** A list that a statement takes as a parameter, and its name in the query plan. */
const listParameter = /json_each\(\?\d*\)(?:\s+as)?(?:\s+"?(\w+)"?)?/g
/** A list in a column that has no name of its own. */
const listColumn =
  /json_each\([a-z_]+\.[a-z_]+\)(?!\s+(?:as\s+)?(?!cross|group|join|left|limit|on|order|set|union|where)\w)/
const keywords = new Set(['cross', 'group', 'join', 'left', 'limit', 'on', 'order', 'set', 'union', 'where'])
/** A step of a plan that reads at most one row. */
const readsOneRow = / USING (?:(?:COVERING )?INDEX \S+|PRIMARY KEY|INTEGER PRIMARY KEY) \((?:id|rowid)=\?\)$/

interface PlanStep {
  id: number
  parent: number
  detail: string
}

/** Counts the parameters of a statement. A numbered statement has as many as its highest number. */
function countParameters(text: string): number {
  const parameters = [...text.matchAll(/'[^']*'|"[^"]*"|\?(\d*)/g)].filter(([token]) => token.startsWith('?'))
  const numbers = parameters.flatMap(([, number]) => (number ? [Number(number)] : []))
  return numbers.length > 0 ? Math.max(...numbers) : parameters.length
}

/**
 * Lists the steps in which SQLite would read a whole list of the request again for each row of a table: rows × list. A
 * `cross join` from the list to the table, or a list that contains the other keys of an index, prevents that.
 */
export async function findRepeatedListScans(text: string): Promise<string[]> {
  const names = new Set(
    [...text.matchAll(listParameter)].map(([, name = 'json_each']) => (keywords.has(name) ? 'json_each' : name)),
  )
  // A list in a column belongs to its row.
  if (listColumn.test(text)) names.delete('json_each')
  const values = Array.from({ length: countParameters(text) }, () => null)
  const { results: steps } = await env.DB.prepare(`explain query plan ${text}`)
    .bind(...values)
    .all<PlanStep>()
  return steps.flatMap((step, index) => {
    const name = /^SCAN (\w+) VIRTUAL TABLE/.exec(step.detail)?.[1]
    if (name === undefined || !names.has(name)) return []
    const outer = steps
      .slice(0, index)
      .filter(({ parent, detail }) => parent === step.parent && /^(?:SCAN|SEARCH) /.test(detail))
      .filter(({ detail }) => !detail.includes(' VIRTUAL TABLE ') && !readsOneRow.test(detail))
    return outer.length > 0 ? [[...outer, step].map(({ detail }) => detail).join(', then ')] : []
  })
}

const texts = new Set<string>()
const explainedTexts = new Set<string>()
let isRecording = false

/** Expressions of segments bound their lists by themselves; the names of their tables end in a number. */
const exempt = /^explain |json_each\(\?\) j\d/i

/** Longer statements are made of long expressions and take long to explain. */
const maxLength = 10_000

function recordStatements(): void {
  if (isRecording) return
  isRecording = true
  for (const client of [env.DB, env.DB.withSession()]) {
    const prototype = Object.getPrototypeOf(client) as Pick<D1Database, 'prepare'>
    // oxlint-disable-next-line typescript/unbound-method -- It is called with the client that it is called on.
    const { prepare } = prototype
    prototype.prepare = function (this: D1Database, text: string) {
      if (text.includes('json_each(?') && text.length <= maxLength && !exempt.test(text)) texts.add(text)
      return prepare.call(this, text)
    }
  }
}

/** A test may have dropped a table of its own. */
function ignoreMissingTable(error: unknown): string[] {
  if (String(error).includes('no such table')) return []
  throw error
}

/** Fails a file of tests whose statements read a whole list of a request for each row of a table. */
export function checkStatementPlans(): void {
  recordStatements()
  afterAll(async () => {
    const slowStatements: { text: string; scans: string[] }[] = []
    for (const text of texts) {
      if (explainedTexts.has(text)) continue
      explainedTexts.add(text)
      const scans = await findRepeatedListScans(text).catch(ignoreMissingTable)
      if (scans.length > 0) slowStatements.push({ text, scans })
    }
    texts.clear()
    expect(slowStatements).toEqual([])
  })
}
