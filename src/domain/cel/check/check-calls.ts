import { instantOf } from '../constants.ts'
import { refusedFunctions } from '../functions.ts'
import type { Ast } from '../parse.ts'
import type { Call, TypeChecker } from './type-checker.ts'
import { type Expression, isList, type SourceRange, Refusal, type Scalar } from '../types.ts'
import { unknownFunction } from '../mistakes/unknown-names.ts'
import { wordsOf } from '../mistakes/words.ts'

const textMethods: Record<string, readonly [args: number, type: Scalar]> = {
  contains: [1, 'bool'],
  startsWith: [1, 'bool'],
  endsWith: [1, 'bool'],
  lowerAscii: [0, 'string'],
  upperAscii: [0, 'string'],
}

const durationGetters = ['getHours', 'getMinutes', 'getSeconds', 'getMilliseconds']
const dateGetters = ['getFullYear', 'getMonth', 'getDate', 'getDayOfMonth', 'getDayOfWeek', 'getDayOfYear']
const getters = durationGetters.concat(dateGetters)

/** The types that a conversion accepts; its own type stays unchanged. */
const conversions: Record<string, readonly string[]> = {
  int: ['double', 'string', 'timestamp', 'json'],
  double: ['int'],
  string: ['int', 'bool'],
  bool: ['string'],
  timestamp: ['int'],
  duration: [],
}

export function checkCall(checker: TypeChecker, { name, receiver, args }: Call, range: SourceRange): Expression {
  if (name === 'has' && !receiver) return has(checker, args, range)
  if (Object.hasOwn(refusedFunctions, name))
    throw new Refusal('function_not_allowed', refusedFunctions[name] ?? '', range)
  if (!receiver && args.length === 1 && Object.hasOwn(conversions, name))
    return convert(checker, name as Scalar, args[0] as Ast, range)
  if (name === 'size' && args.length + (receiver ? 1 : 0) === 1)
    return size(checker, (receiver ?? args[0]) as Ast, range)
  if (receiver && Object.hasOwn(textMethods, name)) return textMethod(checker, { name, receiver, args }, range)
  if (receiver && getters.includes(name)) return getter(checker, { name, receiver, args }, range)
  if (receiver) checker.check(receiver)
  const call = { receiver: receiver && checker.textOf(receiver), args: args.map((ast) => checker.textOf(ast)) }
  throw new Refusal('unknown_function', unknownFunction(name, call), range)
}

const called = (name: string, args: Expression[], type: Scalar, range: SourceRange): Expression => ({
  node: 'call',
  name,
  args,
  type,
  nullable: false,
  ...range,
})

function has(checker: TypeChecker, [ast, ...rest]: readonly Ast[], range: SourceRange): Expression {
  if (ast?.op !== '.' || rest.length)
    throw new Refusal('invalid_macro_argument', 'has() takes a field, such as user.metadata.company.', range)
  const object = checker.check(ast.args[0])
  const key = ast.args[1]
  if (object.type === 'json') return { node: 'has_member', object, key, type: 'bool', nullable: false, ...range }
  if (object.type === 'consents') {
    checker.consent(key, checker.rangeOf(ast))
    return { node: 'has_consent', key, type: 'bool', nullable: false, ...range }
  }
  checker.check(ast)
  throw new Refusal('always_there', 'This field is always there: compare it with null instead.', range)
}

function convert(checker: TypeChecker, to: Scalar, ast: Ast, range: SourceRange): Expression {
  const operand = checker.check(ast)
  if ((to === 'timestamp' || to === 'duration') && operand.type === 'string') {
    if (operand.node !== 'literal')
      throw new Refusal('unsupported', `The text of a ${to} has to be written out.`, operand)
    return instantOf(to, operand, range)
  }
  if (operand.type !== to && (isList(operand.type) || !conversions[to]?.includes(operand.type)))
    throw new Refusal('no_matching_overload', `\`${to}\` cannot be made of ${wordsOf(operand.type)}.`, range)
  return called(to, [operand], to, range)
}

function size(checker: TypeChecker, ast: Ast, range: SourceRange): Expression {
  const operand = checker.check(ast)
  if (operand.type !== 'string' && operand.type !== 'json' && !isList(operand.type))
    throw new Refusal(
      'no_matching_overload',
      `\`size\` counts a list or a text, and this is ${wordsOf(operand.type)}.`,
      range,
    )
  return called('size', [operand], 'int', range)
}

function textMethod(checker: TypeChecker, { name, receiver, args }: Call<Ast>, range: SourceRange): Expression {
  const [arity, type] = textMethods[name] ?? [0, 'string']
  const texts = [receiver, ...args].map((ast) => checker.as(checker.check(ast), 'string'))
  if (args.length !== arity)
    throw new Refusal(
      'no_matching_overload',
      `\`${name}\` takes ${arity === 1 ? 'one text' : 'nothing'} in its parentheses.`,
      range,
    )
  const other = texts.find((text) => text.type !== 'string')
  if (other)
    throw new Refusal('no_matching_overload', `\`${name}\` needs a text, and this is ${wordsOf(other.type)}.`, other)
  return called(name, texts, type, range)
}

function getter(checker: TypeChecker, { name, receiver, args }: Call<Ast>, range: SourceRange): Expression {
  const of = checker.check(receiver)
  const fits = of.type === 'timestamp' || (of.type === 'duration' && durationGetters.includes(name))
  if (!fits)
    throw new Refusal('no_matching_overload', `\`${name}\` is asked of a time, and this is ${wordsOf(of.type)}.`, range)
  if (args.length) throw new Refusal('unsupported', 'Times are taken in UTC; time zones are not supported here.', range)
  return called(name, [of], 'int', range)
}
