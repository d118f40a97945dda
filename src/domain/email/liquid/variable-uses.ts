import { AssignTag, ForTag, Output, type Token, TypeGuards, Value } from 'liquidjs/dist/liquid.browser.mjs'
import { type Argument, listArgumentTokens, listChildren, listLocalNames, listTokenParts } from './liquid-bounds.ts'
import type { Parsed } from './liquid.ts'
import { listNames } from './variables.ts'

/** One place where a text uses a variable. */
export interface VariableUse {
  /** Examples are `order.items`, and `order.items[].name` for a field in a loop. */
  name: string
  /** True if a `default` filter replaces the variable where it is empty. */
  has_default: boolean
  /** True if the value itself becomes text, which an object or a list does not have. */
  is_text: boolean
}

/**
 * Meanings of the names of a text. `null` means that nothing is known about the value. Texts that are rendered together
 * share `locals`.
 */
export interface NameScope {
  /** Names that `assign` and `capture` declare. One that only renames a variable has the path of that variable. */
  locals: Map<string, string | null>
  /** The path of an item for the name that a loop gives it. */
  items: ReadonlyMap<string, string | null>
}

/** Fields of `forloop`, which every loop has. */
const loopObject = 'forloop'

const isItem = (field: unknown): boolean => typeof field === 'number' || field === 'first' || field === 'last'

/** `order.items[0]` and `order.items.first` are items of the list. Null: only the rendering decides which field is read. */
function readPath(token: Token): string[] | null {
  if (!TypeGuards.isPropertyAccessToken(token)) return null
  const fields = token.props.map((prop) => ('content' in prop ? prop.content : null))
  if (fields.some((field) => typeof field !== 'string' && typeof field !== 'number')) return null
  return fields.reduce<string[]>((path, field) => {
    const list = path.join('.')
    return isItem(field) && listNames.has(list) ? [`${list}[]`] : [...path, String(field)]
  }, [])
}

/** The name of the variable that a token reads. Null for anything else. */
function resolveName(token: Token, { locals, items }: NameScope): string | null {
  const [root, ...fields] = readPath(token) ?? []
  if (root === undefined || root === loopObject) return null
  for (const names of [items, locals]) {
    const path = names.get(root)
    if (path === undefined) continue
    if (path !== null) return [path, ...fields].join('.')
    return names === items && fields.length > 0 ? [root, ...fields].join('.') : null
  }
  return [root, ...fields].join('.')
}

function listNested(token: Token): Token[] {
  const parts = listTokenParts(token).filter((part) => part !== undefined)
  return parts.flatMap((part) => [part, ...listNested(part)])
}

/** True if the argument is the value that its filters change, and not a part of a comparison. */
const isWholeValue = (argument: Value): boolean => argument.initial.postfix.length === 1

function* listTokenUses(token: Token, scope: NameScope, use: Omit<VariableUse, 'name'>): Generator<VariableUse> {
  const name = resolveName(token, scope)
  if (name !== null) yield { name, ...use }
  for (const part of listNested(token)) {
    const partName = resolveName(part, scope)
    if (partName !== null) yield { name: partName, has_default: false, is_text: false }
  }
}

function* listArgumentUses(argument: Argument, isOutput: boolean, scope: NameScope): Generator<VariableUse> {
  const [first] = argument instanceof Value ? argument.filters : []
  const values = argument instanceof Value && isWholeValue(argument) ? argument.initial.postfix : []
  const has_default = argument instanceof Value && argument.filters.some(({ name }) => name === 'default')
  const initial: readonly Token[] = argument instanceof Value ? argument.initial.postfix : []
  for (const token of listArgumentTokens(argument)) {
    if (!token) continue
    const isInitial = !(argument instanceof Value) || initial.includes(token)
    const isValue = values.includes(token)
    const is_text = isInitial ? isValue && (first ? first.name !== 'size' : isOutput) : true
    yield* listTokenUses(token, scope, { has_default: isInitial && has_default, is_text })
  }
}

function declareLocals(node: Parsed, scope: NameScope): void {
  const [value] = node instanceof AssignTag ? node.arguments() : []
  const isRenaming = value instanceof Value && value.filters.length === 0 && isWholeValue(value)
  const [token] = isRenaming ? value.initial.postfix : []
  const path = token ? resolveName(token, scope) : null
  for (const name of listLocalNames(node)) {
    const isAmbiguous = scope.locals.has(name) && scope.locals.get(name) !== path
    scope.locals.set(name, isAmbiguous ? null : path)
  }
}

function enterLoop(node: Parsed, scope: NameScope): NameScope {
  if (!(node instanceof ForTag)) return scope
  const list = TypeGuards.isPropertyAccessToken(node.collection) ? resolveName(node.collection, scope) : null
  return { ...scope, items: new Map([...scope.items, [node.variable, list === null ? null : `${list}[]`]]) }
}

/**
 * Lists the variables that a text uses, and adds the names that it declares to `scope`. LiquidJS's own analysis takes
 * hundreds of milliseconds for long texts: it counts the lines before each name.
 */
export function listVariableUses(nodes: readonly Parsed[], scope: NameScope): VariableUse[] {
  return nodes.flatMap((node) => {
    const uses = [...(node.arguments?.() ?? [])].flatMap((argument) => [
      ...listArgumentUses(argument, node instanceof Output, scope),
    ])
    declareLocals(node, scope)
    return [...uses, ...listVariableUses(listChildren(node), enterLoop(node, scope))]
  })
}
