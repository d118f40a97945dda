/** A part of CEL: what rows of conditions are made of. */
export type Node =
  | { kind: 'and' | 'or'; items: Node[] }
  | { kind: 'not'; item: Node }
  | { kind: 'compare'; operator: string; left: Node; right: Node }
  | { kind: 'literal'; value: string | number | boolean | null }
  | { kind: 'list'; items: Node[] }
  /** Names joined by dots, such as `user.email`. */
  | { kind: 'path'; path: string }
  | { kind: 'call'; target: Node | null; name: string; args: Node[] }

type Token = { kind: 'text' | 'number' | 'name' | 'sign'; text: string }

const tokenPattern =
  /\s+|(?<text>"(?:[^"\\\n]|\\["\\nrtbf]|\\u[0-9A-Fa-f]{4})*")|(?<number>-?\d+(?:\.\d+)?)(?![\w.])|(?<name>[A-Za-z_]\w*)|(?<sign>&&|\|\||[=!<>]=|[<>!()[\].,-])/gy

/** Null: the text has something that rows cannot have. */
function tokenize(text: string): Token[] | null {
  const matches = [...text.matchAll(tokenPattern)]
  const length = matches.reduce((sum, [part]) => sum + part.length, 0)
  if (length < text.length) return null
  return matches.flatMap(({ groups = {} }) =>
    Object.entries<string | undefined>(groups).flatMap(([kind, part]) =>
      part === undefined ? [] : [{ kind: kind as Token['kind'], text: part }],
    ),
  )
}

class Unreadable extends Error {}

const maxDepth = 20
const words: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null }
const comparisons = new Set(['==', '!=', '<', '<=', '>', '>='])

class Parser {
  #place = 0
  #depth = 0
  readonly #tokens: readonly Token[]

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  parse(): Node {
    const node = this.#readOr()
    if (this.#place < this.#tokens.length) throw new Unreadable()
    return node
  }

  #next(): Token | undefined {
    return this.#tokens[this.#place]
  }

  #takes(sign: string): boolean {
    const token = this.#next()
    if (token?.text !== sign || token.kind === 'text') return false
    this.#place += 1
    return true
  }

  #expect(sign: string): void {
    if (!this.#takes(sign)) throw new Unreadable()
  }

  #readChain(kind: 'and' | 'or', sign: string, readItem: () => Node): Node {
    const items = [readItem()]
    while (this.#takes(sign)) items.push(readItem())
    return items.length === 1 && items[0] ? items[0] : { kind, items }
  }

  #readOr(): Node {
    this.#depth += 1
    if (this.#depth > maxDepth) throw new Unreadable()
    const node = this.#readChain('or', '||', () => this.#readChain('and', '&&', () => this.#readComparison()))
    this.#depth -= 1
    return node
  }

  #readComparison(): Node {
    const left = this.#readDifference()
    const token = this.#next()
    if (token === undefined || token.kind === 'text') return left
    if (!comparisons.has(token.text) && token.text !== 'in') return left
    this.#place += 1
    return { kind: 'compare', operator: token.text, left, right: this.#readDifference() }
  }

  #readDifference(): Node {
    const left = this.#readUnary()
    if (!this.#takes('-')) return left
    return { kind: 'call', target: left, name: '-', args: [this.#readUnary()] }
  }

  #readUnary(): Node {
    let count = 0
    while (this.#takes('!')) count += 1
    if (count > 1) throw new Unreadable()
    const item = this.#readMember()
    return count === 1 ? { kind: 'not', item } : item
  }

  #readMember(): Node {
    let node = this.#readPrimary()
    while (this.#takes('.')) {
      const name = this.#next()
      if (name?.kind !== 'name') throw new Unreadable()
      this.#place += 1
      if (this.#takes('(')) node = { kind: 'call', target: node, name: name.text, args: this.#readItems(')') }
      else if (node.kind === 'path') node = { kind: 'path', path: `${node.path}.${name.text}` }
      else throw new Unreadable()
    }
    return node
  }

  #readPrimary(): Node {
    if (this.#takes('(')) {
      const node = this.#readOr()
      this.#expect(')')
      return node
    }
    if (this.#takes('[')) return { kind: 'list', items: this.#readItems(']') }
    const token = this.#next()
    this.#place += 1
    if (token?.kind === 'text') return { kind: 'literal', value: JSON.parse(token.text) as string }
    if (token?.kind === 'number') return { kind: 'literal', value: Number(token.text) }
    if (token?.kind !== 'name' || token.text === 'in') throw new Unreadable()
    const value = words[token.text]
    if (value !== undefined) return { kind: 'literal', value }
    if (this.#takes('(')) return { kind: 'call', target: null, name: token.text, args: this.#readItems(')') }
    return { kind: 'path', path: token.text }
  }

  #readItems(end: string): Node[] {
    const items: Node[] = []
    if (this.#takes(end)) return items
    do items.push(this.#readOr())
    while (this.#takes(','))
    this.#expect(end)
    return items
  }
}

/** Reads an expression. Null: it has a fault, or parts that rows of conditions never have. */
export function parseCel(text: string): Node | null {
  const tokens = tokenize(text)
  if (tokens === null) return null
  try {
    return new Parser(tokens).parse()
  } catch (error) {
    if (error instanceof Unreadable) return null
    throw error
  }
}
