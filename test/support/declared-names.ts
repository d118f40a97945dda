import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

export interface DeclaredName {
  path: string
  name: string
}

type Node = Record<string, unknown> & { type: string }

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

const listNodes = (value: unknown): Node[] => {
  if (typeof value !== 'object' || value === null) return []
  const below = Object.values(value).flatMap(listNodes)
  return isNode(value) ? [value, ...below] : below
}

const namedTypes = new Set([
  'ClassDeclaration',
  'FunctionDeclaration',
  'TSDeclareFunction',
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
])
const memberTypes = new Set(['MethodDefinition', 'PropertyDefinition', 'TSMethodSignature', 'TSPropertySignature'])

/** Lists the names that a parameter or the left side of a declaration binds. */
function listBoundNames(pattern: unknown): string[] {
  if (!isNode(pattern)) return []
  switch (pattern.type) {
    case 'Identifier':
      return [String(pattern['name'])]
    case 'AssignmentPattern':
      return listBoundNames(pattern['left'])
    case 'RestElement':
      return listBoundNames(pattern['argument'])
    case 'ArrayPattern':
      return (pattern['elements'] as unknown[]).flatMap(listBoundNames)
    case 'ObjectPattern':
      return (pattern['properties'] as Node[]).flatMap((property) => listBoundNames(property['value'] ?? property))
    default:
      return []
  }
}

function listNamesOfNode(node: Node): string[] {
  if (node.type === 'VariableDeclarator') return listBoundNames(node['id'])
  const parameters = Array.isArray(node['params']) ? node['params'].flatMap(listBoundNames) : []
  const owner = namedTypes.has(node.type) ? node['id'] : memberTypes.has(node.type) ? node['key'] : null
  return isNode(owner) && 'name' in owner ? [String(owner['name']), ...parameters] : parameters
}

/**
 * Lists the variables, parameters, functions, types and members that the TypeScript files of these folders declare.
 * Names with an underscore are left out, because they are names of columns and of the API.
 */
export async function listDeclaredNames(folders: readonly string[]): Promise<DeclaredName[]> {
  const entries = await Promise.all(folders.map((folder) => readdir(folder, { recursive: true, withFileTypes: true })))
  const paths = entries
    .flat()
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map(({ parentPath, name }) => join(parentPath, name))
  const namesByFile = await Promise.all(
    paths.map(async (path) => {
      const program = parseAst(await readFile(path, 'utf8'), { lang: 'ts' })
      const names = new Set(listNodes(program).flatMap(listNamesOfNode))
      return [...names].filter((name) => !name.includes('_')).map((name) => ({ path, name }))
    }),
  )
  return namesByFile.flat()
}
