import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Imports and exports of values, and `import()`. */
const imported =
  /(?:^|\n)(?:import|export)\s+(?!type\b)[^;'"]*?from\s+'([^']+)'|\bimport\s*\(\s*'([^']+)'|(?:^|\n)import\s+'([^']+)'/g

const importsOf = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(imported)].map(([, one, other, third]) => one ?? other ?? third ?? '')

/** Modules that only the platform has, and modules that call other services with its streams, `fetch` and keys. */
const isOfPlatform = (id: string): boolean =>
  id.startsWith('cloudflare:') || id.includes('wasm') || id.includes('/gateways/')

/** Tests of the platform itself: time zones, formats of numbers, decoders of text, and Base64. */
const ofPlatform = new Set([
  'test/unit/campaigns.test.ts',
  'test/unit/cells.test.ts',
  'test/unit/consent-tokens.test.ts',
  'test/unit/email-money.test.ts',
  'test/unit/time-zones.test.ts',
  'test/unit/import-files-corpus.test.ts',
  'test/unit/link-tokens.test.ts',
  'test/unit/list-query.test.ts',
  'test/unit/webhook-signature.test.ts',
])

function needsPlatform(path: string, visited = new Set<string>()): boolean {
  if (visited.has(path)) return false
  visited.add(path)
  return importsOf(path).some((id) => {
    if (isOfPlatform(id)) return true
    return id.startsWith('.') && id.endsWith('.ts') && needsPlatform(join(dirname(path), id), visited)
  })
}

/** Finds the files of test/unit that need no Worker. They run in Node, which starts in a tenth of the time. */
export const pureTests = (root: string): string[] =>
  globSync('test/unit/*.test.ts', { cwd: root })
    .toSorted()
    .filter((path) => !ofPlatform.has(path) && !needsPlatform(join(root, path)))
