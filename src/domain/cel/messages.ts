import { findNearest } from '../text/nearest.ts'
import { fieldsOfObject, variables } from './catalogue.ts'
import { functions } from './functions.ts'
import { parseTimestamp } from './instants.ts'
import {
  type ArithmeticOperator,
  type ComparisonOperator,
  type Expression,
  isListType,
  isScalar,
  type ListType,
  type ObjectName,
  type Type,
} from './types.ts'

type Simple = Exclude<Type, ListType>

const typeNames: Record<Simple, string> = {
  bool: 'true or false',
  int: 'a whole number',
  double: 'a decimal number',
  string: 'a text',
  timestamp: 'a timestamp',
  duration: 'a duration',
  null: 'null',
  json: 'a metadata value',
  never: 'nothing',
  user: 'the user',
  order: 'an order',
  purchase: 'a purchase',
  use: 'a use of a purchase',
  consents: 'the consents',
  consent: 'a consent',
  stats: 'the stats',
  campaigns: 'the campaigns',
  campaign_message: 'a message of a campaign',
  edition: 'the edition',
}

const pluralTypeNames: Partial<Record<Simple, string>> = {
  bool: 'true or false values',
  int: 'whole numbers',
  double: 'decimal numbers',
  string: 'texts',
  timestamp: 'timestamps',
  duration: 'durations',
  json: 'metadata values',
  order: 'orders',
  purchase: 'purchases',
  use: 'uses of a purchase',
  campaign_message: 'messages of campaigns',
}

/** A type in words, such as `a text` or `a list of orders`. */
export function describeType(type: Type): string {
  if (!isListType(type)) return typeNames[type]
  if (type.list === 'never') return 'an empty list'
  return `a list of ${isListType(type.list) ? 'lists' : (pluralTypeNames[type.list] ?? typeNames[type.list])}`
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Source text for a message; null when it is too long or has characters that would break the message. */
const quoteSource = (text: string): string | null => (text.length <= 60 && !/[`\n]/.test(text) ? `\`${text}\`` : null)

const suggest = (text: string): string => {
  const quotation = quoteSource(text)
  return quotation ? ` Write ${quotation}.` : ''
}

const tokenNames: Record<string, string> = {
  RPAREN: '`)`',
  RBRACKET: '`]`',
  RBRACE: '`}`',
  COLON: '`:`',
  IDENTIFIER: 'name',
}

/** The message for an error code of the parser. `summary` is the parser's own message. */
export function describeSyntaxError(code: string, text: string, summary: string): string {
  const quotation = quoteSource(text.trim())
  const subject = quotation && quotation !== '``' ? quotation : null
  if (code === 'expected_token') {
    const token = /^Expected (\w+)/.exec(summary)?.[1] ?? ''
    const problem = `${tokenNames[token] ? `A ${tokenNames[token]}` : 'Something'} is missing`
    return subject ? `${problem} before ${subject}.` : `${problem} at the end of the expression.`
  }
  if (code === 'unexpected_token')
    return subject ? `A value is missing before ${subject}.` : 'A value is missing at the end of the expression.'
  if (code === 'reserved_identifier') return `${subject ?? 'This'} is a reserved word, so it cannot be a name.`
  if (code === 'limit_exceeded')
    return 'The expression is nested too deeply or has too many parts. Split it into two segments.'
  if (code === 'invalid_macro_argument')
    return 'The first argument of `exists`, `all`, `filter` and `map` must be a variable name, and `has` needs a field.'
  if (code === 'newline_in_string') return 'A text must end on its line. Write a line break as `\\n`.'
  if (code.startsWith('unterminated')) return 'The text that starts here has no closing quote.'
  if (/escape|surrogate/.test(code))
    return `${subject ?? 'This'} is not an escape sequence. Write a backslash as \`\\\\\`.`
  if (code.startsWith('invalid_')) return `${subject ?? 'This'} is not a number.`
  if (subject && /^[\w"'`]/.test(text))
    return `An operator such as \`&&\`, \`||\` or \`==\` is missing before ${subject}.`
  if (subject === '`=`') return 'One `=` compares nothing. Write `==`.'
  return `${subject ?? 'This character'} cannot stand here.`
}

const suggestName = (name: string, candidates: readonly string[]): string | null =>
  findNearest(name, candidates, (candidate) => [candidate.replace(/^.*\./, '')])

const didYouMean = (name: string): string => ` Did you mean \`${name}\`?`

const constantNames = ['true', 'false', 'null']
const userFields = variables.flatMap(({ name, fields }) => (name === 'user' ? fields.map(({ path }) => path) : []))
const variableNames = variables.map(({ name }) => name)

export function describeUnknownVariable(name: string, elementNames: readonly string[]): string {
  const candidate = suggestName(name, [...elementNames, ...variableNames, ...constantNames, ...userFields])
  const problem = `There is no variable \`${name}\`.`
  return candidate
    ? problem + didYouMean(candidate)
    : `${problem} If you mean a text, write it in quotes: \`"${name}"\`.`
}

export function describeUnknownField(object: ObjectName, name: string): string {
  const names = [...fieldsOfObject(object).keys()]
  const candidate = suggestName(name, names)
  const verb = object === 'stats' || object === 'campaigns' || object === 'consents' ? 'have' : 'has'
  const problem = `${capitalize(describeType(object))} ${verb} no field \`${name}\`.`
  return problem + (candidate ? didYouMean(candidate) : ` The fields are ${names.join(', ')}.`)
}

/** The message for a field of a list, a text, a number or another value that has no fields. */
export function describeFieldOfValue(type: Type, name: string): string {
  if (functions.some((declaration) => declaration.name === name && declaration.signature.includes(`.${name}`)))
    return `\`${name}\` is a function. Write \`.${name}(…)\`.`
  return `${capitalize(describeType(type))} has no fields.${isListType(type) ? ' Use `exists` to test its elements.' : ''}`
}

export function describeUnknownFunction(name: string): string {
  const signatures = functions
    .filter((declaration) => declaration.name === name)
    .map(({ signature }) => `\`${signature}\``)
  if (signatures.length) return `This is not how \`${name}\` is called. Its signature is ${signatures.join(' or ')}.`
  const candidate = suggestName(name, [...new Set(functions.map((declaration) => declaration.name))])
  return `There is no function \`${name}\`.${candidate ? didYouMean(candidate) : ''}`
}

/** A checked part of an expression with its source text. */
export interface Operand {
  expression: Expression
  text: string
}

const isNumber = (type: Type): boolean => type === 'int' || type === 'double'

const isSimple = ({ expression: { type } }: Operand): boolean =>
  isScalar(type) || type === 'null' || type === 'json' || type === 'never'

function suggestTimestamp(text: string): string {
  const instant = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text
  return suggest(`timestamp("${typeof parseTimestamp(instant) === 'bigint' ? instant : '2026-06-01T08:00:00Z'}")`)
}

const suggestedDuration = ' Write a duration such as `duration("72h")`.'

/** Suggests how to write a literal so that it has the expected type. */
function suggestLiteral(expectedType: Type, { expression, text }: Operand): string {
  if (expression.node !== 'literal') return ''
  const { type, value } = expression
  const literal = String(value)
  const isTextOrNumber = type === 'string' || isNumber(type)
  if (expectedType === 'string') return isNumber(type) || type === 'bool' ? suggest(JSON.stringify(text)) : ''
  if (expectedType === 'timestamp' && type === 'duration') return suggest(`now - ${text}`)
  if (expectedType === 'timestamp') return isTextOrNumber ? suggestTimestamp(literal) : ''
  if (expectedType === 'duration') return isTextOrNumber ? suggestedDuration : ''
  if (expectedType === 'bool' && /^(?:true|false)$/i.test(literal)) return suggest(literal.toLowerCase())
  return isNumber(expectedType) && /^-?\d+(?:\.\d+)?$/.test(literal) ? suggest(literal) : ''
}

/** Suggests how to turn a list or an object into a value that can be compared with `other`. */
function suggestValue({ expression: { type }, text }: Operand, other: Type): string {
  if (isListType(type)) return isNumber(other) ? suggest(`size(${text})`) : ' Use `exists` to test its elements.'
  if (type === 'consent') return suggest(other === 'string' ? `${text}.status` : `${text}.is_current`)
  return ' Compare one of its fields.'
}

export function describeComparison(operator: ComparisonOperator, left: Operand, right: Operand): string {
  const [one, other] = [left.expression.type, right.expression.type]
  if ((one === 'null' || other === 'null') && operator !== '==' && operator !== '!=')
    return 'null can only be compared with `==` and `!=`.'
  const complexOperand = [left, right].find((operand) => !isSimple(operand))
  const suggestion = complexOperand
    ? suggestValue(complexOperand, complexOperand === left ? other : one)
    : suggestLiteral(one, right) || suggestLiteral(other, left)
  return `You cannot compare ${describeType(one)} with ${describeType(other)}.${suggestion}`
}

export function describeArithmetic(operator: ArithmeticOperator, left: Operand, right: Operand): string {
  const types: readonly Type[] = [left.expression.type, right.expression.type]
  const integer = [left, right].find(({ expression }) => expression.type === 'int')
  const problem = `\`${operator}\` cannot be used with ${types.map(describeType).join(' and ')}.`
  if (types.includes('json')) return `${problem} Numbers in metadata are decimal numbers: write 1.0 instead of 1.`
  if (types.includes('timestamp') && types.some(isNumber)) return problem + suggestedDuration
  if (operator === '%') return `${problem} \`%\` needs two whole numbers.`
  if (types.every(isNumber) && integer)
    return problem + suggest(integer.expression.node === 'literal' ? `${integer.text}.0` : `double(${integer.text})`)
  return problem + (operator === '+' && types.includes('string') && integer ? suggest(`string(${integer.text})`) : '')
}

export function describeMembership(element: Operand, list: Operand): string {
  const { type } = list.expression
  if (!isListType(type))
    return `\`in\` needs a list, and this is ${describeType(type)}.${
      type === 'string' ? suggest(`${list.text}.contains(${element.text})`) : ''
    }`
  const problem = `You cannot look for ${describeType(element.expression.type)} in ${describeType(type)}.`
  return problem + suggestLiteral(type.list, element)
}

/** Suggests how to turn a value into a condition. */
export function suggestCondition({ expression, text }: Operand): string {
  const { type, nullable } = expression
  if (isListType(type)) return suggest(`size(${text}) > 0`)
  if (type === 'consent') return suggest(`${text}.is_current`)
  if (expression.node === 'literal') return suggestLiteral('bool', { expression, text })
  if (nullable) return suggest(`${text} != null`)
  if (type === 'string') return suggest(`${text} != ""`)
  return isNumber(type) ? suggest(`${text} > 0`) : ''
}
