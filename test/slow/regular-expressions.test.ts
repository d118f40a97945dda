import { glob, readFile } from 'node:fs/promises'
import { check } from 'recheck'
import { parseAst } from 'rolldown/parseAst'
import { describe, expect, it, vi } from 'vitest'

/** The checker in JavaScript; other editions need Java or a native program, and answer the same. */
vi.stubEnv('RECHECK_BACKEND', 'pure')

/** Limits of work instead of time give the same answers on a busy machine. Three rounds find all known faults. */
const checking = { timeout: 120_000, attackTimeout: null, incubationTimeout: null, maxIteration: 3 }

/** The most steps that an expression with bounded input may take, which is a tenth of a second. */
const maxSteps = 20_000_000

interface Expression {
  source: string
  flags: string
  /** Reads the number of characters that the comment above the expression allows, or null without such a comment. */
  bound: number | null
  line: number
}

type Node = Record<string, unknown> & { type: string; start: number }

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

const listNodes = (value: unknown): Node[] => {
  if (typeof value !== 'object' || value === null) return []
  const below = Object.values(value).flatMap(listNodes)
  return isNode(value) ? [value, ...below] : below
}

const readName = (node: unknown): unknown => (isNode(node) ? node['name'] : undefined)

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Returns the text of a constant expression, or null. */
function evaluateText(node: unknown, constants: ReadonlyMap<unknown, unknown>): string | null {
  if (!isNode(node)) return null
  const evaluateTexts = (nodes: unknown): (string | null)[] =>
    listOf(nodes).map((element) => evaluateText(element, constants))
  switch (node.type) {
    case 'Literal':
      return node['regex'] ? null : String(node['value'])
    case 'Identifier':
      return evaluateText(constants.get(node['name']), constants)
    case 'TaggedTemplateExpression': {
      const { object, property } = (node['tag'] ?? {}) as Record<string, unknown>
      return readName(object) === 'String' && readName(property) === 'raw' ? textOfTemplate(node['quasi'], 'raw') : null
    }
    case 'TemplateLiteral':
      return textOfTemplate(node, 'cooked')
    case 'CallExpression': {
      // [...].join('|')
      const { object, property } = (node['callee'] ?? {}) as Record<string, unknown>
      const [separator = null] = evaluateTexts(node['arguments'])
      const parts = isNode(object) && object.type === 'ArrayExpression' ? evaluateTexts(object['elements']) : []
      const isJoin = readName(property) === 'join' && separator !== null && parts.length > 0
      return isJoin && !parts.includes(null) ? parts.join(separator) : null
    }
    default:
      return null
  }

  function textOfTemplate(template: unknown, form: 'raw' | 'cooked'): string | null {
    if (!isNode(template)) return null
    const values = evaluateTexts(template['expressions'])
    if (values.includes(null)) return null
    const quasis = listOf(template['quasis']) as { value: Record<'raw' | 'cooked', string> }[]
    return quasis.map(({ value }, index) => value[form] + (values[index] ?? '')).join('')
  }
}

const comment = /^\s*\/\/ Bounded: at most ([\d,]+) characters\b/

/** Lists all regular expressions of a file. Throws for one that is not built from constants of the file. */
function listExpressions(code: string, lang: 'ts' | 'tsx' = 'ts'): Expression[] {
  const nodes = listNodes(parseAst(code, { lang }))
  const lines = code.split('\n')
  const constants = new Map(
    nodes.filter(({ type }) => type === 'VariableDeclarator').map((node) => [readName(node['id']), node['init']]),
  )
  return nodes.flatMap((node): Expression[] => {
    const line = code.slice(0, node.start).split('\n').length
    const bound = comment.exec(lines[line - 2] ?? '')?.[1]
    const place = { line, bound: bound === undefined ? null : Number(bound.replaceAll(',', '')) }
    const literal = node['regex'] as { pattern: string; flags: string } | undefined
    if (node.type === 'Literal' && literal) return [{ source: literal.pattern, flags: literal.flags, ...place }]
    if (readName(node['callee']) !== 'RegExp') return []
    const [first, second] = listOf(node['arguments'])
    const [source, flags] = [
      evaluateText(first, constants),
      second === undefined ? '' : evaluateText(second, constants),
    ]
    if (source === null || flags === null)
      throw new Error(`Line ${line} composes a regular expression of parts that are not constants of its file.`)
    return [{ source, flags, ...place }]
  })
}

const answers = new Map<string, ReturnType<typeof check>>()

function checkOnce(source: string, flags: string): ReturnType<typeof check> {
  const key = `/${source}/${flags}`
  const answer = answers.get(key) ?? check(source, flags, checking)
  answers.set(key, answer)
  return answer
}

/** Explains why an expression may block a request, or returns null. No bound makes exponential time acceptable. */
async function findFault({ source, flags, bound }: Expression): Promise<string | null> {
  const answer = await checkOnce(source, flags)
  if (answer.status === 'safe') return null
  if (answer.status === 'unknown') return `cannot be checked: ${answer.error.kind}`
  const { complexity } = answer
  const isSlow = complexity.type !== 'polynomial' || bound === null || bound ** complexity.degree > maxSteps
  return isSlow ? `takes ${complexity.summary} time, as for ${answer.attack.pattern}` : null
}

async function findFaults(code: string, lang?: 'ts' | 'tsx'): Promise<string[]> {
  const faults: string[] = []
  for (const expression of listExpressions(code, lang)) {
    const fault = await findFault(expression)
    if (fault !== null) faults.push(`line ${expression.line}: /${expression.source}/${expression.flags} ${fault}`)
  }
  return faults
}

describe('the check of regular expressions', () => {
  const quadratic = String.raw`const end = /\s+$/`
  const exponential = String.raw`const words = /^(\w+\s?)*$/`

  it.each([
    ['a literal of exponential time', exponential],
    ['a literal of quadratic time', quadratic],
    ['a pattern of a schema', String.raw`z.string().regex(/^(a|a)*$/)`],
    ['a composed expression', 'const part = String.raw`(\\w+\\s?)`\nconst words = new RegExp(`^${part}*$`)'],
    ['a joined expression', "const words = RegExp(['^(a|a)*$', 'b'].join('|'), 'gu')"],
    ['exponential time with a bound', `// Bounded: at most 100 characters.\n${exponential}`],
    ['quadratic time with a bound that is too high', `// Bounded: at most 100,000 characters.\n${quadratic}`],
    ['quadratic time with a bound of something else', `// Bounded: at most 100 characters.\n\n${quadratic}`],
  ])('refuses %s', async (_, code) => {
    expect(await findFaults(code)).toHaveLength(1)
  })

  it.each([
    ['linear time', String.raw`const word = /^\w+$/`],
    ['quadratic time with a bound', `// Bounded: at most 1,000 characters, which \`trim\` checks.\n${quadratic}`],
  ])('accepts %s', async (_, code) => {
    expect(await findFaults(code)).toEqual([])
  })

  it('refuses an expression that it cannot build from its parts', () => {
    expect(() => listExpressions('const find = (name: string) => new RegExp(`^${name}$`)')).toThrow('Line 1')
  })
})

describe('a text from outside', () => {
  it('is matched in linear time by each regular expression of the sources', async () => {
    const paths = await Array.fromAsync(glob(['src/**/*.ts', 'packages/*/src/**/*.{ts,tsx}']))
    const faults: string[] = []
    for (const path of paths) {
      const inFile = await readFile(path, 'utf8')
        .then((code) => findFaults(code, path.endsWith('x') ? 'tsx' : 'ts'))
        .catch((error: Error) => [error.message])
      faults.push(...inFile.map((fault) => `${path}: ${fault}`))
    }
    expect(answers.size).toBeGreaterThan(300)
    expect(faults).toEqual([])
  }, 600_000)
})
