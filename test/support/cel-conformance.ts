import { getConformanceSuite, type IncrementalTestSuite } from '@bufbuild/cel-spec/testdata/tests.js'
import { env } from 'cloudflare:workers'
import { type SQL, sql } from 'drizzle-orm'
import { type ExpressionScope, buildValue } from '../../src/db/cel/index.ts'
import { Database } from '../../src/db/database.ts'
import { type Type, checkTypes } from '../../src/domain/cel/index.ts'
import { newMeter } from '../../src/domain/meter.ts'

/** Files of the specification about the language itself, and the extensions that we support. */
const files = [
  'basic',
  'comparisons',
  'conversions',
  'fields',
  'fp_math',
  'integer_math',
  'lists',
  'logic',
  'macros',
].concat(['parse', 'string', 'timestamps', 'string_ext'])
const isOurs = (name: string): boolean => !name.startsWith('string_ext/') || /_ascii/.test(name)
/** Most of these hide a literal's type from the checker. Ours compares integers with doubles, so it needs no hiding. */
const withoutDyn = (expr: string): string => expr.replaceAll(/\bdyn\(([^()]*)\)/g, '$1')

export interface Case {
  name: string
  expr: string
  /** The expected value as text, or `error`. */
  expected: string
}

type Message = { $typeName: string; kind?: { case: string; value: unknown } }

function writeText(value: unknown): string {
  const { kind } = value as Message
  if (kind?.case === 'objectValue') {
    const { typeUrl, value: bytes } = kind.value as { typeUrl: string; value: Uint8Array }
    return `${typeUrl} ${[...bytes].join()}`
  }
  if (kind?.case === 'nullValue') return 'null'
  if (kind?.case === 'doubleValue') return `double ${Number(kind.value)}`
  if (['int64Value', 'boolValue', 'stringValue'].includes(kind?.case ?? '')) return String(kind?.value)
  return `${kind?.case}`
}

const collect = (suite: IncrementalTestSuite, path: string[]): Case[] => [
  ...suite.tests.flatMap(({ original: test }): Case[] => {
    const { resultMatcher } = test
    if (Object.keys(test.bindings).length || test.container || test.disableMacros) return []
    if (resultMatcher.case !== 'value' && resultMatcher.case !== 'evalError') return []
    const expected = resultMatcher.case === 'evalError' ? 'error' : writeText(resultMatcher.value)
    const name = [...path, test.name].join('/')
    return isOurs(name) ? [{ name, expr: withoutDyn(test.expr), expected }] : []
  }),
  ...suite.suites.flatMap((inner) => collect(inner, [...path, inner.name])),
]

export const cases: readonly Case[] = getConformanceSuite()
  .suites.filter(({ name }) => files.includes(name))
  .flatMap((suite) => collect(suite, [suite.name]))

const scope: ExpressionScope = { organizationId: 'org_none', editionId: null, editions: null, now: 0 }

/** Wraps an expression so that SQL returns it as text: doubles are marked, and integers have all their digits. */
function writeAsText(value: SQL, type: Type): SQL {
  if (type === 'bool') return sql`case ${value} when 1 then 'true' when 0 then 'false' end`
  if (type === 'double') return sql`'double ' || format('%!.17g', ${value})`
  return sql`cast(${value} as text)`
}

/** Evaluates each expression by our checker and our SQL: a value as text, `error`, or `refused: ` and the code. */
export async function evaluateCases(sources: readonly string[]): Promise<string[]> {
  const db = new Database(env.DB, newMeter())
  const answers: (string | { statement: SQL<{ v: string | null }>; type: Type })[] = sources.map((source) => {
    const checked = checkTypes(source)
    if (!checked.ok) return `refused: ${checked.errors[0]?.code}`
    const { type } = checked.expression
    if (type === 'null') return 'null'
    if (typeof type === 'object') return 'refused: list'
    const value = buildValue(checked.expression, scope)
    return {
      type,
      statement: sql<{ v: string | null }>`select ${writeAsText(sql`(${value})`, type)} as v
        from (select 'usr_none' as id, 'org_none' as organization_id) as u`,
    }
  })
  const statements = answers.flatMap((answer) => (typeof answer === 'string' ? [] : [answer.statement]))
  const rows: (string | null)[] = []
  for (let at = 0; at < statements.length; at += 200)
    for (const [row] of await db.batch(statements.slice(at, at + 200))) rows.push(row?.v ?? null)
  let next = 0
  return answers.map((answer) => {
    if (typeof answer === 'string') return answer
    const text = rows[next++] ?? 'error'
    return text.startsWith('double ') ? `double ${Number(text.slice(7).replace('Inf', 'Infinity'))}` : text
  })
}
