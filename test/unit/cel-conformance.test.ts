import { beforeAll, describe, expect, it } from 'vitest'
import { checkTypes } from '../../src/domain/cel/index.ts'
import { buildBindings } from '../support/cel/bindings.ts'
import { findWrongResults, judge } from '../support/cel/oracle.ts'
import { createTenant, now, store, timezone } from '../support/cel/people.ts'
import { cases, isRefused, toCondition, waivers } from '../support/cel/specification.ts'

const tenant = createTenant('one', 1, 7)
const { organizationId, editionId } = tenant
const scope = { organizationId, editionId, timezone, editions: null, now }
const people = buildBindings(tenant, scope)
beforeAll(() => store(tenant))

const acceptedCases = cases.filter((testCase) => !isRefused(testCase))
const isWaived = ({ expr }: { expr: string }): boolean => waivers.some(([, pattern]) => pattern.test(expr))

describe('the literal cases of the CEL specification', () => {
  it('have the specified values', async () => {
    const verdicts = acceptedCases.map(toCondition).map(({ source, truth }) => ({ source, truths: [truth] }))
    expect(await findWrongResults(verdicts, scope)).toEqual([])
  })

  it('have the specified types', () => {
    const wrongTypes = acceptedCases.flatMap(({ name, expr, isError, type }) => {
      const checked = checkTypes(expr)
      const actualType = checked.ok ? checked.expression.type : null
      return isError || actualType === type ? [] : [{ name, type, actualType }]
    })
    expect(wrongTypes).toEqual([])
  })

  it('have the same values by the reference evaluator, which judges all other expressions', () => {
    const wrongCases = acceptedCases.filter((testCase) => {
      const { source, truth } = toCondition(testCase)
      return judge(source, people).truths[0] !== truth
    })
    expect(wrongCases).toEqual([])
  })

  it('are refused for a known reason, unless they are errors anyway', () => {
    expect(cases.filter((testCase) => isRefused(testCase) && !testCase.isError && !isWaived(testCase))).toEqual([])
    expect(acceptedCases.filter(isWaived)).toEqual([])
    expect(waivers.filter(([, pattern]) => !cases.some(({ expr }) => pattern.test(expr)))).toEqual([])
    expect(acceptedCases.length).toBeGreaterThan(400)
  })
})
