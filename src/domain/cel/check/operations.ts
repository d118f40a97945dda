import { normalizeEmail, normalizeEmailPart, normalizePhone } from '../../accounts/users.ts'
import { buildConstant, parseInstant } from '../constants.ts'
import { refusedFunctions } from '../functions.ts'
import {
  describeArithmetic,
  describeComparison,
  describeMembership,
  describeType,
  describeUnknownFunction,
  type Operand,
} from '../messages.ts'
import type { Ast } from '../parse.ts'
import {
  type ArithmeticOperator,
  type ComparisonOperator,
  type Expression,
  formatType,
  isListType,
  isScalar,
  type ListType,
  type MacroName,
  Refusal,
  type Scalar,
  type SourceRange,
  type Type,
} from '../types.ts'
import { checkZone } from '../zones.ts'

/** A function call; `receiver` is the part before the point. */
export interface Call<Receiver = Ast | null> {
  name: string
  receiver: Receiver
  args: readonly Ast[]
}

/** The part of the checker that calls and operators need. */
export interface TypeChecker {
  /** Variables of the surrounding macros, innermost last. */
  readonly elements: (Expression & { node: 'variable' })[]
  check: (ast: Ast) => Expression
  checkCondition: (ast: Ast, code?: string) => Expression
  /** Throws when a list at this place would be nested too deeply. */
  enterList: (range: SourceRange) => void
  /** Throws when the expression uses too many time zones. */
  enterZone: (range: SourceRange) => void
  /** Converts metadata to a type, and leaves other expressions as they are. */
  convertMetadata: (operand: Expression, type: Scalar) => Expression
  buildConsent: (key: string, range: SourceRange) => Expression
  /** Records a literal that is compared with a field whose values are known. */
  recordLiteral: (field: Expression, literal: Expression) => void
  /** Adds the source text to a checked part, for messages. */
  describeOperand: (expression: Expression, ast: Ast) => Operand
  expandRange: (ast: SourceRange) => SourceRange
}

const textMethods: Record<string, readonly [args: number, type: Scalar]> = {
  contains: [1, 'bool'],
  startsWith: [1, 'bool'],
  endsWith: [1, 'bool'],
  lowerAscii: [0, 'string'],
  upperAscii: [0, 'string'],
}

const durationGetters = ['getHours', 'getMinutes', 'getSeconds', 'getMilliseconds']
const dateGetters = [
  'getFullYear',
  'getMonth',
  'getDate',
  'getDayOfMonth',
  'getDayOfWeek',
  'getDayOfYear',
  'getDayOfEdition',
]
const getters = durationGetters.concat(dateGetters)

/** The types that each conversion accepts besides its own. */
const conversions: Record<string, readonly string[]> = {
  int: ['double', 'string', 'timestamp', 'json'],
  double: ['int'],
  string: ['int', 'bool'],
  bool: ['string'],
  timestamp: ['int'],
  duration: [],
}

export function checkCall(checker: TypeChecker, { name, receiver, args }: Call, range: SourceRange): Expression {
  if (name === 'has' && !receiver) return checkHas(checker, args, range)
  if (Object.hasOwn(refusedFunctions, name))
    throw new Refusal('function_not_allowed', refusedFunctions[name] ?? '', range)
  if (!receiver && args.length === 1 && Object.hasOwn(conversions, name))
    return checkConversion(checker, name as Scalar, args[0] as Ast, range)
  if (name === 'size' && args.length + (receiver ? 1 : 0) === 1)
    return checkSize(checker, (receiver ?? args[0]) as Ast, range)
  if (receiver && Object.hasOwn(textMethods, name)) return checkTextMethod(checker, { name, receiver, args }, range)
  if (receiver && getters.includes(name)) return checkGetter(checker, { name, receiver, args }, range)
  if (receiver) checker.check(receiver)
  throw new Refusal('unknown_function', describeUnknownFunction(name), range)
}

const buildCall = (name: string, args: Expression[], type: Scalar, range: SourceRange): Expression => ({
  node: 'call',
  name,
  args,
  type,
  nullable: false,
  ...range,
})

function checkHas(checker: TypeChecker, [ast, ...rest]: readonly Ast[], range: SourceRange): Expression {
  if (ast?.op !== '.' || rest.length)
    throw new Refusal('invalid_macro_argument', '`has` needs a field, such as `has(user.metadata.company)`.', range)
  const object = checker.check(ast.args[0])
  const key = ast.args[1]
  if (object.type === 'json') return { node: 'has_member', object, key, type: 'bool', nullable: false, ...range }
  if (object.type === 'consents') {
    checker.buildConsent(key, checker.expandRange(ast))
    return { node: 'has_consent', key, type: 'bool', nullable: false, ...range }
  }
  checker.check(ast)
  throw new Refusal('always_there', 'This field always exists. Compare it with null instead.', range)
}

function checkConversion(checker: TypeChecker, to: Scalar, ast: Ast, range: SourceRange): Expression {
  const operand = checker.check(ast)
  if ((to === 'timestamp' || to === 'duration') && operand.type === 'string') {
    if (operand.node !== 'literal')
      throw new Refusal('unsupported', `\`${to}\` only takes a text literal, not a computed text.`, operand)
    return parseInstant(to, operand, range)
  }
  if (operand.type !== to && (isListType(operand.type) || !conversions[to]?.includes(operand.type)))
    throw new Refusal('no_matching_overload', `\`${to}\` cannot convert ${describeType(operand.type)}.`, range)
  return buildCall(to, [operand], to, range)
}

function checkSize(checker: TypeChecker, ast: Ast, range: SourceRange): Expression {
  const operand = checker.check(ast)
  if (operand.type !== 'string' && operand.type !== 'json' && !isListType(operand.type))
    throw new Refusal(
      'no_matching_overload',
      `\`size\` needs a list or a text, and this is ${describeType(operand.type)}.`,
      range,
    )
  if (operand.type !== 'string') checker.enterList(range)
  return buildCall('size', [operand], 'int', range)
}

function checkTextMethod(checker: TypeChecker, { name, receiver, args }: Call<Ast>, range: SourceRange): Expression {
  const [arity, type] = textMethods[name] ?? [0, 'string']
  const texts = [receiver, ...args].map((ast) => checker.convertMetadata(checker.check(ast), 'string'))
  if (args.length !== arity)
    throw new Refusal('no_matching_overload', `\`${name}\` takes ${arity ? 'one argument' : 'no arguments'}.`, range)
  const stranger = texts.find((text) => text.type !== 'string')
  if (stranger)
    throw new Refusal(
      'no_matching_overload',
      `\`${name}\` needs a text, and this is ${describeType(stranger.type)}.`,
      stranger,
    )
  const [text, ...parts] = texts
  return buildCall(name, text ? [text, ...parts.map((part) => normalizePart(text, part))] : [], type, range)
}

/** The field of the person whose address or number is compared, or null. */
function findContactField(expression: Expression | undefined): 'email' | 'phone_number' | null {
  if (expression?.node === 'call' && expression.name === 'lowerAscii') return findContactField(expression.args[0])
  if (expression?.node !== 'field' || expression.object.type !== 'user') return null
  return expression.name === 'email' || expression.name === 'phone_number' ? expression.name : null
}

const mapText = <Literal extends Expression>(literal: Literal, map: (text: string) => string): Literal =>
  literal.node === 'literal' && typeof literal.value === 'string' ? { ...literal, value: map(literal.value) } : literal

/** Addresses and numbers are stored in one form, so a literal is compared in this form. */
function normalizeContact<Literal extends Expression>(comparedExpression: Expression, literal: Literal): Literal {
  const field = findContactField(comparedExpression)
  if (field === null) return literal
  return mapText(literal, (text) => (field === 'email' ? normalizeEmail(text) : normalizePhone(text, null)) ?? text)
}

const normalizePart = (comparedExpression: Expression, part: Expression): Expression =>
  findContactField(comparedExpression) === 'email' ? mapText(part, normalizeEmailPart) : part

function checkGetter(checker: TypeChecker, { name, receiver, args }: Call<Ast>, range: SourceRange): Expression {
  const instant = checker.check(receiver)
  const isSupported = instant.type === 'timestamp' || (instant.type === 'duration' && durationGetters.includes(name))
  if (!isSupported)
    throw new Refusal(
      'no_matching_overload',
      `\`${name}\` needs a timestamp, and this is ${describeType(instant.type)}.`,
      range,
    )
  const canHaveZone = instant.type === 'timestamp' && name !== 'getDayOfEdition'
  if (args.length > (canHaveZone ? 1 : 0))
    throw new Refusal(
      'no_matching_overload',
      `\`${name}\` takes ${canHaveZone ? 'at most one argument' : 'no arguments'}.`,
      range,
    )
  if (args.length || name === 'getDayOfEdition') checker.enterZone(range)
  return buildCall(name, [instant, ...args.map((ast) => checkZoneArgument(checker, ast))], 'int', range)
}

/** The zone must be known before the expression runs, because SQLite knows no time zones. */
function checkZoneArgument(checker: TypeChecker, ast: Ast): Expression {
  const zone = checker.check(ast)
  if (zone.node === 'field' && zone.object.type === 'edition' && zone.name === 'timezone') return zone
  if (zone.node !== 'literal' || typeof zone.value !== 'string')
    throw new Refusal(
      'unsupported',
      'The time zone must be a text such as "Europe/Copenhagen", or `edition.timezone`.',
      zone,
    )
  checkZone(zone.value, zone)
  return zone
}

const macroArities: Record<MacroName, readonly number[]> = {
  exists: [2],
  exists_one: [2],
  all: [2],
  filter: [2],
  map: [2, 3],
}

const isMapped = (expression: Expression): boolean =>
  expression.node === 'macro' &&
  (expression.macro === 'map' || (expression.macro === 'filter' && isMapped(expression.range)))

interface MacroParts {
  list: Expression
  type: ListType
  variable: Ast & { op: 'id' }
  bodies: readonly Ast[]
}

function checkMacroParts(
  checker: TypeChecker,
  macro: MacroName,
  { receiver, args }: Call<Ast>,
  range: SourceRange,
): MacroParts {
  if (!macroArities[macro].includes(args.length))
    throw new Refusal(
      'no_matching_overload',
      `\`${macro}\` needs a variable and a condition, such as \`orders.exists(o, o.status == "completed")\`.`,
      range,
    )
  const [variable, ...bodies] = args
  if (variable?.op !== 'id')
    throw new Refusal('invalid_macro_argument', 'The first argument must be a variable name.', variable ?? range)
  const list = checker.check(receiver)
  const type = list.type === 'json' ? { list: 'json' as const, nullable: false } : list.type
  if (!isListType(type))
    throw new Refusal(
      'invalid_comprehension_range',
      `\`${macro}\` needs a list, and this is ${describeType(type)}.`,
      list,
    )
  if (macro === 'map' && isMapped(list))
    throw new Refusal('unsupported', 'You can use `map` only once on a list.', range)
  checker.enterList(range)
  return { list, type, variable, bodies }
}

/** Checks a macro over a list; null for any other call. */
export function checkMacro(checker: TypeChecker, call: Call<Ast>, range: SourceRange): Expression | null {
  if (!Object.hasOwn(macroArities, call.name)) return null
  const macro = call.name as MacroName
  const { list, type, variable, bodies } = checkMacroParts(checker, macro, call, range)
  const { args: name, start, end } = variable
  checker.elements.push({
    node: 'variable',
    name,
    type: type.list,
    nullable: type.nullable,
    values: list.values,
    start,
    end,
  })
  try {
    const result = macro === 'map' ? checkMapResult(checker, bodies.at(-1) as Ast) : null
    const condition = macro === 'map' ? bodies.at(-2) : bodies[0]
    const predicate = condition ? checker.checkCondition(condition, 'invalid_predicate') : null
    const mappedType: ListType = result ? { list: result.type, nullable: result.nullable } : type
    return {
      node: 'macro',
      macro,
      range: list,
      variable: name,
      predicate,
      result,
      type: macro === 'map' || macro === 'filter' ? mappedType : 'bool',
      nullable: false,
      values: result ? result.values : list.values,
      ...range,
    }
  } finally {
    checker.elements.pop()
  }
}

function checkMapResult(checker: TypeChecker, ast: Ast): Expression {
  const result = checker.check(ast)
  if (!isScalar(result.type))
    throw new Refusal(
      'unsupported',
      `\`map\` must give a text, a number or another simple value, and this is ${describeType(result.type)}.`,
      result,
    )
  return result
}

const isNumber = (type: Type): boolean => type === 'int' || type === 'double'
const areComparable = (one: Type, other: Type): boolean => one === other || (isNumber(one) && isNumber(other))

export function checkMinus(checker: TypeChecker, ast: Ast, range: SourceRange): Expression {
  if (ast.op === 'value' && (typeof ast.args === 'bigint' || typeof ast.args === 'number'))
    return buildConstant(ast.args, range, true)
  const operand = checker.convertMetadata(checker.check(ast), 'double')
  if (!isNumber(operand.type))
    throw new Refusal('no_such_overload', `\`-\` needs a number, and this is ${describeType(operand.type)}.`, range)
  return { node: 'minus', operand, type: operand.type, nullable: false, ...range }
}

/** Results of arithmetic on timestamps, durations and texts. */
const mixedResults: Record<string, Scalar> = {
  'timestamp + duration': 'timestamp',
  'duration + timestamp': 'timestamp',
  'timestamp - duration': 'timestamp',
  'timestamp - timestamp': 'duration',
  'duration + duration': 'duration',
  'duration - duration': 'duration',
  'string + string': 'string',
}

function findResultType(operator: ArithmeticOperator, left: Type, right: Type): Scalar | undefined {
  if (left === 'int' && right === 'int') return 'int'
  if (left === 'double' && right === 'double' && operator !== '%') return 'double'
  return mixedResults[`${formatType(left)} ${operator} ${formatType(right)}`]
}

export function checkArithmetic(
  checker: TypeChecker,
  operator: ArithmeticOperator,
  [leftAst, rightAst]: readonly [Ast, Ast],
  range: SourceRange,
): Expression {
  let left = checker.check(leftAst)
  let right = checker.check(rightAst)
  const canReadMetadata = (type: Type): type is Scalar => type === 'double' || type === 'string'
  if (canReadMetadata(right.type)) left = checker.convertMetadata(left, right.type)
  if (canReadMetadata(left.type)) right = checker.convertMetadata(right, left.type)
  const type = findResultType(operator, left.type, right.type)
  if (!type)
    throw new Refusal(
      'no_such_overload',
      describeArithmetic(operator, checker.describeOperand(left, leftAst), checker.describeOperand(right, rightAst)),
      range,
    )
  // SQLite has no infinity for a division by zero, so the divisor must be known.
  if (operator === '/' && type === 'double' && !(right.node === 'literal' && right.value !== 0))
    throw new Refusal('unsupported', 'A decimal number can only be divided by a number literal that is not 0.', right)
  return { node: 'arithmetic', operator, left, right, type, nullable: false, ...range }
}

export function checkCompare(
  checker: TypeChecker,
  operator: ComparisonOperator,
  [leftAst, rightAst]: readonly [Ast, Ast],
  range: SourceRange,
): Expression {
  let left = checker.check(leftAst)
  let right = checker.check(rightAst)
  const isEquality = operator === '==' || operator === '!='
  const operands = [left, right]
  if (operands.every(({ type }) => type === 'json'))
    throw new Refusal('unsupported', 'Two metadata values cannot be compared with each other.', range)
  const haveValues = operands.every(({ type }) => isScalar(type) || type === 'json' || (isEquality && type === 'null'))
  const isUntyped = operands.some(({ type }) => type === 'json' || type === 'null')
  if (!haveValues || (!isUntyped && !areComparable(left.type, right.type)))
    throw new Refusal(
      'no_such_overload',
      describeComparison(operator, checker.describeOperand(left, leftAst), checker.describeOperand(right, rightAst)),
      range,
    )
  if (!isEquality) {
    left = checker.convertMetadata(left, metadataTypeFor(right.type))
    right = checker.convertMetadata(right, metadataTypeFor(left.type))
  }
  checker.recordLiteral(left, right)
  checker.recordLiteral(right, left)
  const contacts = isEquality
    ? { left: normalizeContact(right, left), right: normalizeContact(left, right) }
    : { left, right }
  return { node: 'compare', operator, ...contacts, type: 'bool', nullable: false, ...range }
}

/** Numbers in metadata are doubles. */
const metadataTypeFor = (type: Type): Scalar => (type === 'int' ? 'double' : (type as Scalar))

export function checkIn(
  checker: TypeChecker,
  [elementAst, listAst]: readonly [Ast, Ast],
  range: SourceRange,
): Expression {
  const element = checker.check(elementAst)
  const list = checker.check(listAst)
  if (list.type === 'consents') {
    if (element.node !== 'literal' || typeof element.value !== 'string')
      throw new Refusal('unsupported', 'The key of a consent must be a text literal.', element)
    checker.buildConsent(element.value, element)
    return { node: 'has_consent', key: element.value, type: 'bool', nullable: false, ...range }
  }
  const elementType = isListType(list.type) ? list.type.list : list.type
  const isSupported =
    (isScalar(element.type) &&
      (elementType === 'json' || elementType === 'never' || areComparable(element.type, elementType))) ||
    (element.type === 'json' && elementType !== 'json')
  if ((!isListType(list.type) && elementType !== 'json') || !isSupported)
    throw new Refusal(
      'no_such_overload',
      describeMembership(checker.describeOperand(element, elementAst), checker.describeOperand(list, listAst)),
      range,
    )
  if (list.node === 'list') for (const item of list.items) checker.recordLiteral(element, item)
  else checker.enterList(range)
  checker.recordLiteral(list, element)
  const normalizedList =
    list.node === 'list' ? { ...list, items: list.items.map((item) => normalizeContact(element, item)) } : list
  return { node: 'in', element, list: normalizedList, type: 'bool', nullable: false, ...range }
}
