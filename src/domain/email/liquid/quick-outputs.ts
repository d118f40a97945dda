import type { Context, Liquid, Template as Parsed } from 'liquidjs'
import type { ChargedEmitter } from '../budget.ts'
import { FixedText } from '../../text/json-pieces.ts'

type Emitter = Parameters<Parsed['render']>[1]

/** The parts of a parsed template of LiquidJS that hold text or other templates. Its types do not declare them. */
interface ParsedBlock extends Parsed {
  liquid?: Liquid
  str?: string
  templates?: Parsed[]
  elseTemplates?: Parsed[]
  branches?: { templates: Parsed[] }[]
}

/** An output of a dotted name, with at most one position in a list and no filter. */
const plainPath = /^\{\{-?\s*([a-z_]+(?:\.[a-z_]+)+)(?:\[(\d{1,4})\])?\s*-?\}\}$/

/** The beginning of what is written unless such a name is blank, as in the footer of each message. */
const plainCondition = /^\{%-?\s*unless\s+([a-z_]+(?:\.[a-z_]+)+)\s*==\s*blank\s*-?%\}$/

function pathOf(node: Parsed, pattern: RegExp): (string | number)[] | null {
  const [, names, position] = pattern.exec(node.token.getText()) ?? []
  if (names === undefined) return null
  return [...names.split('.'), ...(position === undefined ? [] : [Number(position)])]
}

/** Private fields of LiquidJS's context: names that loops and captures declare, and the data of the letter. */
interface Scopes {
  scopes: object[]
  environments: object
}

/** The text at the path; null where there is none, or where LiquidJS would write something else. */
function textAt({ scopes, environments }: Scopes, path: readonly (string | number)[]): string | null {
  const [root = ''] = path
  // A loop or a capture declares the same name.
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

/** Escapes and charges memory as LiquidJS's `escape` does. */
function escaped(text: string, { memoryLimit }: Context): string {
  memoryLimit.use(text.length)
  return text.search(marks) < 0 ? text : text.replace(marks, (mark) => entities[mark] ?? mark)
}

/**
 * Replaces how texts and outputs of one variable are rendered: LiquidJS runs generators for each. It still renders values
 * that are not texts. The text and the charged memory stay the same.
 */
export function shortcutOutputs(nodes: readonly Parsed[], escapes: boolean): void {
  for (const node of nodes as readonly ParsedBlock[]) {
    const path = pathOf(node, plainPath)
    if (node.str !== undefined) shortcutText(node, new FixedText(node.str))
    if (path) shortcutOutput(node, path, escapes)
    shortcutUnlessBlank(node)
    for (const inner of [node.templates, node.elseTemplates, ...(node.branches ?? []).map((one) => one.templates)])
      if (inner) shortcutOutputs(inner, escapes)
  }
}

function shortcutText(node: Parsed, fixed: FixedText): void {
  node.render = (_: Context, emitter: Emitter) => (emitter as ChargedEmitter).writeFixed(fixed)
}

function shortcutOutput(node: Parsed, path: readonly (string | number)[], escapes: boolean): void {
  const render = node.render.bind(node)
  node.render = (context: Context, emitter: Emitter) => {
    const text = textAt(context as unknown as Scopes, path)
    if (text === null) return render(context, emitter)
    emitter.write(escapes ? escaped(text, context) : text)
    return undefined
  }
}

function shortcutUnlessBlank(node: ParsedBlock): void {
  const path = pathOf(node, plainCondition)
  const { branches = [], elseTemplates = [], liquid } = node
  const [only, ...more] = branches
  if (!path || !liquid || !only || more.length || elseTemplates.length) return
  const render = node.render.bind(node)
  const { renderer } = liquid
  const { templates } = only
  function* inner(context: Context, emitter: Emitter): Generator<unknown, void> {
    yield renderer.renderTemplates(templates, context, emitter)
  }
  node.render = (context: Context, emitter: Emitter) => {
    const text = textAt(context as unknown as Scopes, path)
    if (text === null) return render(context, emitter)
    return /^\s*$/.test(text) ? undefined : inner(context, emitter)
  }
}
