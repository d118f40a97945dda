import {
  Context,
  defaultOperators,
  Liquid,
  LiquidError,
  type Template as Parsed,
  type Token,
  TokenKind,
  Tokenizer,
  toValueSync,
} from 'liquidjs/dist/liquid.browser.mjs'
import type { TextPieces } from '../../text/json-pieces.ts'
import { chargeCosts, chargedOperators, withoutPlaces } from './liquid-costs.ts'
import { Budget, Charge, ChargedEmitter, OverBudget } from '../budget.ts'
import { type TemplateFault, maxSteps, maxTemplateLength, stepsOf, TooMuch } from './liquid-bounds.ts'
import { shortcutOutputs } from './quick-outputs.ts'
import { categories, listNames } from './variables.ts'

const allowedTags = ['if', 'unless', 'case', 'for', 'assign', 'capture', 'comment', 'raw']

/** No `raw`, which would let markup through, and nothing that runs expressions of its own. */
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

/** Characters that the filters of one text may make: more when sending, where values may be longer than samples. */
const filteredWhenSaved = 50_000
const filteredWhenSent = 250_000
/** A text that makes more of the samples is too large for its message, also alone. */
export const maxCharactersOfMessage = 250_000

function engine(escapes: boolean): Liquid {
  const liquid = new Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    // A whole message, whose source was limited text by text.
    parseLimit: 2_000_000,
    templates: {},
    operators: chargedOperators(defaultOperators),
    ...(escapes ? { outputEscape: 'escape' as const } : {}),
  })
  chargeCosts(liquid)
  const { renderer } = liquid
  const renderTemplates = renderer.renderTemplates.bind(renderer)
  // Without an emitter the caller keeps the text: a whole rendering, or a capture.
  renderer.renderTemplates = (templates, context, emitter = new ChargedEmitter(context)) =>
    renderTemplates(templates, context, emitter)
  for (const tag of Object.keys(liquid.tags)) if (!allowedTags.includes(tag)) delete liquid.tags[tag]
  for (const filter of Object.keys(liquid.filters)) if (!allowedFilters.includes(filter)) delete liquid.filters[filter]
  return liquid
}

const engines = { html: engine(true), text: engine(false) }

/** The kinds of output: values are escaped for HTML, or unchanged. */
export type Output = keyof typeof engines

export type { Parsed }

export function parse(output: Output, text: string): Parsed[] {
  const parsed = engines[output].parse(text)
  shortcutOutputs(parsed, output === 'html')
  return parsed
}

/** The largest output of the filters of one text of a message. */
export const filtersWhenSent = (): Budget => new Budget(filteredWhenSent)

/** The two budgets of a rendering. */
export interface Budgets {
  length: Budget
  filters: Budget
}

/** The clock does not advance while a template runs, so LiquidJS need not look at it. */
const withoutLimit = { check: () => {} } as unknown as Context['renderLimit']

/** A text, and the same in pieces. */
export interface Rendered {
  text: string
  pieces: TextPieces
}

/** Throws as soon as a budget is exceeded. Filters may cut a character in half, which providers refuse. */
export function render(output: Output, parsed: Parsed[], values: object, budgets: Budgets): Rendered {
  // An SMS has one text, and neither HTML nor a subject.
  if (parsed.length === 0) return { text: '', pieces: [] }
  const liquid = engines[output]
  const memoryLimit = new Charge(budgets.length, budgets.filters) as unknown as Context['memoryLimit']
  const limits = { memoryLimit, renderLimit: withoutLimit, liquid }
  const context = new Context(values, liquid.options, { sync: true }, limits)
  const emitter = new ChargedEmitter(context)
  toValueSync(liquid.renderer.renderTemplates(parsed, context, emitter))
  const { buffer, pieces } = emitter
  // The text is not put together before it is used.
  if (pieces.every((piece) => (typeof piece === 'string' ? piece.isWellFormed() : piece.isWellFormed)))
    return { text: buffer, pieces }
  const text = buffer.toWellFormed()
  return { text, pieces: [text] }
}

/** Which names the parsed text uses, as `order.items`, and under which name it goes through which list. */
export function namesIn(parsed: Parsed[]): string[] {
  const { variables, locals } = withoutPlaces(() => engines.text.analyzeSync(parsed, { partials: false }))
  const own = new Set(Object.keys(locals))
  const loops = loopsIn(parsed)
  const names = Object.values(variables).flatMap((uses) =>
    uses.map(({ segments }) => segments.filter((segment) => typeof segment === 'string')),
  )
  return [
    ...new Set(
      names
        .filter(([root = '']) => !own.has(root) && root !== 'forloop')
        .map(([root = '', ...rest]) => [loops.get(root) ?? root, ...rest].join('.')),
    ),
  ]
}

interface Loop {
  variable?: string
  collection?: { getText(): string }
  templates?: Parsed[]
  elseTemplates?: Parsed[]
  branches?: { templates: Parsed[] }[]
}

function loopsIn(parsed: Parsed[]): Map<string, string> {
  const found = new Map<string, string>()
  for (const node of parsed as unknown as Loop[]) {
    const list = node.collection?.getText().trim()
    if (node.variable && list) found.set(node.variable, listNames.has(list) ? `${list}[]` : list)
    const inner = [node.templates, node.elseTemplates, ...(node.branches ?? []).map(({ templates }) => templates)]
    for (const templates of inner) if (templates) for (const [name, of] of loopsIn(templates)) found.set(name, of)
  }
  return found
}

/** LiquidJS adds where the fault is to what it says, and what of ours refused it is not for the reader. */
const plainDetail = (message: string): string =>
  message
    .replace(/, (line:\d+|file:).*$/s, '')
    .replace(/^tag "(.*)" not found$/, 'There is no tag `$1` here.')
    .replace(/^undefined filter: (.*)$/, 'There is no filter `$1` here.')

/** The reason why a parsed template cannot be rendered; null for other faults. */
export const renderFault = (error: unknown): string | null =>
  error instanceof LiquidError ? plainDetail(error.message) : null

/** Whether a text exceeded its budget. */
export const isOverBudget = (error: unknown): error is LiquidError =>
  error instanceof LiquidError && error.originalError instanceof OverBudget

const isRecursion = (error: unknown): boolean =>
  error instanceof RangeError || (error instanceof LiquidError && error.originalError instanceof RangeError)

const faultAt = (code: TemplateFault['code'], detail: string, token: Token | undefined): TemplateFault => {
  const [line, column] = token?.getPosition() ?? [1, 1]
  return { code, detail, line: line ?? 1, column: column ?? 1 }
}

export function faultOf(error: unknown): TemplateFault {
  if (error instanceof TooMuch) return faultAt(error.code, error.message, error.node.token)
  if (isOverBudget(error)) return faultAt('template_too_large', plainDetail(error.message), error.token)
  if (isRecursion(error)) return faultAt('invalid_template', 'It is nested too deeply.', undefined)
  if (error instanceof LiquidError) return faultAt('invalid_template', plainDetail(error.message), error.token)
  return faultAt('invalid_template', error instanceof Error ? error.message : 'Unreadable.', undefined)
}

const scope = {
  lists: listNames,
  reserved: new Set<string>([...categories, 'tracking', 'forloop']),
  short: new Set<string>([...categories, 'tracking', 'forloop']),
  loops: 0,
  depth: 0,
}

interface Faulty {
  ok: false
  fault: TemplateFault
}

interface Readable {
  ok: true
  parsed: Parsed[]
  steps: number
}

/** `length` is that of the text with the sample values in it. */
export type CheckedTemplate = (Readable & { length: number }) | Faulty

interface Bounds {
  /** The most characters of the source. */
  limit?: number | undefined
  /** The most characters of its rendering with the sample values. */
  most?: number
}

const tooLarge = (detail: string): Faulty => ({
  ok: false,
  fault: { code: 'template_too_large', detail, line: 1, column: 1 },
})

const tooManySteps = `It would take more than ${maxSteps} steps: its tags and what is in them, as often as its loops run.`

/** Reads one text of a message and bounds how long it may take. */
export function read(text: string, limit = maxTemplateLength): Readable | Faulty {
  if (text.length > limit) return tooLarge(`At most ${limit} characters.`)
  try {
    const parsed = parse('text', text)
    const steps = stepsOf(parsed, scope)
    return steps > maxSteps ? tooLarge(tooManySteps) : { ok: true, parsed, steps }
  } catch (error) {
    return { ok: false, fault: faultOf(error) }
  }
}

/** Limits the rendering of a text with the sample values. */
export function run({ parsed, steps }: Readable, sample: object, most = maxCharactersOfMessage): CheckedTemplate {
  try {
    const { text } = render('text', parsed, sample, {
      length: new Budget(most),
      filters: new Budget(filteredWhenSaved),
    })
    return { ok: true, parsed, steps, length: text.length }
  } catch (error) {
    return { ok: false, fault: faultOf(error) }
  }
}

/** Reads one text of a message and bounds what it may cost; `sample` are the values that it has to work with. */
export function check(text: string, sample: object, { limit, most }: Bounds = {}): CheckedTemplate {
  const readable = read(text, limit)
  return readable.ok ? run(readable, sample, most) : readable
}

/** A text in pieces: what is Liquid, as LiquidJS reads it, and what is between. */
export interface Piece {
  isLiquid: boolean
  text: string
}

export function piecesOf(text: string): Piece[] {
  // LiquidJS looks at one letter after another.
  if (!/\{[{%]/.test(text)) return text === '' ? [] : [{ isLiquid: false, text }]
  return new Tokenizer(text).readTopLevelTokens(engines.text.options).map((token) => ({
    isLiquid: token.kind !== TokenKind.HTML,
    text: token.input.slice(token.begin, token.end),
  }))
}

/** A variable that is put out as it is: `{{ links.portal }}` is `links.portal`. */
export const plainVariable = (liquid: string): string | null =>
  /^\{\{-?\s*([a-z_]+(?:\.[a-z_]+)*)\s*-?\}\}$/.exec(liquid)?.[1] ?? null
