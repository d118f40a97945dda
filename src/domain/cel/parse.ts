import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js'
import { type Range, Refusal } from './types.ts'

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
  ast: Ast
  /** The range of a node together with the parentheses that belong to it. */
  rangeOf: (node: Range) => Range
}

/** Throws a Refusal for what is no expression or too large. */
export function parse(source: string): Parsed {
  if (source.length > limits.characters) {
    const range = { start: limits.characters, end: source.length }
    throw new Refusal('limit_exceeded', `An expression has at most ${limits.characters} characters.`, range)
  }
  if (source.trim() === '') throw new Refusal('empty', 'The expression is empty.', { start: 0, end: source.length })
  const ast = syntaxOf(source)
  measure(ast)
  const pairs = parenthesesOf(source)
  return { ast, rangeOf: (node) => widened(node, pairs) }
}

function syntaxOf(source: string): Ast {
  try {
    return environment.parse(source).ast
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    const { start, end } = error.range ?? { start: 0, end: source.length }
    throw new Refusal(error.code, `${error.summary}.`, { start, end })
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

function measure(ast: Ast): void {
  let nodes = 0
  const visit = (node: Ast, depth: number) => {
    if (++nodes > limits.nodes)
      throw new Refusal('limit_exceeded', `An expression has at most ${limits.nodes} nodes.`, node)
    if (depth > limits.depth)
      throw new Refusal('limit_exceeded', `Expressions nest at most ${limits.depth} deep.`, node)
    for (const child of childrenOf(node)) visit(child, depth + 1)
  }
  visit(ast, 1)
}

const notCode =
  /\/\/[^\n]*|"""(?:\\[^]|[^\\])*?"""|'''(?:\\[^]|[^\\])*?'''|"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*'|[()]/g

/** Matching parentheses of the source; the parser drops those that only group. */
function parenthesesOf(source: string): Range[] {
  const open: number[] = []
  const pairs: Range[] = []
  for (const { 0: token, index } of source.matchAll(notCode)) {
    if (token === '(') open.push(index)
    if (token !== ')') continue
    const start = open.pop()
    if (start !== undefined) pairs.push({ start, end: index + 1 })
  }
  return pairs
}

function widened({ start, end }: Range, pairs: readonly Range[]): Range {
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
