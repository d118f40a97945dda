import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { consoleFolder } from '../../../scripts/support/paths.ts'

interface Chunk {
  file: string
  css?: string[]
  imports?: string[]
  dynamicImports?: string[]
}

const manifest = JSON.parse(readFileSync(join(consoleFolder, '.vite', 'manifest.json'), 'utf8')) as Record<
  string,
  Chunk
>

/** The chunks that the browser loads for these entries: with what they import, and not with what they import later. */
function listChunks(entries: readonly string[]): Set<string> {
  const names = new Set<string>()
  const visit = (name: string) => {
    if (names.has(name)) return
    names.add(name)
    const chunk = manifest[name]
    if (!chunk) throw new Error(`The manifest has no ${name}.`)
    chunk.imports?.forEach(visit)
  }
  entries.forEach(visit)
  return names
}

const listFiles = (entries: readonly string[]): Set<string> =>
  new Set([...listChunks(entries)].flatMap((name) => [manifest[name]?.file ?? '', ...(manifest[name]?.css ?? [])]))

const countBytes = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(consoleFolder, file))).length, 0)

const shell = [
  'index.html',
  'src/words/en/common.ts',
  'src/words/en/states.ts',
  'src/words/en/orders.ts',
  'src/shell/index.tsx',
]
const maxBytes = 300_000
const chartMark = 'recharts-'

describe('the first load', () => {
  it.for([
    ['the orders', 'src/pages/orders/list.tsx'],
    ['an order', 'src/pages/orders/detail.tsx'],
  ] as const)('of %s takes at most 300 kB, and has no charts', ([, page]) => {
    const files = listFiles([...shell, page])
    const bytes = countBytes(files)
    process.stdout.write(`${page}: ${Math.round(bytes / 1000)} kB\n`)
    expect(bytes).toBeLessThanOrEqual(maxBytes)
    for (const file of files)
      expect(readFileSync(join(consoleFolder, file), 'utf8').includes(chartMark), file).toBe(false)
  })

  it('counts what the browser would load', () => {
    expect(globSync('console/assets/*', { cwd: consoleFolder })).toEqual(
      expect.arrayContaining([...listFiles(shell)].filter((file) => file !== '')),
    )
  })
})
