import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js'
import { describeSyntaxError } from './messages.ts'
import { type SourceRange, Refusal } from './types.ts'

export type Ast = ASTNode

/**
 * `nodes` limits the names, values and operators of the whole expression, of all conditions of lists, and of all
 * conditions of lists inside lists. SQLite gets slower with each further subquery of a statement, so `consents` limits
 * how often an expression uses them. `zones` limits the uses of time zones, whose changes of clocks make the SQL long.
 */
export const limits = {
  characters: 4000,
  nodes: [300, 150, 40],
  consents: 20,
  zones: 12,
  depth: 20,
  list: 500,
  nesting: 2,
} as const

// The parser counts parentheses as depth and list elements as nodes. Its limits are wider than those of `measure`.
const environment = new Environment({
  limits: {
    maxAstNodes: limits.characters,
    maxDepth: 80,
    maxListElements: limits.list,
    maxMapEntries: limits.list,
    maxCallArguments: 32,
  },
})

export interface Parsed {
  source: string
  ast: Ast
  /** Includes the parentheses around a node. */
  expandRange: (node: SourceRange) => SourceRange
}

export function parseExpression(source: string): Parsed {
  if (source.length > limits.characters) {
    const range = { start: limits.characters, end: source.length }
    throw new Refusal('limit_exceeded', `An expression can have at most ${limits.characters} characters.`, range)
  }
  if (source.trim() === '') throw new Refusal('empty', 'The expression is empty.', { start: 0, end: source.length })
  const ast = parseSyntax(source)
  measure(ast)
  const pairs = findParentheses(source)
  return { source, ast, expandRange: (node) => expandRange(node, pairs) }
}

function parseSyntax(source: string): Ast {
  try {
    return environment.parse(source).ast
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    const range = error.range ?? { start: 0, end: source.length }
    const message = describeSyntaxError(error.code, source.slice(range.start, range.end), error.summary)
    throw new Refusal(error.code, message, range)
  }
}

/** Lists the operands of `a && b && c` or `a || b || c`. */
export function listOperands(ast: Ast, op: '&&' | '||'): Ast[] {
  const operands: Ast[] = []
  let operand = ast
  while (operand.op === op) {
    const [left, right] = operand.args
    operands.unshift(...listOperands(right, op))
    operand = left
  }
  return [operand, ...operands]
}

function listChildren(ast: Ast): Ast[] {
  if (ast.op === '&&' || ast.op === '||') return listOperands(ast, ast.op)
  if (ast.op === 'list' && ast.args.every((item) => item.op === 'value')) return []
  if (ast.op === 'value' || ast.op === 'id') return []
  const flat = (args: unknown): Ast[] => {
    if (Array.isArray(args)) return args.flatMap(flat)
    return typeof args === 'object' && args !== null && 'op' in args ? [args as Ast] : []
  }
  return flat(ast.args)
}

/** Lists the text literals of an expression in the order of the source. An invalid expression has none. */
export function listTexts(source: string): (SourceRange & { text: string })[] {
  const texts: (SourceRange & { text: string })[] = []
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) for (const item of part) visit(item)
    else if (typeof part === 'object' && part !== null && 'op' in part) {
      const { op, args, start, end } = part as Ast
      if (op === 'value' && typeof args === 'string') texts.push({ text: args, start, end })
      else visit(args)
    }
  }
  try {
    visit(parseSyntax(source))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
  }
  return texts.toSorted((one, other) => one.start - other.start)
}

const heavyCalls = /^(?:int|double|timestamp|exists|exists_one|all|filter|map|get[A-Z]\w*)$/

/**
 * SQLite accepts expressions up to a depth of 100, so a node that is lowered to several levels of SQL counts as
 * several.
 */
function countLevels(ast: Ast): number {
  switch (ast.op) {
    case '&&':
    case '||':
      return Math.ceil(Math.log2(listOperands(ast, ast.op).length))
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
    case '==':
    case '!=':
      return 2
    case '-_':
      return ast.args.op === 'value' ? 1 : 2
    case 'in':
      return ast.args[1].op === 'list' ? 1 : 5
    case 'call':
    case 'rcall':
      return heavyCalls.test(ast.args[0]) ? 2 : 1
    default:
      return 1
  }
}

const macros = ['exists', 'exists_one', 'all', 'filter', 'map']

const nodeLimitMessages = [
  `An expression can have at most ${limits.nodes[0]} names, values and operators.`,
  `The conditions of lists can have at most ${limits.nodes[1]} names, values and operators together.`,
  `The conditions of lists inside lists can have at most ${limits.nodes[2]} names, values and operators together.`,
]

/** Counts nodes and levels, and throws when a limit is exceeded. */
function measure(ast: Ast): void {
  const nodesLeft: number[] = [...limits.nodes]
  const visit = (node: Ast, above: number, lists: number) => {
    for (const [level, left] of nodesLeft.slice(0, lists + 1).entries()) {
      if (left === 0) throw new Refusal('limit_exceeded', nodeLimitMessages[level] ?? '', node)
      nodesLeft[level] = left - 1
    }
    const depth = above + countLevels(node)
    if (depth > limits.depth)
      throw new Refusal('limit_exceeded', `An expression can be nested at most ${limits.depth} levels deep.`, node)
    if (node.op === 'rcall' && macros.includes(node.args[0])) {
      visit(node.args[1], depth, lists)
      for (const argument of node.args[2]) visit(argument, depth, lists + 1)
    } else for (const child of listChildren(node)) visit(child, depth, lists)
  }
  visit(ast, 0, 0)
}

const commentTextOrParenthesis =
  // Bounded: at most 4,000 characters, which `parseExpression` checks.
  /\/\/[^\n]*|"""(?:\\[^]|[^\\])*?"""|'''(?:\\[^]|[^\\])*?'''|"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*'|[()]/g

/** The syntax tree has no grouping parentheses, so their places are read from the source. */
function findParentheses(source: string): SourceRange[] {
  const openPositions: number[] = []
  const pairs: SourceRange[] = []
  for (const { 0: token, index } of source.matchAll(commentTextOrParenthesis)) {
    if (token === '(') openPositions.push(index)
    if (token !== ')') continue
    const start = openPositions.pop()
    if (start !== undefined) pairs.push({ start, end: index + 1 })
  }
  return pairs
}

function expandRange({ start, end }: SourceRange, pairs: readonly SourceRange[]): SourceRange {
  const range = { start, end }
  for (let hasGrown = true; hasGrown;) {
    hasGrown = false
    for (const pair of pairs) {
      const opens = pair.start >= range.start && pair.start < range.end
      const closes = pair.end > range.start && pair.end <= range.end
      if (opens === closes) continue
      range.start = Math.min(range.start, pair.start)
      range.end = Math.max(range.end, pair.end)
      hasGrown = true
    }
  }
  return range
}
