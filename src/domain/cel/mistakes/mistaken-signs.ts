import type { Token } from '../tokens.ts'
import type { SourceRange } from '../types.ts'

export interface Mistake extends SourceRange {
  code: 'unexpected_character' | 'unexpected_token' | 'expected_token' | 'unterminated_string'
  message: string
  /** The number of following tokens that belong to it. */
  more?: number
}

export const mistakeAt = (range: SourceRange, message: string, more = 0): Mistake => ({
  code: 'unexpected_character',
  message,
  start: range.start,
  end: range.end,
  more,
})

/** Signs of other languages, by the sign that is meant. */
const meant: Readonly<Record<string, string>> = {
  '===': '==',
  '!==': '!=',
  '<>': '!=',
  '=<': '<=',
  ':=': '==',
  '&': '&&',
  '|': '||',
  '≠': '!=',
  '≤': '<=',
  '≥': '>=',
  '–': '-',
  '−': '-',
  '×': '*',
  '÷': '/',
}

const details: Readonly<Record<string, string>> = {
  '=': '`=` does not compare: use `==`.',
  '??': 'There is no `??`: write `value != null ? value : other`.',
  ';': 'An expression has no `;`: take it out.',
  '#': 'There is no `#`: a comment begins with `//`.',
  '/*': 'There is no `/*`: a comment begins with `//` and ends with its line.',
  '**': 'There are no powers: multiply with `*`.',
  '^': 'There are no powers: multiply with `*`.',
  $: '`$` is not part of a name: remove it.',
  '@': '`@` is not part of a name: remove it.',
  '\u00A0': 'This is not a plain space: type it again.',
  '\u2003': 'This is not a plain space: type it again.',
  '\u200B': 'An invisible character stands here: take it out.',
  '\uFEFF': 'An invisible character stands here: take it out.',
}

const bent = /^[“”„‟«»‘’‚]/u

/** The sign that a sign of another language means; null for a sign of this language. */
export function mistakenSign(tokens: readonly Token[], index: number): Mistake | null {
  const token = tokens[index]
  if (token?.kind !== 'sign') return null
  const { text } = token
  if (text.startsWith('`')) return mistakeAt(token, 'Texts stand in `"` or in `\'`, and names in no quotes.')
  if (bent.test(text)) return mistakeAt(token, 'These quotes are bent: write straight ones, `"` or `\'`.')
  if (text === '=>') {
    const isArrow = tokens[index - 2]?.text === '(' && tokens[index - 1]?.kind === 'word'
    const message = isArrow
      ? 'There is no `=>`: a comma stands between the variable and its condition.'
      : 'There is no `=>`: use `>=`.'
    return mistakeAt(token, message)
  }
  if (Object.hasOwn(details, text)) return mistakeAt(token, details[text] ?? '')
  return Object.hasOwn(meant, text) ? mistakeAt(token, `There is no \`${text}\`: use \`${meant[text]}\`.`) : null
}

const unitHours: Readonly<Record<string, number>> = { d: 24, day: 24, days: 24, w: 168, week: 168, weeks: 168 }

/** A number with something behind it that belongs to no number. */
export function mistakenNumber(tokens: readonly Token[], index: number, isInList: boolean): Mistake | null {
  const [token, next, last] = tokens.slice(index, index + 3)
  if (token?.kind !== 'number' || next === undefined) return null
  if (next.text === ',' && last?.kind === 'number' && /^\d{3}$/.test(last.text) && !isInList) {
    const range = { start: token.start, end: last.end }
    return mistakeAt(range, `Numbers have no comma: write \`${token.text}${last.text}\`.`, 2)
  }
  if (next.kind !== 'word') return null
  const range = { start: token.start, end: next.end }
  const unit = next.text.toLowerCase()
  const hours = Object.hasOwn(unitHours, unit) ? unitHours[unit] : undefined
  if (hours !== undefined && /^\d{1,6}$/.test(token.text))
    return mistakeAt(range, `A length of time is written \`duration("${Number(token.text) * hours}h")\`.`, 1)
  if (next.start !== token.end) return null
  if (/^(?:h|m|s|ms)$/.test(unit))
    return mistakeAt(range, `A length of time is written \`duration("${token.text}${unit}")\`.`, 1)
  const digits = (token.text + next.text).replaceAll('_', '')
  return mistakeAt(
    range,
    /^\d+$/.test(digits)
      ? `Numbers have no \`_\`: write \`${digits}\`.`
      : `\`${token.text}${next.text}\` is neither a number nor a name.`,
    1,
  )
}
