import { beforeAll, describe, expect, it } from 'vitest'
import { buildExplanation } from '../../src/db/cel/index.ts'
import { checkExpression } from '../../src/domain/cel/index.ts'
import { buildBindings } from '../support/cel/bindings.ts'
import { Expressions } from '../support/cel/expressions.ts'
import { database, judge } from '../support/cel/oracle.ts'
import { now, createRandom, store, createTenant, timezone } from '../support/cel/people.ts'

const tenant = createTenant('one', 12, 5)
const { organizationId, editionId } = tenant
const scope = { organizationId, editionId, timezone, editions: [editionId], now }
const people = buildBindings(tenant, scope)
beforeAll(() => store(tenant))

function explained(source: string, userId: string) {
  const checked = checkExpression(source)
  if (!checked.ok) throw new Error(`${source} ${JSON.stringify(checked.errors)}`)
  return buildExplanation(checked.expression, scope, source, userId)
}

describe('an explanation', () => {
  it('contains every condition, with its parentheses', async () => {
    const source =
      '(user.is_active || (stats.order_count >= 1)) && !(orders.exists(o, o.status == "x")) && (true ? user.has_email : false)'
    const { parts } = explained(source, 'usr_one_0')
    expect(parts.map(({ text }) => text)).toEqual([
      source,
      'user.is_active || (stats.order_count >= 1)',
      'user.is_active',
      'stats.order_count >= 1',
      '!(orders.exists(o, o.status == "x"))',
      'orders.exists(o, o.status == "x")',
      'true ? user.has_email : false',
      'true',
      'user.has_email',
      'false',
    ])
    for (const { start, end, text } of parts) expect(source.slice(start, end)).toBe(text)
  })

  it('agrees with the reference evaluation in each part, for each person', async () => {
    const random = createRandom(3)
    const expressions = new Expressions(random)
    const sources = Array.from({ length: 30 }, () => `(${expressions.condition(2)}) && !(${expressions.condition(3)})`)
    const acceptedSources = sources.filter((source) => checkExpression(source).ok)
    expect(acceptedSources.length).toBeGreaterThan(25)
    const results = new Set<boolean | null>()
    for (const source of acceptedSources) {
      const explanations = people.map(({ id }) => explained(source, id))
      const rows = await database().batch(explanations.map(({ statement }) => statement))
      explanations.forEach(({ parts, readTruths }, person) => {
        const row = rows[person]?.[0]
        if (!row) throw new Error('nobody')
        const wanted = parts.map(({ text }) => judge(`(${text}) && true`, people.slice(person, person + 1)).truths[0])
        expect([source, readTruths(row)]).toEqual([source, wanted])
        for (const truth of readTruths(row)) results.add(truth)
      })
    }
    expect(results).toEqual(new Set([true, false, null]))
  })

  it('supports more conditions than a function has arguments', async () => {
    const source = Array.from({ length: 70 }, () => 'stats.order_count>0').join('||')
    const { parts, statement, readTruths } = explained(source, 'usr_one_0')
    const [row] = await database().all(statement)
    expect(parts.length).toBe(71)
    expect(row && readTruths(row)).toHaveLength(parts.length)
  })

  it('is empty for a person of another organisation', async () => {
    const other = createTenant('two', 1, 6)
    await store(other)
    expect(await database().all(explained('true', 'usr_two_0').statement)).toEqual([])
    expect(await database().all(explained('true', 'usr_one_0').statement)).toHaveLength(1)
  })
})
