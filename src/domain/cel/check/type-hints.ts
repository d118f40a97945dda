import { timestampOf } from '../instants.ts'
import { type ArithmeticOperator, type ComparisonOperator, type Expression, isList, type Type } from '../types.ts'
import { capital, quoted, wordsOf } from '../mistakes/words.ts'

/** A part of an expression with its text in the source. */
export interface Operand {
  expression: Expression
  text: string
}

const isNumber = (type: Type): boolean => type === 'int' || type === 'double'

const write = (text: string): string => {
  const form = quoted(text)
  return form ? ` Write ${form}.` : ''
}

/** How a text that is written out becomes a time. */
function timeHint(text: string): string {
  const full = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text
  const known = typeof timestampOf(full) === 'bigint' ? full : '2026-06-01T08:00:00Z'
  return ` Write \`timestamp("${known}")\`.`
}

/** The spelling of a literal that fits a type; empty when there is none. */
function literalHint(wanted: Type, { expression, text }: Operand): string {
  if (expression.node !== 'literal') return ''
  const { type, value } = expression
  const said = String(value)
  if (wanted === 'string' && (isNumber(type) || type === 'bool')) return write(JSON.stringify(text))
  if (wanted === 'timestamp') {
    if (type === 'duration') return write(`now - ${text}`)
    return type === 'string' || isNumber(type) ? timeHint(said) : ''
  }
  if (wanted === 'duration') return type === 'string' || isNumber(type) ? ' Write it as `duration("72h")`.' : ''
  if (type !== 'string') return wanted === 'bool' && (said === '0' || said === '1') ? write(String(said === '1')) : ''
  if (isNumber(wanted) && /^-?\d+(?:\.\d+)?$/.test(said)) return write(said)
  return wanted === 'bool' && /^(?:true|false)$/i.test(said) ? write(said.toLowerCase()) : ''
}

/** A hint for a value that is not simple. */
function objectHint({ expression, text }: Operand, other: Type): string {
  const { type } = expression
  if (isList(type)) {
    if (isNumber(other)) return write(`size(${text})`)
    if (type.list === other) return ' Ask with `in` whether a list contains a value.'
    return ' Ask its elements with `exists`.'
  }
  if (type === 'consent') return write(other === 'string' ? `${text}.status` : `${text}.is_current`)
  if (type === 'user' || type === 'order' || type === 'purchase' || type === 'edition')
    return ` Name a field${quoted(text) ? `, such as \`${text}.id\`` : ''}.`
  return ''
}

const isSimpleType = (type: Type): boolean =>
  !isList(type) && !['user', 'order', 'purchase', 'edition', 'consents', 'consent', 'stats', 'campaigns'].includes(type)

const isSimple = ({ expression }: Operand): boolean => isSimpleType(expression.type)

export function incomparable(operator: ComparisonOperator, left: Operand, right: Operand): string {
  const [one, other] = [left.expression.type, right.expression.type]
  if ((one === 'null' || other === 'null') && operator !== '==' && operator !== '!=')
    return `null has no order: only \`==\` and \`!=\` go with it.`
  const hint = isSimple(left)
    ? isSimple(right)
      ? literalHint(one, right) || literalHint(other, left)
      : objectHint(right, one)
    : objectHint(left, other)
  const verb = one === 'consents' || one === 'stats' || one === 'campaigns' ? 'are' : 'is'
  return `${capital(wordsOf(one))} ${verb} compared with ${wordsOf(other)}.${hint}`
}

const participles: Record<ArithmeticOperator, string> = {
  '+': 'added',
  '-': 'subtracted from each other',
  '*': 'multiplied',
  '/': 'divided',
  '%': 'divided',
}

/** A hint for an integer next to a double, or the reverse. */
function numberHint(left: Operand, right: Operand): string {
  const int = [left, right].find(({ expression }) => expression.type === 'int')
  if (int?.expression.node === 'literal') return write(`${int.text}.0`)
  return int ? write(`double(${int.text})`) : ''
}

export function notCalculable(operator: ArithmeticOperator, left: Operand, right: Operand): string {
  const types = [left.expression.type, right.expression.type]
  const [one, other] = types as [Type, Type]
  const none = `${capital(wordsOf(one))} and ${wordsOf(other)} cannot be ${participles[operator]}.`
  if (types.includes('json')) return `${none} Numbers of metadata are doubles: write 1.0 instead of 1, or int(…).`
  if (types.includes('timestamp') && types.some(isNumber))
    return `${none} A length of time is written \`duration("72h")\`.`
  if (types.every(isNumber))
    return operator === '%' ? `${none} Only whole numbers have a rest.` : none + numberHint(left, right)
  const text = types.includes('string') ? [left, right].find(({ expression }) => expression.type === 'int') : undefined
  if (text && operator === '+') return none + write(`string(${text.text})`)
  return none
}

export function notInList(element: Operand, list: Operand): string {
  const { type } = list.expression
  if (!isList(type)) {
    const hint = type === 'string' ? write(`${list.text}.contains(${element.text})`) : ''
    return `\`in\` needs a list, and this is ${wordsOf(type)}.${hint}`
  }
  const looked = `${capital(wordsOf(element.expression.type))} is looked for in ${wordsOf(type)}.`
  if (typeof type.list !== 'string') return looked
  if (list.expression.node === 'list' && element.expression.type === 'string' && isNumber(type.list))
    return `${looked} Write its elements in quotes.`
  return looked + (isSimpleType(type.list) ? literalHint(type.list, element) : ' Ask its elements with `exists`.')
}

/** A hint that makes a condition of a value. */
export function conditionHint({ expression, text }: Operand): string {
  const { type, nullable } = expression
  if (isList(type)) return write(`size(${text}) > 0`)
  if (type === 'consent') return write(`${text}.is_current`)
  if (expression.node === 'literal')
    return type === 'string' && /^(?:true|false)$/i.test(String(expression.value))
      ? write(String(expression.value).toLowerCase())
      : ''
  if (nullable) return write(`${text} != null`)
  if (type === 'string') return write(`${text} != ""`)
  return isNumber(type) ? write(`${text} > 0`) : ''
}
