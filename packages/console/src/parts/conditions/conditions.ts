import { type Node, parseCel } from './cel'

export type Operator =
  | 'is'
  | 'isNot'
  | 'oneOf'
  | 'notOneOf'
  | 'contains'
  | 'startsWith'
  | 'endsWith'
  | 'atLeast'
  | 'atMost'
  | 'moreThan'
  | 'lessThan'
  | 'includes'
  | 'excludes'
  | 'isSet'
  | 'isEmpty'
  | 'isTrue'
  | 'isFalse'
  | 'within'
  | 'longerAgo'
  | 'from'
  | 'before'

export type Value = string | number | boolean

/** Compares a field with a value. `within` and `longerAgo` have hours, `from` and `before` an instant. */
export interface FieldRow {
  kind: 'field'
  /** The path from the person, or from the element of a list. */
  path: string
  operator: Operator
  value: Value | readonly Value[] | null
}

/** True for people with an element, such as an order, for which the group holds. */
export interface ListRow {
  kind: 'list'
  path: string
  isNegated: boolean
  group: Group
}

/** True for people whose consent is in effect. */
export interface ConsentRow {
  kind: 'consent'
  key: string
  isNegated: boolean
}

/** `all`: every item holds. `any`: at least one does. A group without items holds for everybody. */
export interface Group {
  kind: 'group'
  join: 'all' | 'any'
  items: readonly Item[]
}

export type Item = FieldRow | ListRow | ConsentRow | Group

const comparisons: Partial<Record<Operator, string>> = {
  is: '==',
  isNot: '!=',
  atLeast: '>=',
  atMost: '<=',
  moreThan: '>',
  lessThan: '<',
}
const operatorsBySign = new Map(Object.entries(comparisons).map(([operator, sign]) => [sign, operator as Operator]))
const methods = ['contains', 'startsWith', 'endsWith'] as const

/** Null cannot be compared by these: without a guard, the comparison is an error. */
const needsGuard = (operator: Operator): boolean =>
  [...methods, 'atLeast', 'atMost', 'moreThan', 'lessThan', 'within', 'longerAgo', 'from', 'before'].includes(operator)

type IsNullable = (path: string) => boolean

const write = (value: FieldRow['value']): string => JSON.stringify(value)

function writeComparison(name: string, { operator, value }: FieldRow): string {
  const sign = comparisons[operator]
  if (sign !== undefined) return `${name} ${sign} ${write(value)}`
  switch (operator) {
    case 'oneOf':
      return `${name} in ${write(value)}`
    case 'notOneOf':
      return `!(${name} in ${write(value)})`
    case 'includes':
      return `${write(value)} in ${name}`
    case 'excludes':
      return `!(${write(value)} in ${name})`
    case 'isSet':
      return `${name} != null`
    case 'isEmpty':
      return `${name} == null`
    case 'isTrue':
      return name
    case 'isFalse':
      return `!${name}`
    case 'within':
      return `${name} > now - duration("${String(value)}h")`
    case 'longerAgo':
      return `${name} < now - duration("${String(value)}h")`
    case 'from':
      return `${name} >= timestamp(${write(value)})`
    case 'before':
      return `${name} < timestamp(${write(value)})`
    default:
      return `${name}.${operator}(${write(value)})`
  }
}

interface Scope {
  /** The variable of the list's elements; empty for the person. */
  variable: string
  /** The path of the list in the context; empty for the person. */
  list: string
  isNullable: IsNullable
}

const nameOf = (path: string, { variable }: Scope): string => (variable === '' ? path : `${variable}.${path}`)

/** An inner list needs another variable than the outer one. */
const chooseVariable = (path: string, outer: string): string => {
  const letter = path.split('.').at(-1)?.[0] ?? 'x'
  return letter === outer ? `${letter}${letter}` : letter
}

function writeItem(item: Item, scope: Scope): { text: string; isJoined: boolean } {
  switch (item.kind) {
    case 'group':
      return { text: writeItems(item, scope), isJoined: item.items.length > 1 }
    case 'consent': {
      const text = `has(consents.${item.key}) && consents.${item.key}.is_current`
      return item.isNegated ? { text: `!(${text})`, isJoined: false } : { text, isJoined: true }
    }
    case 'list': {
      const variable = chooseVariable(item.path, scope.variable)
      const inner = { ...scope, variable, list: `${scope.list}${item.path}[].` }
      const text = `${nameOf(item.path, scope)}.exists(${variable}, ${writeItems(item.group, inner)})`
      return { text: item.isNegated ? `!${text}` : text, isJoined: false }
    }
    case 'field': {
      const name = nameOf(item.path, scope)
      const text = writeComparison(name, item)
      const isGuarded = needsGuard(item.operator) && scope.isNullable(scope.list + item.path)
      return { text: isGuarded ? `${name} != null && ${text}` : text, isJoined: isGuarded }
    }
  }
}

function writeItems({ join, items }: Group, scope: Scope): string {
  if (items.length === 0) return 'true'
  const parts = items.map((item) => ({ ...writeItem(item, scope), isGroup: item.kind === 'group' }))
  if (parts.length === 1 && parts[0]) return parts[0].text
  return parts
    .map(({ text, isJoined, isGroup }) => (isJoined && (join === 'any' || isGroup) ? `(${text})` : text))
    .join(join === 'all' ? ' && ' : ' || ')
}

/** Writes rows as an expression. `isNullable` tells of which fields a person may have no value. */
export const writeConditions = (group: Group, isNullable: IsNullable): string =>
  writeItems(group, { variable: '', list: '', isNullable })

/** Reads an expression as rows. Null: it has no form that rows have. */
export function readConditions(text: string): Group | null {
  const node = parseCel(text)
  if (node === null) return null
  return readGroup(node, '')
}

function readGroup(node: Node, variable: string): Group | null {
  if (node.kind === 'literal') return node.value === true ? { kind: 'group', join: 'all', items: [] } : null
  const isJoined = node.kind === 'and' || node.kind === 'or'
  const nodes = isJoined ? node.items : [node]
  const join = node.kind === 'or' ? 'any' : 'all'
  const items: Item[] = []
  for (let index = 0; index < nodes.length; index += 1) {
    const [first, second] = nodes.slice(index, index + 2)
    const pair = join === 'all' && first && second ? readPair(first, second, variable) : null
    const item = pair ?? (first ? readItem(first, variable) : null)
    if (item === null) return null
    if (pair) index += 1
    items.push(item)
  }
  return { kind: 'group', join, items }
}

function readItem(node: Node, variable: string): Item | null {
  if (node.kind === 'and' || node.kind === 'or') {
    const group = readGroup(node, variable)
    return group?.join === 'all' && group.items.length === 1 ? (group.items[0] ?? null) : group
  }
  if (node.kind === 'not') return readNegation(node.item, variable)
  if (node.kind === 'compare') return readComparison(node, variable)
  if (node.kind === 'path') return fieldRow(readPath(node, variable), 'isTrue', null)
  if (node.kind === 'call') return readCall(node, variable)
  return node.kind === 'literal' ? readGroup(node, variable) : null
}

/** Reads two conditions that are one row: a field with its guard, or a consent. */
function readPair(first: Node, second: Node, variable: string): Item | null {
  const consent = readConsent(first, second)
  if (consent !== null) return { kind: 'consent', key: consent, isNegated: false }
  const guard = readItem(first, variable)
  if (guard?.kind !== 'field' || guard.operator !== 'isSet') return null
  const row = readItem(second, variable)
  return row?.kind === 'field' && row.path === guard.path && needsGuard(row.operator) ? row : null
}

/** The key of a consent of which the two nodes say that it is in effect. */
function readConsent(first: Node, second: Node): string | null {
  if (first.kind !== 'call' || first.target !== null || first.name !== 'has' || first.args.length !== 1) return null
  const [argument] = first.args
  if (argument?.kind !== 'path' || second.kind !== 'path') return null
  const key = /^consents\.(\w+)$/.exec(argument.path)?.[1]
  return key !== undefined && second.path === `consents.${key}.is_current` ? key : null
}

function readNegation(item: Node, variable: string): Item | null {
  if (item.kind === 'and' && item.items.length === 2) {
    const [first, second] = item.items
    const key = first && second ? readConsent(first, second) : null
    return key === null ? null : { kind: 'consent', key, isNegated: true }
  }
  const row = readItem(item, variable)
  if (row?.kind === 'list' && !row.isNegated) return { ...row, isNegated: true }
  if (row?.kind !== 'field') return null
  const opposites: Partial<Record<Operator, Operator>> = { oneOf: 'notOneOf', includes: 'excludes', isTrue: 'isFalse' }
  const operator = opposites[row.operator]
  return operator === undefined ? null : { ...row, operator }
}

const reservedNames = new Set(['now'])

/** The path of a field without the variable of its list. Null: it is a field of something else. */
function readPath(node: Node, variable: string): string | null {
  if (node.kind !== 'path' || node.path.startsWith('consents.') || reservedNames.has(node.path)) return null
  if (variable === '') return node.path.includes('.') ? node.path : null
  return node.path.startsWith(`${variable}.`) ? node.path.slice(variable.length + 1) : null
}

const fieldRow = (path: string | null, operator: Operator, value: FieldRow['value']): FieldRow | null =>
  path === null ? null : { kind: 'field', path, operator, value }

function readComparison({ operator, left, right }: Extract<Node, { kind: 'compare' }>, variable: string): Item | null {
  if (operator === 'in') {
    if (left.kind === 'literal' && left.value !== null)
      return fieldRow(readPath(right, variable), 'includes', left.value)
    const values =
      right.kind === 'list' ? right.items.map((one) => (one.kind === 'literal' ? one.value : null)) : [null]
    return values.some((value) => value === null)
      ? null
      : fieldRow(readPath(left, variable), 'oneOf', values as readonly Value[])
  }
  const path = readPath(left, variable)
  if (right.kind === 'literal') {
    if (right.value !== null) return fieldRow(path, operatorsBySign.get(operator) ?? 'is', right.value)
    if (operator === '!=') return fieldRow(path, 'isSet', null)
    return operator === '==' ? fieldRow(path, 'isEmpty', null) : null
  }
  if (right.kind !== 'call') return null
  if (right.name === 'timestamp' && right.target === null) {
    const [at] = right.args
    if (at?.kind !== 'literal' || typeof at.value !== 'string') return null
    if (operator === '>=') return fieldRow(path, 'from', at.value)
    return operator === '<' ? fieldRow(path, 'before', at.value) : null
  }
  const hours = readHoursAgo(right)
  if (hours === null) return null
  if (operator === '>') return fieldRow(path, 'within', hours)
  return operator === '<' ? fieldRow(path, 'longerAgo', hours) : null
}

/** The hours of `now - duration("720h")`. */
function readHoursAgo({ target, name, args: [length] }: Extract<Node, { kind: 'call' }>): number | null {
  if (name !== '-' || target?.kind !== 'path' || target.path !== 'now') return null
  if (length?.kind !== 'call' || length.name !== 'duration') return null
  const [text] = length.args
  const hours = text?.kind === 'literal' ? /^(\d{1,6})h$/.exec(String(text.value))?.[1] : undefined
  return hours === undefined ? null : Number(hours)
}

function readCall({ target, name, args }: Extract<Node, { kind: 'call' }>, variable: string): Item | null {
  if (target === null) return null
  if (name === 'exists') {
    const [element, condition] = args
    const path = readListPath(target, variable)
    if (args.length !== 2 || element?.kind !== 'path' || condition === undefined || path === null) return null
    const group = readGroup(condition, element.path)
    return group && { kind: 'list', path, isNegated: false, group }
  }
  const method = methods.find((one) => one === name)
  const [value] = args
  if (method === undefined || args.length !== 1 || value?.kind !== 'literal' || typeof value.value !== 'string')
    return null
  return fieldRow(readPath(target, variable), method, value.value)
}

function readListPath(target: Node, variable: string): string | null {
  if (target.kind !== 'path') return null
  if (variable === '') return target.path
  return target.path.startsWith(`${variable}.`) ? target.path.slice(variable.length + 1) : null
}
