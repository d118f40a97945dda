import type { Context, Template as Parsed } from 'liquidjs'

interface Emitter {
  write: (value: unknown) => void
}

/** What of LiquidJS's parsed templates is looked at here: its types name less. */
interface Node extends Parsed {
  templates?: Parsed[]
  elseTemplates?: Parsed[]
  branches?: { templates: Parsed[] }[]
}

/** As most outputs are: names, and a position at most, without filters. */
const plainPath = /^\{\{-?\s*([a-z_]+(?:\.[a-z_]+)+)(?:\[(\d{1,4})\])?\s*-?\}\}$/

function pathOf(node: Parsed): (string | number)[] | null {
  const [, names, position] = plainPath.exec(node.token.getText()) ?? []
  if (names === undefined) return null
  return [...names.split('.'), ...(position === undefined ? [] : [Number(position)])]
}

/** What of a context LiquidJS keeps to itself: the names that loops and captures make, the innermost last. */
interface Scopes {
  scopes: object[]
  environments: object
}

/** The text at the path; null for what only LiquidJS knows how to write. */
function textAt({ scopes, environments }: Scopes, path: readonly (string | number)[]): string | null {
  const [root = ''] = path
  // A loop or a capture has a name of its own for it.
  if (scopes.some((scope) => root in scope)) return null
  let value: unknown = environments
  for (const name of path) {
    if (typeof value !== 'object' || value === null || 'toLiquid' in value) return null
    if (Array.isArray(value) !== (typeof name === 'number') || !Object.hasOwn(value, name)) return null
    value = (value as Record<string | number, unknown>)[name]
  }
  return typeof value === 'string' ? value : null
}

const marks = /[&<>"']/g
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' }

/** As LiquidJS's `escape` writes and charges it. */
function escaped(text: string, { memoryLimit }: Context): string {
  memoryLimit.use(text.length)
  return text.search(marks) < 0 ? text : text.replace(marks, (mark) => entities[mark] ?? mark)
}

/**
 * Lets outputs that are a variable alone write it themselves: LiquidJS goes through several generators for each. It
 * still writes what is no text. What is written and what is charged stay the same.
 */
export function quicken(nodes: readonly Parsed[], escapes: boolean): void {
  for (const node of nodes as readonly Node[]) {
    const path = pathOf(node)
    if (path) quickenOne(node, path, escapes)
    for (const inner of [node.templates, node.elseTemplates, ...(node.branches ?? []).map((one) => one.templates)])
      if (inner) quicken(inner, escapes)
  }
}

function quickenOne(node: Parsed, path: readonly (string | number)[], escapes: boolean): void {
  const render = node.render.bind(node)
  node.render = (context: Context, emitter: Emitter) => {
    const text = textAt(context as unknown as Scopes, path)
    if (text === null) return render(context, emitter as Parameters<Parsed['render']>[1])
    emitter.write(escapes ? escaped(text, context) : text)
    return undefined
  }
}
