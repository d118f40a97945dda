import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { buildPredicate, type ExpressionScope, buildValue } from '../../src/db/cel/index.ts'
import { Database } from '../../src/db/database.ts'
import { checkTypes } from '../../src/domain/cel/index.ts'
import { newMeter } from '../../src/domain/meter.ts'

export const database = (): Database => new Database(env.DB, newMeter())

/**
 * Evaluates an expression by our SQL for each person, in the order of their creation: the exact value and the
 * membership.
 */
export async function evaluateSources(
  sources: readonly string[],
  scope: ExpressionScope,
): Promise<{ values: (boolean | null)[]; members: boolean[] }[]> {
  const statements = sources.map((source) => {
    const checked = checkTypes(source)
    if (!checked.ok) throw new Error(`${source}\n${JSON.stringify(checked.errors)}`)
    return sql<{ v: string; m: string }>`select json_group_array(v) as v, json_group_array(m) as m from
      (select ${buildValue(checked.expression, scope)} as v, ${buildPredicate(checked.expression, scope)} as m
        from users u where u.organization_id = ${scope.organizationId} order by u.seq)`
  })
  const answers: { v: string; m: string }[] = []
  for (let at = 0; at < statements.length; at += 250)
    for (const [row] of await database().batch(statements.slice(at, at + 250))) if (row) answers.push(row)
  return answers.map(({ v, m }) => ({
    values: (JSON.parse(v) as (number | null)[]).map((value) => (value === null ? null : value === 1)),
    members: (JSON.parse(m) as (number | null)[]).map((value) => value === 1),
  }))
}
