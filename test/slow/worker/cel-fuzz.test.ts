import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { context, checkTypes, type Type } from '../../../src/domain/cel/index.ts'
import { buildBindings } from '../../support/cel/bindings.ts'
import { Expressions } from '../../support/cel/expressions.ts'
import { findWrongResults, judge, type Truth } from '../../support/cel/oracle.ts'
import { createRandom, createTenant, now, store, timezone } from '../../support/cel/people.ts'

const one = createTenant('one', 120, 11)
const other = createTenant('two', 40, 12)
const runs = Number(env.CEL_EXPRESSIONS)
const seed = 20_260_601

beforeAll(async () => {
  await store(one)
  await store(other)
})

const buildScope = (editionId: string | null, editions: readonly string[] | null) => ({
  organizationId: one.organizationId,
  editionId,
  timezone: editionId === null ? null : timezone,
  editions,
  now,
})
type Place = ReturnType<typeof buildScope>

const otherEdition = `${one.editionId.slice(0, -1)}2`
const scopes: [string, Place, number][] = [
  ['an edition', buildScope(one.editionId, [one.editionId]), 1],
  ['an organisation', buildScope(null, null), 0],
  ['some editions of an organisation', buildScope(null, [otherEdition, 'edt_of_nobody']), 2],
  ['all editions of an organisation', buildScope(null, [one.editionId, otherEdition]), 3],
]

/** Finds expressions for which the SQL and the reference evaluation differ for some person. */
async function findMismatches(
  sources: readonly string[],
  scope: Place,
  inspect: (truths: readonly Truth[]) => void = () => undefined,
): Promise<string[]> {
  const people = buildBindings(one, scope)
  const verdicts = sources.map((source) => judge(source, people))
  for (const { truths } of verdicts) inspect(truths)
  return (await findWrongResults(verdicts, scope)).map(({ source }) => source)
}

/** Finds the smallest condition inside an expression that is wrong too. */
async function shrink(source: string, scope: Place): Promise<string> {
  const parts: string[] = []
  for (let start = 0; start < source.length; start++)
    for (let end = start + 1; end <= source.length && parts.length < 4000; end++) {
      const part = source.slice(start, end)
      const fits = /^[\w!("[]/.test(part) && /[\w)"\]]$/.test(part)
      const checked = fits ? checkTypes(part) : null
      if (checked?.ok && checked.expression.type === 'bool') parts.push(part)
    }
  parts.sort((a, b) => a.length - b.length)
  return (await findMismatches(parts, scope))[0] ?? source
}

/** Builds conditions about a field, inside of macros for a field of the elements of lists. */
function buildConditions({ path, type }: { path: string; type: Type }): string[] {
  const steps = path.replace('<key>', 'newsletter').split('[].')
  const lists = steps.slice(0, -1)
  const value = `${lists.length ? `x${lists.length - 1}.` : ''}${steps.at(-1)}`
  const isList = type === 'json' || typeof type === 'object'
  const condition = isList ? `size(${value}) > 1` : type === 'bool' ? value : `${value} == null`
  const quantify = (macro: string, body: string) =>
    lists.reduceRight(
      (inner, list, index) => `${index ? `x${index - 1}.` : ''}${list}.${macro}(x${index}, ${inner})`,
      body,
    )
  return [quantify('exists', condition), quantify('all', `!(${condition})`)]
}

const plain = [
  ...context.examples.map(({ expression }) => expression),
  ...context.functions.map(({ example }) => example),
  ...context.functions
    .filter(({ name }) => name.startsWith('get'))
    .flatMap(({ name, signature }) => {
      const times = signature.startsWith('timestamp')
        ? ['user.date_joined', 'user.last_seen']
        : ['(now - user.date_joined)']
      return times.flatMap((time) => [0, 1, 2, 5, 11, 30, 52].map((number) => `${time}.${name}() > ${number}`))
    }),
  ...context.variables.flatMap(({ fields }) => fields.flatMap(buildConditions)),
]

describe('every field and function', () => {
  it.each(scopes)('agrees with the reference evaluation for every person in %s', async (_, scope) => {
    expect(plain.filter((source) => !checkTypes(source).ok)).toEqual([])
    expect(await findMismatches(plain, scope)).toEqual([])
  })
})

describe('random expressions', () => {
  it.each(scopes)('agree with the reference evaluation for every person in %s', async (_, scope, nth) => {
    const random = createRandom(seed + nth)
    const expressions = new Expressions(random)
    const sources: string[] = []
    while (sources.length < runs) {
      const source = expressions.condition(1 + Math.floor(random() * 3))
      const checked = checkTypes(source)
      if (checked.ok) sources.push(source)
      else if (!['limit_exceeded', 'unsupported'].includes(checked.errors[0]?.code ?? ''))
        throw new Error(`${source} ${JSON.stringify(checked.errors)}`)
    }
    const split = { all: 0, differing: 0, failing: 0 }
    const wrong = await findMismatches(sources, scope, (truths) => {
      split.all++
      if (truths.includes(true) && truths.includes(false)) split.differing++
      if (truths.includes(null)) split.failing++
    })
    const smallest = await Promise.all(wrong.slice(0, 12).map((source) => shrink(source, scope)))
    // Conditions with the same result for all people would prove little.
    expect(split.differing).toBeGreaterThan(split.all / 5)
    expect(split.failing).toBeGreaterThan(split.all / 5)
    expect({ seed, wrong: wrong.length, smallest }).toEqual({ seed, wrong: 0, smallest: [] })
  })
})
