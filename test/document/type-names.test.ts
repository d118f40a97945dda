import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const declaration = /^[ \t]*(?:export )?(?:declare )?(?:abstract )?(?:interface|class|type(?= \w+(?:<.*>)? =)) (\w+)/gm

/** They have the names of the Durable Objects that wrangler.toml binds. */
const entry = join('src', 'index.ts')

it('type names of src are unique across files', async () => {
  const paths = (await readdir('src', { recursive: true, withFileTypes: true }))
    .filter((one) => one.isFile() && one.name.endsWith('.ts'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => path !== entry)
  const declared = new Map<string, Set<string>>()
  const sources = await Promise.all(paths.map(async (path) => [path, await readFile(path, 'utf8')] as const))
  for (const [path, source] of sources) {
    for (const [, name = ''] of source.matchAll(declaration)) {
      declared.set(name, (declared.get(name) ?? new Set()).add(path))
    }
  }
  const repeated = [...declared].filter(([, files]) => files.size > 1).map(([name, files]) => [name, ...files])
  expect(repeated).toEqual([])
  expect(declared.size).toBeGreaterThan(500)
})
