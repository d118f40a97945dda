import type { Arguments, Template, Token } from 'liquidjs'
import { ForTag, TokenKind, toValueSync, TypeGuards, Value } from 'liquidjs/dist/liquid.browser.mjs'

/**
 * Templates are bounded before they run. LiquidJS can limit the time of a rendering, but the clock of Workers stands
 * still while code runs.
 */

/** The most items of a list in a loop. */
export const maxListItems = 50
export const maxTemplateLength = 20_000
const maxLoopNesting = 2
const maxTagNesting = 12
const maxBracketNesting = 20
/**
 * The most steps of one rendering: of one text, and of all texts of a message in one language. A step takes about three
 * microseconds. `npm run bench -- email` lists the messages that take the longest.
 */
export const maxSteps = 3000

/** Steps of a text between two tags, of its characters, and of one round of a loop. */
const stepsPerText = 0.5
const charactersPerStep = 1000
const stepsPerRound = 0.25

export interface TemplateFault {
  code: 'invalid_template' | 'template_too_large'
  detail: string
  line: number
  column: number
}

/** A template that has no bound, or may not use a name. */
export class RefusedTemplate extends Error {
  readonly token: Token

  constructor({ token }: Template, detail: string) {
    super(detail)
    this.token = token
  }
}

export const listChildren = (node: Template): Template[] =>
  node.children ? toValueSync(node.children(false, true)) : []

interface TemplateScope {
  /** Lists that `for` may go through. */
  lists: ReadonlySet<string>
  /** Names that a template may not declare. */
  reservedNames: ReadonlySet<string>
}

interface Position {
  loops: number
  depth: number
}

/** The most steps that a rendering takes. Throws `RefusedTemplate` where there is no such bound. */
export const countSteps = (
  templates: readonly Template[],
  scope: TemplateScope,
  position: Position = { loops: 0, depth: 0 },
): number => templates.reduce((sum, node) => sum + countNode(node, scope, position), 0)

function countNode(node: Template, scope: TemplateScope, { loops, depth }: Position): number {
  if (node.token.kind === TokenKind.HTML) return stepsPerText + node.token.getText().length / charactersPerStep
  if (depth > maxTagNesting) throw new RefusedTemplate(node, `Tags can be nested at most ${maxTagNesting} deep.`)
  checkDeclaredNames(node, scope.reservedNames)
  const steps = [...(node.arguments?.() ?? [])].reduce((sum, argument) => sum + countArgument(node, argument), 1)
  const isLoop = node instanceof ForTag
  if (isLoop && loops === maxLoopNesting)
    throw new RefusedTemplate(node, `\`for\` can be nested at most ${maxLoopNesting} deep.`)
  const inside = countSteps(listChildren(node), scope, { loops: loops + Number(isLoop), depth: depth + 1 })
  return isLoop ? steps + countRounds(node, scope.lists) * (stepsPerRound + inside) : steps + inside
}

const literalRange = /^\(\s*(-?\d{1,6})\s*\.\.\s*(-?\d{1,6})\s*\)$/

function countRounds(node: ForTag, lists: ReadonlySet<string>): number {
  const collection = node.collection.getText().trim()
  if (lists.has(collection)) return maxListItems
  const [, from, to] = literalRange.exec(collection) ?? []
  if (from === undefined || to === undefined)
    throw new RefusedTemplate(node, `\`for\` can loop over ${[...lists].join(', ')} or a range of numbers like (1..3).`)
  const length = Number(to) - Number(from) + 1
  if (length > maxListItems) throw new RefusedTemplate(node, `A range can have at most ${maxListItems} numbers.`)
  return Math.max(1, length)
}

export type Argument = Arguments extends Iterable<infer One> ? One : never

/** Names, values and operators of an expression and of the arguments of its filters. */
export function listArgumentTokens(argument: Argument): (Token | undefined)[] {
  if (!(argument instanceof Value)) return [argument]
  const values = argument.filters.flatMap(({ args }) =>
    args.map((filterArgument) => (Array.isArray(filterArgument) ? filterArgument[1] : filterArgument)),
  )
  return [...argument.initial.postfix, ...values]
}

/** Each of them is one step, and so is each filter. */
function countArgument(node: Template, argument: Argument): number {
  const filters = argument instanceof Value ? argument.filters.length : 0
  return listArgumentTokens(argument).reduce((sum, token) => sum + countToken(node, token), filters)
}

function countToken(node: Template, token: Token | undefined, depth = 0): number {
  if (!token) return 0
  if (depth > maxBracketNesting)
    throw new RefusedTemplate(node, `Brackets can be nested at most ${maxBracketNesting} deep.`)
  return listTokenParts(token).reduce((sum, part) => sum + countToken(node, part, depth + 1), 1)
}

/** `a[b].c` has the parts `a`, `b` and `c`, and `(1..a)` has `1` and `a`. */
export function listTokenParts(token: Token): (Token | undefined)[] {
  if (TypeGuards.isPropertyAccessToken(token)) return [token.variable, ...token.props]
  return TypeGuards.isRangeToken(token) ? [token.lhs, token.rhs] : []
}

/** Names that `assign` and `capture` declare. */
export const listLocalNames = (node: Template): string[] =>
  [...(node.localScope?.() ?? [])].map((name) => (typeof name === 'string' ? name : name.content))

function checkDeclaredNames(node: Template, reservedNames: ReadonlySet<string>): void {
  const names = node instanceof ForTag ? [node.variable] : listLocalNames(node)
  const name = names.find((candidate) => reservedNames.has(candidate))
  if (name !== undefined)
    throw new RefusedTemplate(node, `\`${name}\` is the name of a category of variables. Choose another name.`)
}
