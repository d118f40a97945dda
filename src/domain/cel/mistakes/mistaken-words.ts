import { type Mistake, mistakeAt } from './mistaken-signs.ts'
import { beginsValue, endsValue, type Token } from '../tokens.ts'
import { quoted } from './words.ts'

const between = (one: Token, other: Token) => ({ start: one.start, end: other.end })

/** Words of other languages between two values, by the operator that is meant. */
const operators: Readonly<Record<string, string>> = {
  and: '&&',
  or: '||',
  equals: '==',
  eq: '==',
  neq: '!=',
  ne: '!=',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  mod: '%',
}

const textFunctions: Readonly<Record<string, string>> = {
  contains: 'contains',
  includes: 'contains',
  startswith: 'startsWith',
  beginswith: 'startsWith',
  endswith: 'endsWith',
  matches: 'contains',
}

const callOf = (name: string, argument: Token | undefined): string =>
  `\`.${name}(${argument?.kind === 'text' && quoted(argument.text) ? argument.text : '"…"'})\``

/** `LIKE "%x"` as a call. */
function likeCall(argument: Token | undefined): string {
  if (argument?.kind !== 'text') return callOf('contains', undefined)
  const pattern = argument.text.slice(1, -1)
  const isOpen = { left: pattern.startsWith('%'), right: pattern.endsWith('%') }
  const name = isOpen.left === isOpen.right ? 'contains' : isOpen.left ? 'endsWith' : 'startsWith'
  return callOf(name, { ...argument, text: JSON.stringify(pattern.replaceAll('%', '')) })
}

function mistakenIs(tokens: readonly Token[], index: number): Mistake {
  const [is, not, value] = tokens.slice(index, index + 3) as [Token, Token | undefined, Token | undefined]
  const isNot = not?.text.toLowerCase() === 'not'
  const operand = isNot ? value : not
  const operator = isNot ? '!=' : '=='
  const isConstant = operand !== undefined && /^(?:null|true|false)$/i.test(operand.text)
  const last = isConstant ? operand : isNot ? not : is
  const instead = isConstant ? `${operator} ${operand.text.toLowerCase()}` : operator
  const said = isConstant ? `${isNot ? 'is not' : 'is'} ${operand.text.toLowerCase()}` : isNot ? 'is not' : 'is'
  const more = Number(isNot) + Number(isConstant)
  return mistakeAt(between(is, last), `There is no \`${said}\`: use \`${instead}\`.`, more)
}

function mistakenNot(tokens: readonly Token[], index: number): Mistake | null {
  const [not, next, argument] = tokens.slice(index, index + 3) as [Token, Token | undefined, Token | undefined]
  const word = next?.text.toLowerCase()
  if (endsValue(tokens[index - 1])) {
    if (word === 'in' && next)
      return mistakeAt(between(not, next), 'There is no `not in`: write `!(value in list)`.', 1)
    if ((word === 'like' || word === 'ilike') && next)
      return mistakeAt(
        between(not, next),
        `There is no \`not like\`: put \`!\` before and use ${likeCall(argument)}.`,
        1,
      )
    return null
  }
  return beginsValue(next) ? mistakeAt(not, `There is no \`${not.text}\`: use \`!\`.`) : null
}

/** A word after a value that is no operator. */
function mistakenInfix(tokens: readonly Token[], index: number): Mistake | null {
  const token = tokens[index] as Token
  const [next, second] = tokens.slice(index + 1, index + 3)
  const word = token.text.toLowerCase()
  if (Object.hasOwn(operators, word) && beginsValue(next))
    return mistakeAt(token, `There is no \`${token.text}\`: use \`${operators[word]}\`.`)
  if (word === 'in' && token.text !== 'in') return mistakeAt(token, `There is no \`${token.text}\`: use \`in\`.`)
  if (word === 'is') return mistakenIs(tokens, index)
  if (word === 'like' || word === 'ilike')
    return mistakeAt(token, `There is no \`${token.text}\`: use ${likeCall(next)}.`)
  if (word === 'between') return mistakeAt(token, 'There is no `between`: use `>=` and `<=`, with `&&` between them.')
  const isSplit = /^(?:starts|begins|ends)$/.test(word) && next?.text.toLowerCase() === 'with'
  const key = isSplit ? `${word}with` : word
  if (!Object.hasOwn(textFunctions, key)) return null
  const name = textFunctions[key] ?? ''
  const last = isSplit && next ? next : token
  const instead = callOf(name, isSplit ? second : next)
  return mistakeAt(between(token, last), `A function of a text stands after a point: use ${instead}.`, Number(isSplit))
}

/** The operator that a word of another language means, or null. */
export function mistakenWord(tokens: readonly Token[], index: number): Mistake | null {
  const [before, token] = [tokens[index - 1], tokens[index]]
  if (token?.kind !== 'word' || before?.text === '.') return null
  const word = token.text.toLowerCase()
  if (word === 'not') return mistakenNot(tokens, index)
  if (word === 'if' && !endsValue(before))
    return mistakeAt(token, 'There is no `if`: a choice is written `condition ? yes : no`.')
  return endsValue(before) ? mistakenInfix(tokens, index) : null
}
