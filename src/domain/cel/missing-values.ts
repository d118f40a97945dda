import type { Expression, ExpressionOf, SourceRange } from './types.ts'

/** A use of a field that is an error for people who have no value, such as `user.last_seen < now`. */
export interface NullableUse extends SourceRange {
  /** A path such as `user.last_seen`. */
  path: string
}

const isNode = (value: unknown): value is Expression => typeof value === 'object' && value !== null && 'node' in value

const listChildren = (expression: Expression): Expression[] =>
  Object.values(expression)
    .flatMap((value: unknown) => value)
    .filter(isNode)

const isNull = (expression: Expression): boolean => expression.node === 'literal' && expression.value === null

const isEquality = ({ operator }: ExpressionOf<'compare'>): boolean => operator === '==' || operator === '!='

/** The path of a field of the person that can be null. */
function findPath(expression: Expression): string | null {
  if (expression.node !== 'field' || !expression.nullable || expression.object.node !== 'variable') return null
  const { name, type } = expression.object
  return type === 'user' || type === 'stats' ? `${name}.${expression.name}` : null
}

/** Lists fields of the person, each once, that are used as if everybody had a value, and never compared with null. */
export function listNullableUses(expression: Expression): NullableUse[] {
  const uses = new Map<string, NullableUse>()
  const checkedPaths = new Set<string>()
  const visit = (node: Expression): void => {
    const children = listChildren(node)
    const isNullCheck = node.node === 'compare' && isEquality(node) && children.some(isNull)
    const isStrict =
      (node.node === 'compare' && !isEquality(node)) || ['call', 'arithmetic', 'minus'].includes(node.node)
    for (const child of children) {
      const path = findPath(child)
      if (path && isNullCheck) checkedPaths.add(path)
      if (path && isStrict && !uses.has(path)) uses.set(path, { path, start: node.start, end: node.end })
      visit(child)
    }
  }
  visit(expression)
  return [...uses.values()].filter(({ path }) => !checkedPaths.has(path))
}
