import { type Mistake, mistakeAt, mistakenNumber, mistakenSign } from './mistaken-signs.ts'
import { mistakenWord } from './mistaken-words.ts'
import { endsValue, isOperator, type Token, tokensOf } from '../tokens.ts'
import type { SourceRange } from '../types.ts'
import { quoted } from './words.ts'

const shown = 10

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }
const isClosing = (text: string): boolean => [')', ']', '}'].includes(text)

/** Brackets that have no partner: the last that is open, and each that closes nothing. */
function mistakenBrackets(tokens: readonly Token[]): Mistake[] {
  const open: Token[] = []
  for (const token of tokens) {
    if (token.kind !== 'sign') continue
    if (Object.hasOwn(closing, token.text)) open.push(token)
    if (!isClosing(token.text)) continue
    const partner = open.pop()
    if (partner === undefined) return [{ ...mistakeAt(token, `This \`${token.text}\` closes nothing.`) }]
    const wanted = closing[partner.text]
    if (wanted !== token.text)
      return [
        mistakeAt(token, `The \`${partner.text}\` before is closed with \`${wanted}\`, not with \`${token.text}\`.`),
      ]
  }
  const last = open.at(-1)
  if (!last) return []
  const message = `This \`${last.text}\` is not closed: a \`${closing[last.text]}\` is missing.`
  return [{ ...mistakeAt(last, message), code: 'expected_token' }]
}

/** `in (1, 2)`: lists in the wrong brackets, each by the index of its first token. One pass, with any nesting. */
function mistakenLists(tokens: readonly Token[]): ReadonlyMap<number, Mistake> {
  const found = new Map<number, Mistake>()
  const open: { index: number; hasComma: boolean }[] = []
  for (const [index, token] of tokens.entries()) {
    const innermost = open.at(-1)
    if (token.text === ',' && innermost) innermost.hasComma = true
    if (Object.hasOwn(closing, token.text)) open.push({ index, hasComma: false })
    if (!isClosing(token.text)) continue
    const { index: start, hasComma } = open.pop() ?? { index: 0, hasComma: false }
    const isList = hasComma && tokens[start]?.text === '(' && tokens[start - 1]?.text.toLowerCase() === 'in'
    const range = { start: tokens[start]?.start ?? 0, end: token.end }
    if (isList) found.set(start, mistakeAt(range, 'A list stands in `[` and `]`, not in `(` and `)`.'))
  }
  return found
}

const quoteOf = ({ text }: Token): string => /^(?:"""|'''|"|')/.exec(text)?.[0] ?? '"'

/** Texts that end too early, or not at all. */
function mistakenText(tokens: readonly Token[], index: number): Mistake | null {
  const [token, next] = [tokens[index], tokens[index + 1]]
  if (token?.kind === 'open_text') {
    const quote = quoteOf(token)
    const message = `The text that begins here has no end: a \`${quote}\` is missing.`
    return { ...mistakeAt(token, message, tokens.length), code: 'unterminated_string' }
  }
  if (token?.kind !== 'text' || next?.start !== token.end || next.kind === 'sign') return null
  const quote = token.text.at(-1)
  return mistakeAt(
    next,
    `The text ends before this: a quote inside of a text is written \`\\${quote}\`.`,
    tokens.length,
  )
}

const mistakeIn = (tokens: readonly Token[], index: number, isInBrackets: boolean): Mistake | null =>
  mistakenText(tokens, index) ??
  mistakenSign(tokens, index) ??
  mistakenWord(tokens, index) ??
  mistakenNumber(tokens, index, isInBrackets)

function patternsIn(given: readonly Token[]): Mistake[] {
  const tokens = [...given]
  const lists = mistakenLists(given)
  const found: Mistake[] = []
  let depth = 0
  let isBetween = false
  for (let index = 0; index < tokens.length && found.length < shown; index++) {
    const token = tokens[index] as Token
    const word = token.text.toLowerCase()
    if (Object.hasOwn(closing, word)) depth++
    if (isClosing(word)) depth--
    // The `and` of `between 1 and 2` has its word already.
    const isSecond: boolean = isBetween && word === 'and'
    const mistake: Mistake | null = isSecond ? null : (mistakeIn(tokens, index, depth > 0) ?? lists.get(index) ?? null)
    isBetween = word === 'between' ? mistake !== null : isBetween && !isSecond
    if (!mistake) continue
    found.push(mistake)
    // The rest is checked as if the operator were here.
    if (!mistake.more && token.kind === 'word') tokens[index] = { ...token, kind: 'sign', text: '&&' }
    index += mistake.more ?? 0
  }
  return found
}

const spoken = (token: Token): string => quoted(token.text) ?? 'this'

/** The fault at the place where the parser stopped, if it is no known mistake. */
function missingAt(tokens: readonly Token[], place: SourceRange): string | null {
  const index = tokens.findIndex(({ start, end }) => start >= place.start || end > place.start)
  const [before, at] = index < 0 ? [tokens.at(-1), undefined] : [tokens[index - 1], tokens[index]]
  const question = tokens.findLast(({ text }) => text === '?')
  if (!at) {
    const number = tokens.at(-2)
    if (before?.text === '.' && number?.kind === 'number')
      return `A number ends with a digit: write \`${number.text}.0\`.`
    if (before?.text === '.') return 'A name is missing after the `.`.'
    if (before && (isOperator(before) || before.text === '!' || before.text === ','))
      return `A value is missing after ${spoken(before)}.`
    return question ? 'This choice has no `:`. It is written `condition ? yes : no`.' : null
  }
  if (before?.text === '.') return `A name is missing between \`.\` and ${spoken(at)}.`
  if (at.text === '.') {
    const next = tokens[index + 1]
    if (!endsValue(before) && next?.kind === 'number') return `A number begins with a digit: write \`0.${next.text}\`.`
    return 'A value is missing before the `.`.'
  }
  if (endsValue(before) && before && (endsValue(at) || at.text === '!') && !isClosing(at.text))
    return `An operator is missing between ${spoken(before)} and ${spoken(at)}.`
  if (!isOperator(at) && at.text !== ',' && !isClosing(at.text)) return null
  if (!before) return `A value is missing before ${spoken(at)}.`
  return endsValue(before) ? null : `A value is missing between ${spoken(before)} and ${spoken(at)}.`
}

/** One to ten faults of a source that cannot be parsed; `place` is where the parser stopped. */
export function syntaxMistakes(
  source: string,
  { code, ...place }: SourceRange & { code: string },
): (SourceRange & { code: string; message: string })[] {
  const tokens = tokensOf(source)
  const patterns = patternsIn(tokens)
  const isTextOpen = patterns.some(({ more }) => more === tokens.length)
  const found = isTextOpen ? patterns : [...patterns, ...mistakenBrackets(tokens)]
  if (found.length)
    return found
      .toSorted((one, other) => one.start - other.start)
      .slice(0, shown)
      .map(({ code: of, message, start, end }) => ({ code: of, message, start, end }))
  const at = quoted(source.slice(place.start, place.end))
  const message =
    missingAt(tokens, place) ?? (at && at !== '``' ? `${at} cannot stand here.` : 'The expression ends too early.')
  return [{ code, message, ...place }]
}

/** The message for faults that the parser describes best: numbers, letters by their number, reserved words. */
export function knownSyntax(code: string, text: string): string | null {
  const shownText = quoted(text) ?? 'This'
  if (code === 'invalid_macro_argument')
    return `${shownText} is not a name here: \`exists\` and its like begin with a variable, and \`has\` takes a field.`
  if (code === 'limit_exceeded') return 'The expression is too deep or has too many parts: make two segments of it.'
  if (code === 'reserved_identifier' && text !== 'if') return `${shownText} is a reserved word and not a name here.`
  if (code === 'invalid_escape_sequence')
    return `${shownText} means nothing in a text: a backslash is written \`\\\\\`.`
  if (/_(?:hex|octal|unicode)_(?:escape|surrogate)|octal_escape/.test(code) || code === 'bytes_unicode_escape')
    return `${shownText} names no letter: write it as \`\\u00e6\`.`
  if (/^invalid_(?:number|integer|hex_integer|exponent)$/.test(code))
    return `${shownText} is not a number: write \`1000\` or \`0.5\`.`
  return null
}
