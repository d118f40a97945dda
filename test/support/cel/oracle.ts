import { celEnv, celFunc, celMethod, CelScalar, isCelError, isCelMap, objectType, parse, plan } from '@bufbuild/cel'
import { strings } from '@bufbuild/cel/ext'
import { type Timestamp, timestampFromMs, timestampMs, TimestampSchema } from '@bufbuild/protobuf/wkt'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { buildPredicate, buildValue, type ExpressionScope } from '../../../src/db/cel/index.ts'
import { Database } from '../../../src/db/database.ts'
import { checkTypes } from '../../../src/domain/cel/index.ts'
import { timestampRange } from '../../../src/domain/cel/instants.ts'
import { newMeter } from '../../../src/domain/meter.ts'
import type { Bindings } from './bindings.ts'

/** The result of a condition. Null is an error. */
export type Truth = boolean | null

/** A condition, and what it is for each person of a tenant in the order of their creation. */
export interface Verdict {
  source: string
  truths: readonly Truth[]
}

/** Tells whether a key exists, whatever its value, as the specification says. A value without keys is an error. */
const holds = celFunc('holds', [CelScalar.DYN, CelScalar.STRING], CelScalar.BOOL, (map, key) => {
  if (!isCelMap(map)) throw new Error('no such overload')
  return [...map.keys()].includes(key)
})

/** Converts seconds as the specification says; the reference evaluator takes large numbers for milliseconds. */
const timestampOf = celFunc('timestamp', [CelScalar.INT], objectType(TimestampSchema), (seconds) => {
  const ms = seconds * 1000n
  if (ms < timestampRange.from || ms > timestampRange.to) throw new Error('out of range')
  return timestampFromMs(Number(ms))
})

/** Counts the days of the calendar of a time zone, which `Intl` knows. */
function countDays(ms: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(ms).split('-').map(Number)
  const [year = 0, month = 0, date = 0] = parts
  return Date.UTC(year, month - 1, date) / 86_400_000
}

interface EditionStart {
  timezone: string
  start_date: Timestamp | null
}

const readEdition = ({ edition }: Bindings): EditionStart | null => (edition ?? null) as EditionStart | null

/** The environment of the people of an edition, or of an organisation. */
const buildEnvironment = (edition: EditionStart | null) =>
  celEnv({
    funcs: [
      ...strings,
      holds,
      timestampOf,
      celMethod('getDayOfEdition', objectType(TimestampSchema), [], CelScalar.INT, function getDayOfEdition() {
        if (!edition?.start_date) throw new Error('no start')
        const { message } = this as unknown as { message: Timestamp }
        const count = (instant: Timestamp) => countDays(timestampMs(instant), edition.timezone)
        return BigInt(count(message) - count(edition.start_date))
      }),
    ],
  })

/**
 * Unlike the specification, the evaluator returns false for a key whose value is null, and for `has` of a value without
 * keys.
 */
const mended = (source: string): string =>
  source
    .replaceAll(/\bhas\((\w+\.metadata(?:\.\w+)*)\.(\w+)\)/g, 'holds($1, "$2")')
    .replaceAll(/("(?:\\.|[^"\\])*") in (\w+\.metadata)(?![.\w[])/g, 'holds($2, $1)')

/** Judges a condition for each person by the reference evaluator. */
export function judge(source: string, people: readonly { bindings: Bindings }[]): Verdict {
  const evaluate = plan(buildEnvironment(readEdition(people[0]?.bindings ?? {})), parse(mended(source)))
  const truths = people.map(({ bindings }): Truth => {
    const result = evaluate(bindings)
    if (isCelError(result)) return null
    if (typeof result !== 'boolean') throw new Error(`${source} is no condition`)
    return result
  })
  return { source, truths }
}

export const database = (): Database => new Database(env.DB, newMeter())

/** A person is a member if the condition holds, and not if it is false or an error. */
const isMember = (truth: Truth): boolean => truth === true

const readTruths = (text: string): Truth[] =>
  (JSON.parse(text) as (number | null)[]).map((value) => (value === null ? null : value === 1))

const statementsPerBatch = 250

/** Finds the conditions for which our SQL yields another value, or another member, than the verdict says. */
export async function findWrongResults(verdicts: readonly Verdict[], scope: ExpressionScope): Promise<Verdict[]> {
  const statements = verdicts.map(({ source }) => {
    const checked = checkTypes(source)
    if (!checked.ok) throw new Error(`${source}\n${JSON.stringify(checked.errors)}`)
    return sql<{ truths: string; members: string }>`select json_group_array(v) as truths, json_group_array(m) as members
      from (select ${buildValue(checked.expression, scope)} as v, ${buildPredicate(checked.expression, scope)} as m
        from users u where u.organization_id = ${scope.organizationId} order by u.seq)`
  })
  const rows: { truths: string; members: string }[] = []
  for (let at = 0; at < statements.length; at += statementsPerBatch)
    rows.push(...(await database().batch(statements.slice(at, at + statementsPerBatch))).flat())
  return verdicts.filter(({ truths }, index) => {
    const { truths: actualTruths, members } = rows[index] ?? { truths: '[]', members: '[]' }
    const expected = JSON.stringify([truths, truths.map(isMember)])
    return JSON.stringify([readTruths(actualTruths), readTruths(members).map(isMember)]) !== expected
  })
}
