import { describe, expect, it } from 'vitest'
import { evaluateCases, cases } from '../support/cel-conformance.ts'
import waivers from '../support/cel-waivers.json'

const answers = await evaluateCases(cases.map(({ expr }) => expr))
const judged = cases.map((testCase, index) => ({ ...testCase, answer: answers[index] ?? '' }))
const isRefused = (answer: string) => answer.startsWith('refused')
/** An expression that is refused before it runs can do no harm when the specification has an error. */
const passes = ({ expected, answer }: { expected: string; answer: string }) =>
  answer === expected || (expected === 'error' && isRefused(answer))

const waived = new Map(Object.entries(waivers).flatMap(([reason, names]) => names.map((name) => [name, reason])))

describe('the literal cases of the CEL specification', () => {
  it('have the specified results, except for the waived ones', () => {
    expect(judged.filter((result) => !passes(result) && !waived.has(result.name))).toEqual([])
  })

  it('are only waived when they are refused, and never for a wrong result', () => {
    expect(judged.filter(({ name, answer }) => waived.has(name) && !isRefused(answer))).toEqual([])
    expect(judged.filter((result) => waived.has(result.name) && passes(result))).toEqual([])
  })

  it('include every waived case, and most of them run', () => {
    const names = new Set(cases.map(({ name }) => name))
    expect([...waived.keys()].filter((name) => !names.has(name))).toEqual([])
    expect(judged.filter(({ answer }) => !isRefused(answer)).length).toBeGreaterThan(400)
  })
})
