import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** Tables that only one slice reads and writes, as the schema declares them. */
const owners = {
  suppressions: 'src/modules/suppressions/',
  soft_bounces: 'src/modules/suppressions/',
  suppression_hashes: 'src/modules/suppressions/',
}

it.each(Object.entries(owners))('only the slice that owns %s names the table in statements', async (table, owner) => {
  const files = (await readdir('src', { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !path.startsWith('src/db/schema/'))
  const naming = new RegExp(`\\b(from|into|join|update|table)\\s+${table}\\b`)
  const matchingFiles = await Promise.all(
    files.map(async (path) => (naming.test(await readFile(path, 'utf8')) ? [path] : [])),
  )
  const paths = matchingFiles.flat()
  expect(paths.filter((path) => !path.startsWith(owner))).toEqual([])
  expect(paths.length).toBeGreaterThan(0)
})
