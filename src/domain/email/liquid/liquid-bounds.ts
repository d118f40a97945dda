import type { Template } from 'liquidjs'
import { isTooDeep } from './liquid-costs.ts'

/** Templates are bounded before they run: the platform's clock does not advance while they run. */

/** The most items of a list in a loop. */
export const maxListItems = 50
export const maxTemplateLength = 20_000
const maxNesting = 2
const maxDepth = 12
/**
 * Steps of one rendering, of one text and of all texts of a message in one language. A step takes about three
 * microseconds: `npm run bench -- email` has the messages that take the longest.
 */
export const maxSteps = 3000

/** A text between two tags, characters of it that take about as long as one step, and those of an expression. */
const stepsOfText = 0.5
const textPerStep = 1000
const expressionPerStep = 10
/** The size of a template's own variable is limited only by the memory of a rendering. */
const ownVariableSteps = 5

export interface TemplateFault {
  code: 'invalid_template' | 'template_too_large'
  detail: string
  line: number
  column: number
}

/** The used parts of LiquidJS's parsed templates, whose types declare the token only. */
interface Node extends Template {
  str?: string
  variable?: string
  collection?: { getText(): string; lhs?: unknown }
  key?: string
  tokens?: { getText(): string }[]
  templates?: Template[]
  elseTemplates?: Template[]
  branches?: Branch[]
}

interface TokenText {
  getText(): string
}

/** `when` has values, `if` and `elsif` have one with its filters. */
interface Branch {
  templates: Template[]
  values?: TokenText[]
  value?: { initial: { postfix: TokenText[] }; filters: { name: string; args: (TokenText | [string, TokenText])[] }[] }
}

const tagOf = (node: Node): string => ('name' in node ? String(node.name) : '')

export class TooMuch extends Error {
  readonly node: Template
  readonly code: TemplateFault['code']

  constructor(node: Template, detail: string, code: TemplateFault['code'] = 'invalid_template') {
    super(detail)
    this.node = node
    this.code = code
  }
}

const literalRange = /^\(\s*(-?\d{1,6})\s*\.\.\s*(-?\d{1,6})\s*\)$/

function lengthOf(node: Node, lists: ReadonlySet<string>): number {
  const text = node.collection?.getText().trim() ?? ''
  if (lists.has(text)) return maxListItems
  const [, from, to] = literalRange.exec(text) ?? []
  if (from === undefined || to === undefined)
    throw new TooMuch(node, `\`for\` goes through ${[...lists].join(', ')} or a range of two numbers, as in (1..3).`)
  const length = Number(to) - Number(from) + 1
  if (length > maxListItems) throw new TooMuch(node, `A range has at most ${maxListItems} numbers.`)
  return Math.max(1, length)
}

function expressionsOf({ values = [], value }: Branch): string[] {
  const filters = (value?.filters ?? []).flatMap(({ name, args }) => [
    name,
    ...args.map((argument) => (Array.isArray(argument) ? argument[1] : argument).getText()),
  ])
  return [...[...values, ...(value?.initial.postfix ?? [])].map((token) => token.getText()), ...filters]
}

const names = /"[^"]*"|'[^']*'|[^\s"'.,:|()[\]<>=!{}%]+/g

/** Each name, number and quoted text in it is looked up or handed on. */
const stepsOfExpression = (text: string): number =>
  1 + (text.match(names)?.length ?? 0) + text.length / expressionPerStep

/** Those of `elsif` and `when`: the token of a node is that of its first tag alone. */
function laterExpressions(node: Node): string[] {
  const branches = node.branches ?? []
  return (tagOf(node) === 'case' ? branches : branches.slice(1)).flatMap(expressionsOf)
}

interface TemplateScope {
  lists: ReadonlySet<string>
  /** Names that a template may not assign. */
  reserved: ReadonlySet<string>
  /** Names whose values are known to be short: those, and the items of loops. */
  short: ReadonlySet<string>
  loops: number
  depth: number
}

/** The most steps that a rendering takes; throws TooMuch where there is no such bound. */
export function stepsOf(templates: readonly Template[], scope: TemplateScope): number {
  return templates.reduce((sum, template) => sum + stepsOfOne(template as Node, scope), 0)
}

function stepsOfOne(node: Node, scope: TemplateScope): number {
  if (node.str !== undefined) return stepsOfText + node.str.length / textPerStep
  if (scope.depth > maxDepth) throw new TooMuch(node, `Tags stand at most ${maxDepth} deep in each other.`)
  const expressions = [node.token.getText(), ...laterExpressions(node)]
  if (expressions.some(isTooDeep)) throw new TooMuch(node, 'Brackets stand at most 20 deep in each other.')
  const tag = tagOf(node)
  checkNames(node, tag, scope)
  const raw = (node.tokens ?? []).reduce((sum, token) => sum + token.getText().length, 0)
  const own = expressions.reduce((sum, text) => sum + stepsOfExpression(text), raw / textPerStep)
  const inner = { ...scope, depth: scope.depth + 1 }
  const under = (given: TemplateScope) =>
    [node.templates, node.elseTemplates, ...(node.branches ?? []).map(({ templates }) => templates)].reduce(
      (sum, templates) => sum + (templates ? stepsOf(templates, given) : 0),
      0,
    )
  if (tag === 'for') {
    if (scope.loops === maxNesting) throw new TooMuch(node, `\`for\` stands at most ${maxNesting} deep in each other.`)
    const short = new Set([...scope.short, node.variable ?? '', 'forloop'])
    return own + lengthOf(node, scope.lists) * under({ ...inner, short, loops: scope.loops + 1 })
  }
  if (tag !== '') return own + under(inner)
  const root = /^\{\{-?\s*([\w-]+)/.exec(node.token.getText())?.[1] ?? ''
  return own + (scope.short.has(root) ? 0 : ownVariableSteps)
}

function checkNames(node: Node, tag: string, scope: TemplateScope): void {
  const name =
    tag === 'for' ? node.variable : tag === 'capture' ? node.variable : tag === 'assign' ? node.key : undefined
  if (name !== undefined && scope.reserved.has(name))
    throw new TooMuch(node, `\`${name}\` is the name of a category of variables; choose another one.`)
}
