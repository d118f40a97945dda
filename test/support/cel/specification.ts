import { getConformanceSuite, type IncrementalTestSuite } from '@bufbuild/cel-spec/testdata/tests.js'
import { checkTypes } from '../../../src/domain/cel/index.ts'
import type { Truth } from './oracle.ts'

/** Files of the specification about the language itself, and the extensions that we support. */
const files =
  'basic comparisons conversions fields fp_math integer_math lists logic macros parse string timestamps string_ext'.split(
    ' ',
  )
const isOurs = (name: string): boolean => !name.startsWith('string_ext/') || /_ascii/.test(name)
/** Most of these hide a literal's type from the checker. Ours compares integers with doubles, so it needs no hiding. */
const withoutDyn = (expr: string): string => expr.replaceAll(/\bdyn\(([^()]*)\)/g, '$1')

/** Why expressions of the specification are refused. A pattern matches refused expressions only. */
export const waivers: readonly (readonly [reason: string, pattern: RegExp])[] = [
  ['There are no unsigned integers.', /\d[uU]\b|\buint\b/],
  ['There are no bytes.', /(?<![\w'"])(?:[bB][rR]?|[rR][bB])['"]|\bbytes\b/],
  ['Neither maps nor protobuf messages can be made in an expression.', /\{|google\.protobuf|TestAllTypes/],
  [
    'Lists can be searched and counted, and are no values.',
    /^\[[^\]]*\]+$|\] [!=]= ?\[|\] \+ \[|^[^(]*\.(?:map|filter)\([^()]*\)$|\[\[\[|'\]\.filter\(/,
  ],
  ['The elements of a list have one type.', /\[1, '|', null|\[null/],
  ['The elements of an empty list have no type.', /^\[\]$|\[\] ?[!=+]|[!=+]=? ?\[\]|\[\]\./],
  ['Elements of a list are not numbered.', /\]\[/],
  ['Types are no values.', /\btype\(|^(?:bool|int|double|null_type|string|list|map|type)$/],
  ['Nothing hides its type from the checker.', /\bdyn\(/],
  [
    'The checker refuses what only fails in a branch that is not taken.',
    /^x \|\||^f_unknown|(?:&&|\|\|) 32$|'horses'|'cows'/,
  ],
  ['SQLite ends texts at U+0000.', /^(?![rR])[\s\S]*\\(?:[xX]00|u0000|U00000000|000)/],
  ['SQLite has neither NaN nor a division of doubles by zero.', /\/ ?0\.0\b/],
  [
    'SQLite formats and reads doubles and times in other ways.',
    /^double\('-?\d|^string\((?:-?\d+\.\d|timestamp|duration)/,
  ],
  ['SQLite has no regular expressions in D1.', /\bmatches\(/],
  ['Times are precise to the millisecond.', /\d{5,}Z/],
  ['There are no packages.', /^\w\.\w+\(\)/],
  ['The parser does not know this notation.', /^\.\d/],
  ['It is larger than an expression may be.', /(?:[34] [-+*/] ){20}|!{20}|-{20}|(?:true \? true : ){20}/],
]

type Message = { $typeName: string; kind?: { case: string; value: unknown } }

/** Writes an expected value as a literal of our language. Null: it has no literal. */
function writeLiteral(value: unknown): string | null {
  const { kind } = value as Message
  switch (kind?.case) {
    case 'nullValue':
      return 'null'
    case 'stringValue':
      return JSON.stringify(kind.value)
    case 'boolValue':
    case 'int64Value':
      return String(kind.value)
    case 'doubleValue': {
      const number = Number(kind.value)
      if (Number.isNaN(number)) return null
      return Number.isFinite(number) ? number.toExponential() : `(${Math.sign(number)}e308 * 10.0)`
    }
    default:
      return null
  }
}

/** The type of an expected value, as our checker calls it. */
const typesByKind: Record<string, string> = {
  nullValue: 'null',
  stringValue: 'string',
  boolValue: 'bool',
  int64Value: 'int',
  doubleValue: 'double',
}

export interface SpecificationCase {
  name: string
  expr: string
  /** True if evaluating the expression has to fail. */
  isError: boolean
  /** A literal of the expected value, and its type. Both are null for an error, and for values without a literal. */
  literal: string | null
  type: string | null
}

const collect = (suite: IncrementalTestSuite, path: string[]): SpecificationCase[] => [
  ...suite.tests.flatMap(({ original: test }): SpecificationCase[] => {
    const { resultMatcher } = test
    if (Object.keys(test.bindings).length || test.container || test.disableMacros) return []
    if (resultMatcher.case !== 'value' && resultMatcher.case !== 'evalError') return []
    const name = [...path, test.name].join('/')
    if (!isOurs(name)) return []
    const isError = resultMatcher.case === 'evalError'
    const literal = isError ? null : writeLiteral(resultMatcher.value)
    const kind = isError ? undefined : (resultMatcher.value as Message).kind?.case
    return [{ name, expr: withoutDyn(test.expr), isError, literal, type: typesByKind[kind ?? ''] ?? null }]
  }),
  ...suite.suites.flatMap((inner) => collect(inner, [...path, inner.name])),
]

export const cases: readonly SpecificationCase[] = getConformanceSuite()
  .suites.filter(({ name }) => files.includes(name))
  .flatMap((suite) => collect(suite, [suite.name]))

export const isRefused = ({ expr }: SpecificationCase): boolean => {
  const checked = checkTypes(expr)
  return !checked.ok || typeof checked.expression.type === 'object'
}

/** Makes a condition that is true if the expression has the expected value. An error makes every comparison an error. */
export function toCondition({ expr, isError, literal }: SpecificationCase): { source: string; truth: Truth } {
  return isError
    ? { source: `(${expr}) == (${expr})`, truth: null }
    : { source: `(${expr}) == ${literal}`, truth: true }
}
