import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js'
import { knownSyntax, syntaxMistakes } from './mistakes/syntax-mistakes.ts'
import { type SourceRange, Refusal } from './types.ts'

export type Ast = ASTNode

export const limits = { characters: 4000, nodes: 300, depth: 20, list: 500, macros: 2 } as const

// Parentheses count as depth here, and every element of a list as a node: the limits that count are ours, below.
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
  /** The range of a node together with the parentheses that belong to it. */
  rangeOf: (node: SourceRange) => SourceRange
}

/** Throws a Refusal for a text that is no expression or too large. */
export function parse(source: string): Parsed {
  if (source.length > limits.characters) {
    const range = { start: limits.characters, end: source.length }
    throw new Refusal('limit_exceeded', `An expression has at most ${limits.characters} characters.`, range)
  }
  if (source.trim() === '') throw new Refusal('empty', 'The expression is empty.', { start: 0, end: source.length })
  const ast = syntaxOf(source)
  measure(ast)
  const pairs = parenthesesOf(source)
  return { source, ast, rangeOf: (node) => widened(node, pairs) }
}

/** All faults of a text that is no expression; the refusal itself is the first. */
export class SyntaxRefusal extends Refusal {
  readonly all: readonly Refusal[]

  constructor(all: readonly Refusal[]) {
    const [first] = all
    super(first?.code ?? 'unexpected_token', first?.message ?? '', first?.range ?? { start: 0, end: 0 })
    this.all = all
  }
}

function syntaxOf(source: string): Ast {
  try {
    return environment.parse(source).ast
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    const { start, end } = error.range ?? { start: 0, end: source.length }
    const known = knownSyntax(error.code, source.slice(start, end))
    if (known !== null) throw new Refusal(error.code, known, { start, end })
    const mistakes = syntaxMistakes(source, { code: error.code, start, end })
    throw new SyntaxRefusal(mistakes.map(({ code, message, ...range }) => new Refusal(code, message, range)))
  }
}

/** The operands of a chain of the same logical operator, from left to right. */
export function chainOf(ast: Ast, op: '&&' | '||'): Ast[] {
  const operands: Ast[] = []
  let rest = ast
  while (rest.op === op) {
    const [left, right] = rest.args
    operands.unshift(...chainOf(right, op))
    rest = left
  }
  return [rest, ...operands]
}

function childrenOf(ast: Ast): Ast[] {
  if (ast.op === '&&' || ast.op === '||') return chainOf(ast, ast.op)
  if (ast.op === 'list' && ast.args.every((item) => item.op === 'value')) return []
  if (ast.op === 'value' || ast.op === 'id') return []
  const flat = (args: unknown): Ast[] => {
    if (Array.isArray(args)) return args.flatMap(flat)
    return typeof args === 'object' && args !== null && 'op' in args ? [args as Ast] : []
  }
  return flat(ast.args)
}

const heavyCalls = /^(?:int|double|timestamp|exists|exists_one|all|filter|map|get[A-Z]\w*)$/

/**
 * The levels that a node takes. SQLite accepts expressions of a depth of a hundred: a node that becomes several levels
 * of SQL counts for more, so that everything within the limit runs.
 */
function levelsOf(ast: Ast): number {
  switch (ast.op) {
    case '&&':
    case '||':
      return Math.ceil(Math.log2(chainOf(ast, ast.op).length))
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

function measure(ast: Ast): void {
  let nodes = 0
  const visit = (node: Ast, above: number) => {
    if (++nodes > limits.nodes)
      throw new Refusal('limit_exceeded', `An expression has at most ${limits.nodes} nodes.`, node)
    const depth = above + levelsOf(node)
    if (depth > limits.depth)
      throw new Refusal('limit_exceeded', `Expressions nest at most ${limits.depth} deep.`, node)
    for (const child of childrenOf(node)) visit(child, depth)
  }
  visit(ast, 0)
}

const notCode =
  // Bounded: at most 4,000 characters, which `parse` checks.
  /\/\/[^\n]*|"""(?:\\[^]|[^\\])*?"""|'''(?:\\[^]|[^\\])*?'''|"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*'|[()]/g

/** Matching parentheses of the source; the parser drops those that only group. */
function parenthesesOf(source: string): SourceRange[] {
  const open: number[] = []
  const pairs: SourceRange[] = []
  for (const { 0: token, index } of source.matchAll(notCode)) {
    if (token === '(') open.push(index)
    if (token !== ')') continue
    const start = open.pop()
    if (start !== undefined) pairs.push({ start, end: index + 1 })
  }
  return pairs
}

function widened({ start, end }: SourceRange, pairs: readonly SourceRange[]): SourceRange {
  const range = { start, end }
  for (let again = true; again;) {
    again = false
    for (const pair of pairs) {
      const opens = pair.start >= range.start && pair.start < range.end
      const closes = pair.end > range.start && pair.end <= range.end
      if (opens === closes) continue
      range.start = Math.min(range.start, pair.start)
      range.end = Math.max(range.end, pair.end)
      again = true
    }
  }
  return range
}
