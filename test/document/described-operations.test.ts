import { readdir, readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import contract from '../contract/operations.json' with { type: 'json' }

it('each operation of the contract is described by its name in test/api', async () => {
  const files = (await readdir('test/api')).filter((name) => name.endsWith('.test.ts'))
  const texts = await Promise.all(files.map((name) => readFile(`test/api/${name}`, 'utf8')))
  const titles = new Set(texts.flatMap((text) => [...text.matchAll(/^describe\('(\w+)'/gm)].map(([, title]) => title)))
  const operations = contract.operations.map(({ operation_id }) => operation_id)
  expect(operations.filter((operation) => !titles.has(operation))).toEqual([])
  expect(operations.length).toBeGreaterThan(0)
})
