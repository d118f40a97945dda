import {
  CaptureTag,
  CaseTag,
  Context,
  defaultOperators,
  type Emitter,
  type FilterImplOptions,
  filters,
  Liquid,
  LiquidError,
  type Template as Parsed,
  type Token,
  TokenKind,
  Tokenizer,
  toValue,
  toValueSync,
} from 'liquidjs/dist/liquid.browser.mjs'
import { isRecord } from '../../text/json.ts'
import { writeDate } from './date-filter.ts'
import { countSteps, maxSteps, maxTemplateLength, RefusedTemplate, type TemplateFault } from './liquid-bounds.ts'
import { LocalDate } from './local-date.ts'
import { simplify } from './simple-parts.ts'
import { variableCategories, listNames } from './variables.ts'

const allowedTags = ['if', 'unless', 'case', 'for', 'assign', 'capture', 'comment', 'raw']

/** Without `raw`, which would let markup through, and without filters that evaluate expressions. */
const allowedFilters = [
  'abs',
  'append',
  'at_least',
  'at_most',
  'capitalize',
  'ceil',
  'date',
  'default',
  'divided_by',
  'downcase',
  'first',
  'floor',
  'join',
  'last',
  'lstrip',
  'minus',
  'modulo',
  'plus',
  'prepend',
  'remove',
  'remove_first',
  'replace',
  'replace_first',
  'round',
  'rstrip',
  'size',
  'slice',
  'split',
  'strip',
  'times',
  'truncate',
  'truncatewords',
  'upcase',
  'url_encode',
]

/**
 * LiquidJS's memory limit of one rendering, in characters: output, captures, and what filters read and make. A text that
 * needs more for the sample values is refused when it is saved.
 */
export const maxSampleLength = 250_000
export const maxRenderedLength = 2_000_000
export const maxRenderedSmsLength = 100_000

const maxParsedLength = 2_000_000

export type { Parsed }

/** Comparing an item of a list takes as long as reading so many characters. */
const costOfItem = 10

function measureLength(value: unknown): number {
  const rawValue: unknown = toValue(value)
  if (typeof rawValue === 'string') return rawValue.length
  if (!Array.isArray(rawValue)) return 0
  return rawValue.reduce((sum: number, item) => sum + costOfItem + (Array.isArray(item) ? measureLength(item) : 0), 0)
}

const useMemory = (context: Context, ...values: unknown[]): void =>
  context.memoryLimit.use(values.reduce((sum: number, value) => sum + measureLength(value), 0))

/** Text of a value as LiquidJS writes it. Objects and endless numbers have none. */
function toText(value: unknown): string {
  const rawValue: unknown = toValue(value)
  if (typeof rawValue === 'string') return rawValue
  if (rawValue === undefined || rawValue === null) return ''
  if (Array.isArray(rawValue)) return rawValue.map(toText).join('')
  if (rawValue instanceof LocalDate) return rawValue.toString()
  if (typeof rawValue === 'number') return Number.isFinite(rawValue) ? String(rawValue) : ''
  return typeof rawValue === 'boolean' ? String(rawValue) : ''
}

/** LiquidJS does not count output towards the memory limit. */
class CountedOutput implements Emitter {
  buffer = ''
  readonly #context: Context

  constructor(context: Context) {
    this.#context = context
  }

  write(value: unknown): void {
    if (Array.isArray(value)) useMemory(this.#context, value)
    const text = toText(value)
    useMemory(this.#context, text)
    this.buffer += text
  }
}

class CountedCapture extends CaptureTag {
  override *render(context: Context): Generator<unknown, void, string> {
    const output = new CountedOutput(context)
    yield this.liquid.renderer.renderTemplates(this.templates, context, output)
    context.bottom()[this.variable] = output.buffer
  }
}

/** `case` compares its value with many others, without calling an operator. */
class SimpleCase extends CaseTag {
  override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const value: unknown = toValue(yield this.value.value(context, context.opts.lenientIf))
    if (Array.isArray(value)) throw new Error('`case` accepts a text or a number, not a list.')
    yield* super.render(context, emitter)
  }
}

type Operators = typeof defaultOperators
type BinaryOperator = (left: unknown, right: unknown, context: Context) => ReturnType<Operators[string]>

/** Comparisons of lists and searches in texts take time, which LiquidJS does not count. */
const countedOperators: Operators = Object.fromEntries(
  Object.entries(defaultOperators).map(([name, operator]) => {
    if (name === 'not') return [name, operator]
    const meteredOperator: BinaryOperator = (left, right, context) => {
      useMemory(context, left, right)
      return (operator as BinaryOperator)(left, right, context)
    }
    return [name, meteredOperator]
  }),
)

/** Formatting a date takes as long as making so many characters: for the date, each character of its format, its zone. */
const costOfDate = 2000
const costOfDateFormat = 200
const costOfTimeZone = 8000

const endlessResults = 'endlessResults'
const listEndlessResults = (context: Context): Token[] => context.getRegister(endlessResults, [])

/** The value that filters read. A date is a text, and an object is empty: LiquidJS would write `[object Object]`. */
const toFilterValue = (value: unknown): unknown => (isRecord(value) ? toText(value) : value)

/** A filter that counts what it reads. LiquidJS counts what it makes. */
function countedFilter(name: string): FilterImplOptions {
  const filter = filters[name]
  if (typeof filter !== 'function') throw new Error(`There is no filter ${name}.`)
  return function (parameter: unknown, ...parameters: unknown[]) {
    const values: [unknown, ...unknown[]] = [toFilterValue(parameter), ...parameters.map(toFilterValue)]
    useMemory(this.context, ...values)
    // Filters may cut a character in half, which cannot be encoded.
    if (name === 'url_encode') return filter.call(this, toText(values[0]).toWellFormed())
    if (name === 'date') {
      const [, format, zone] = values
      const zoneCost = zone === undefined ? 0 : costOfTimeZone
      this.context.memoryLimit.use(costOfDate + measureLength(format) * costOfDateFormat + zoneCost)
      return writeDate(this.context, parameter, format, zone)
    }
    // A date that a default does not replace stays a date.
    if (name === 'default' && parameter instanceof LocalDate) return parameter
    const result: unknown = filter.apply(this, values)
    if (typeof result !== 'number' || Number.isFinite(result)) return result
    listEndlessResults(this.context).push(this.token)
    return null
  }
}

/** The characters that LiquidJS's own filter escapes. It writes objects as `[object Object]`. */
const markup: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' }

function escapeValue(this: { context: Context }, value: unknown): string {
  const text = toText(value)
  this.context.memoryLimit.use(text.length)
  return text.replaceAll(/[&<>"']/g, (letter) => markup[letter] ?? letter)
}

function createEngine(escapesHtml: boolean): Liquid {
  const liquid = new Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    parseLimit: maxParsedLength,
    templates: {},
    operators: countedOperators,
    ...(escapesHtml ? { outputEscape: escapeValue } : {}),
  })
  for (const name of Object.keys(liquid.tags)) if (!allowedTags.includes(name)) delete liquid.tags[name]
  for (const name of Object.keys(liquid.filters)) liquid.unregisterFilter(name)
  for (const name of allowedFilters) liquid.registerFilter(name, countedFilter(name))
  liquid.registerTag('capture', CountedCapture)
  liquid.registerTag('case', SimpleCase)
  return liquid
}

const engines = { html: createEngine(true), text: createEngine(false) }

/** `html` escapes values, `text` does not. */
export type Output = keyof typeof engines

/** Parses a text for rendering. Values that stand inside links are percent-encoded. */
export const parseLiquid = (output: Output, text: string): Parsed[] =>
  engines[output].parse(encodeLinkValues(text)).map((node) => simplify(node, reservedNames))

export class TooMuchText extends Error {
  override name = 'TooMuchText'
  readonly token: Token

  constructor(limit: number, token: Token) {
    super(`The text becomes too long: at most ${limit} characters, captures and what filters use included.`)
    this.token = token
  }
}

const isMemoryFault = (error: unknown): error is LiquidError =>
  error instanceof LiquidError && error.originalError?.message === 'memory alloc limit exceeded'

const createContext = (output: Output, values: object, limit: number): Context => {
  const liquid = engines[output]
  return new Context(values, liquid.options, { sync: true, memoryLimit: limit }, { liquid })
}

function render(output: Output, nodes: Parsed[], context: Context, limit: number): string {
  const emitter = new CountedOutput(context)
  try {
    toValueSync(engines[output].renderer.renderTemplates(nodes, context, emitter))
  } catch (error) {
    if (isMemoryFault(error)) throw new TooMuchText(limit, error.token)
    throw error
  }
  return emitter.buffer.toWellFormed()
}

/** Throws `TooMuchText` beyond the limit. Filters may cut a character in half, which providers refuse. */
export const renderLiquid = (output: Output, nodes: Parsed[], values: object, limit: number): string =>
  render(output, nodes, createContext(output, values, limit), limit)

/** Renders a text, and lists the filters whose result is no number that can be written, such as a division by zero. */
export function findEndlessResults(nodes: Parsed[], values: object): Token[] {
  const context = createContext('text', values, maxRenderedLength)
  try {
    render('text', nodes, context, maxRenderedLength)
  } catch (error) {
    if (describeRenderError(error) === null) throw error
  }
  return listEndlessResults(context)
}

/** LiquidJS adds the place of the fault to its messages. */
const plainDetail = (message: string): string =>
  message
    .replace(/, (line:\d+|file:).*$/s, '')
    .replace(/^tag "(.*)" not found$/, 'There is no tag `$1` here.')
    .replace(/^undefined filter: (.*)$/, 'There is no filter `$1` here.')

/** Why a parsed template cannot be rendered; null for errors that are not about it. */
export function describeRenderError(error: unknown): string | null {
  if (error instanceof TooMuchText) return error.message
  return error instanceof LiquidError ? plainDetail(error.message) : null
}

const isRecursion = (error: unknown): boolean =>
  error instanceof RangeError || (error instanceof LiquidError && error.originalError instanceof RangeError)

function faultAt(code: TemplateFault['code'], detail: string, token?: Token): TemplateFault {
  const [line, column] = token?.getPosition() ?? [1, 1]
  return { code, detail, line: line ?? 1, column: column ?? 1 }
}

export function locateFault(error: unknown): TemplateFault {
  if (error instanceof RefusedTemplate) return faultAt('invalid_template', error.message, error.token)
  if (error instanceof TooMuchText) return faultAt('template_too_large', error.message, error.token)
  if (isRecursion(error)) return faultAt('invalid_template', 'It is nested too deeply.')
  if (error instanceof LiquidError) return faultAt('invalid_template', plainDetail(error.message), error.token)
  return faultAt('invalid_template', error instanceof Error ? error.message : 'It cannot be read.')
}

/** Names that no `assign`, `capture` or `for` of a template may declare. */
const reservedNames: ReadonlySet<string> = new Set([...variableCategories, 'tracking', 'block_conditions', 'forloop'])

const scope = { lists: listNames, reservedNames }

interface FaultyTemplate {
  ok: false
  fault: TemplateFault
}

interface ReadTemplate {
  ok: true
  nodes: Parsed[]
  steps: number
}

/** `length` counts the text with the sample values in it. */
export type CheckedTemplate = (ReadTemplate & { length: number }) | FaultyTemplate

const tooLarge = (detail: string): FaultyTemplate => ({
  ok: false,
  fault: { code: 'template_too_large', detail, line: 1, column: 1 },
})

/** Parses one text of a message and bounds how long it may take. */
export function readTemplate(text: string, maxLength = maxTemplateLength): ReadTemplate | FaultyTemplate {
  if (text.length > maxLength) return tooLarge(`At most ${maxLength} characters.`)
  try {
    const nodes = engines.text.parse(text)
    const steps = countSteps(nodes, scope)
    return steps > maxSteps
      ? tooLarge(`The Liquid takes more than ${maxSteps} steps. Use fewer tags, or shorter loops.`)
      : { ok: true, nodes, steps }
  } catch (error) {
    return { ok: false, fault: locateFault(error) }
  }
}

export function renderSample(template: ReadTemplate, sample: object, limit = maxSampleLength): CheckedTemplate {
  try {
    return { ...template, length: renderLiquid('text', template.nodes, sample, limit).length }
  } catch (error) {
    return { ok: false, fault: locateFault(error) }
  }
}

/** Parses one text of a message and renders it with the sample values. */
export function checkTemplate(
  text: string,
  sample: object,
  { maxLength, limit }: { maxLength?: number | undefined; limit?: number } = {},
): CheckedTemplate {
  const template = readTemplate(text, maxLength)
  return template.ok ? renderSample(template, sample, limit) : template
}

/** A tag or an output of Liquid, or the text between two of them. */
export interface Piece {
  isLiquid: boolean
  text: string
}

export function splitLiquid(text: string): Piece[] {
  // LiquidJS goes through a text letter by letter.
  if (!/\{[{%]/.test(text)) return text === '' ? [] : [{ isLiquid: false, text }]
  return new Tokenizer(text).readTopLevelTokens(engines.text.options).map((token) => ({
    isLiquid: token.kind !== TokenKind.HTML,
    text: token.input.slice(token.begin, token.end),
  }))
}

const anyLink = /https?:\/\/|mailto:|tel:/i
const linkStart = /(?:https?:\/\/[^/?#]+[/?#]|mailto:|tel:)[^]*$/i
const beforeLink = /^[^]*[\s"'<>]/
/** A link is recognised by so many characters. Reading all of a long one again for each value would take long. */
const maxLinkStart = 500
const encodesItself = /\|\s*url_encode\s*-?\}\}$/
const emptyOutput = /^\{\{-?\s*-?\}\}$/

const encode = ' | url_encode | replace: "+", "%20"'
/** In the address of a mail or telephone link, `@` and `+` stand for themselves. */
const encodeAddress = `${encode} | replace: "%40", "@" | replace: "%2B", "+"`

function chooseEncoding(textBefore: string): string {
  const link = linkStart.exec(textBefore)?.[0]
  if (link === undefined) return ''
  return /^(?:mailto|tel):[^?]*$/i.test(link) ? encodeAddress : encode
}

/**
 * Adds filters to the outputs that stand inside a link, after its host, so that no value ends the link or adds a
 * parameter to it. An output that ends with `url_encode` stays as it is.
 */
function encodeLinkValues(text: string): string {
  if (!anyLink.test(text)) return text
  let textBefore = ''
  return splitLiquid(text)
    .map(({ isLiquid, text: piece }) => {
      if (!isLiquid) textBefore = (textBefore + piece).replace(beforeLink, '').slice(0, maxLinkStart)
      if (!piece.startsWith('{{') || !isLiquid) return piece
      const encoding = encodesItself.test(piece) || emptyOutput.test(piece) ? '' : chooseEncoding(textBefore)
      // The value is a part of the link, whatever it is.
      textBefore += '-'
      const end = piece.endsWith('-}}') ? '-}}' : '}}'
      return encoding === '' ? piece : `${piece.slice(0, -end.length)}${encoding}${end}`
    })
    .join('')
}

/** The variable of an output without filters: `links.portal` for `{{ links.portal }}`. */
export const readPlainVariable = (liquid: string): string | null =>
  /^\{\{-?\s*([a-z_]+(?:\.[a-z_]+)*)\s*-?\}\}$/.exec(liquid)?.[1] ?? null
