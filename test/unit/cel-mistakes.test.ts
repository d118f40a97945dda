import { describe, expect, it } from 'vitest'
import * as fc from 'fast-check'
import { expressionFields } from '../../src/domain/error-guide.ts'
import { checkExpression } from '../../src/domain/cel/index.ts'
import { meaningless } from '../support/cel-mistakes-meaning.ts'
import { unreadable } from '../support/cel-mistakes-syntax.ts'

const errorsOf = (source: string) => {
  const checked = checkExpression(source)
  return checked.ok ? [] : checked.errors
}

/** What a message says to write in place of what it points at. */
const replacementIn = (message: string): string | undefined =>
  [
    /^There is no `[^`]+`: use `([^`.]+)`\.$/,
    /^`=` does not compare: use `(==)`\.$/,
    /^Numbers have no .+: write `(\d+)`\.$/,
    /^A length of time is written `([^`]+)`\.$/,
    /^There is no variable .+ (?:Did you mean|Write|A text stands in quotes:) `([^`]+)`[.?]$/,
  ]
    .map((pattern) => pattern.exec(message)?.[1])
    .find((text) => text !== undefined)

const all = [...unreadable, ...meaningless].map(([source, ...errors]) => [source, errors] as const)

describe('a mistake in an expression', () => {
  it.each(all)('is reported with its place: %s', (source, errors) => {
    expect(errorsOf(source).map(({ start, end, message }) => [source.slice(start, end), message])).toEqual(errors)
  })

  it('is in this table for every kind', () => {
    expect(all.length).toBeGreaterThanOrEqual(120)
    expect(new Set([...unreadable, ...meaningless].map(([source]) => source)).size).toBe(
      unreadable.length + meaningless.length,
    )
  })

  it.each(all.filter(([, errors]) => errors.every(([, message]) => replacementIn(message) !== undefined)))(
    'is no mistake any more, mended as the message says: %s',
    (source) => {
      const mended = errorsOf(source).reduceRight((text, { start, end, message }) => {
        const replacement = replacementIn(message)
        return replacement === undefined ? text : text.slice(0, start) + replacement + text.slice(end)
      }, source)
      expect(mended).not.toBe(source)
      expect([mended, errorsOf(mended)]).toEqual([mended, []])
    },
  )
})

const pieces = [
  'user.email user.is_active stats.order_count consents.newsletter campaigns.opened nobody "a" 12 3.5 30d',
  '( ) [ ] { , . ? : ; " \' ` “ \\ 😀 == = === <> => && & AND or NOT IN LIKE + - ! in',
  'between contains if then else return __proto__ constructor toString()',
]
  .flatMap((line) => line.split(' '))
  .concat('orders.exists(o, o.status == "completed")', "'b'", '"""c\n"""', '\n', '// x\n', '\u00A0', '\uD800')
  .concat('not in', 'is not null', 'starts with')

const sources = fc
  .array(fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...pieces) }, fc.string({ unit: 'binary', maxLength: 4 })), {
    maxLength: 14,
  })
  .chain((parts) => fc.constantFrom('', ' ', '  ').map((space) => parts.join(space)))

describe('any text as an expression', () => {
  it('gets messages that point inside of it', () => {
    fc.assert(
      fc.property(sources, (source) => {
        const errors = errorsOf(source)
        for (const { code, message, line, column, start, end } of errors) {
          expect(expressionFields).toHaveProperty([code])
          expect(message).toMatch(/^[^\n]{5,400}[.?]$/u)
          expect(Number.isInteger(start) && start >= 0 && start <= end && end <= source.length).toBe(true)
          const before = source.slice(0, start).split('\n')
          expect([line, column]).toEqual([before.length, (before.at(-1) ?? '').length + 1])
          // Nothing is pointed at only where something is missing.
          if (start === end) expect([source.length, 0]).toContain(start)
        }
        expect(errors.map(({ start }) => start)).toEqual(errors.map(({ start }) => start).toSorted((a, b) => a - b))
      }),
      { numRuns: 1000 },
    )
  })

  it.each(['=', '“', '"', '`', 'in (', 'AND ', '1,', '1 ', '/*', 'a LIKE ', '(a,', '\\'])(
    'gets at most ten messages, as long as it may be: %s',
    (piece) => {
      const count = errorsOf(piece.repeat(4000 / piece.length)).length
      expect([count >= 1, count <= 10]).toEqual([true, true])
    },
  )

  it('with one wrong operator of many gets a message at its exact place', () => {
    const condition = fc.constantFrom(
      'user.is_active',
      'stats.order_count >= 2',
      'user.email == "a AND b = c"',
      '!true',
    )
    const wrong = fc.constantFrom(['AND', '&&'], ['and', '&&'], ['&', '&&'], ['OR', '||'], ['|', '||']) as fc.Arbitrary<
      [string, string]
    >
    fc.assert(
      fc.property(fc.array(condition, { minLength: 2, maxLength: 8 }), fc.nat(), wrong, (conditions, at, pair) => {
        const left = conditions.slice(0, (at % (conditions.length - 1)) + 1).join('\n && ')
        const right = conditions.slice((at % (conditions.length - 1)) + 1).join(' || ')
        const [operator, meant] = pair
        expect(errorsOf(`${left} ${operator} ${right}`)).toEqual([
          {
            code: 'unexpected_character',
            message: `There is no \`${operator}\`: use \`${meant}\`.`,
            start: left.length + 1,
            end: left.length + 1 + operator.length,
            line: left.split('\n').length,
            column: (left.split('\n').at(-1) ?? '').length + 2,
          },
        ])
        expect(errorsOf(`${left} ${meant} ${right}`)).toEqual([])
      }),
      { numRuns: 200 },
    )
  })
})
