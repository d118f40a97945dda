import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { describe, expect, it } from 'vitest'

/**
 * Where a type is stated that nothing checks. `fromJson` states the type of an expression, as columns state theirs.
 * `readBefore` reads what only imports have written.
 */
const unchecked = { 'src/db/select.ts': 1, 'src/modules/order-import/before.ts': 1 }

const isNode = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const isJsonParse = (node: unknown): boolean => {
  if (!isNode(node) || node['type'] !== 'CallExpression' || !isNode(node['callee'])) return false
  const { object, property } = node['callee']
  return isNode(object) && object['name'] === 'JSON' && isNode(property) && property['name'] === 'parse'
}

/** How often the value of `JSON.parse` is said to be of another type than `unknown`. */
function statedTypes(node: unknown): number {
  if (!isNode(node)) return 0
  const { type, typeAnnotation, expression, init, id } = node
  const isCast = type === 'TSAsExpression' && isJsonParse(expression) && !isUnknown(typeAnnotation)
  const isTyped = type === 'VariableDeclarator' && isJsonParse(init) && isNode(id) && !isUnknown(id['typeAnnotation'])
  return Object.values(node).reduce((sum: number, part) => sum + statedTypes(part), isCast || isTyped ? 1 : 0)
}

function isUnknown(annotation: unknown): boolean {
  if (!isNode(annotation)) return false
  const { type, typeAnnotation } = annotation
  return type === 'TSTypeAnnotation' ? isUnknown(typeAnnotation) : type === 'TSUnknownKeyword'
}

const count = (source: string): number =>
  source.includes('JSON.parse(') ? statedTypes(parseAst(source, { lang: 'ts' })) : 0

describe('the value of JSON.parse', () => {
  it.each([
    ['a cast', 'const a = JSON.parse(text) as Row', 1],
    ['a cast inside of parentheses', 'f((JSON.parse(text) as Row).id)', 1],
    ['a declared type', 'const a: Row = JSON.parse(text)', 1],
    ['a variable without a type', 'const { a } = JSON.parse(text)', 1],
    ['a cast to unknown', 'const a = JSON.parse(text) as unknown', 0],
    ['a variable of type unknown', 'const a: unknown = JSON.parse(text)', 0],
    ['a cast of something else', 'const a = f(JSON.parse(text)) as Row', 0],
  ])('has a type that nothing checks: %s', (_, source, expected) => {
    expect(count(source)).toBe(expected)
  })

  it('is unknown in all of src, but for what is listed here', async () => {
    const paths = (await readdir('src', { recursive: true, withFileTypes: true }))
      .filter((one) => one.isFile() && one.name.endsWith('.ts'))
      .map(({ parentPath, name }) => join(parentPath, name).replaceAll('\\', '/'))
    const found = await Promise.all(paths.map(async (path) => [path, count(await readFile(path, 'utf8'))] as const))
    expect(Object.fromEntries(found.filter(([, casts]) => casts > 0))).toEqual(unchecked)
  }, 30_000)
})
