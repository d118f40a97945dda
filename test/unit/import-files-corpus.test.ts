/// <reference types="vite/types/importMeta.d.ts" />
import { expect, it } from 'vitest'
import { type WholeFile, readWholeFile } from '../support/import-mapping/whole-file.ts'

const files = import.meta.glob<string>('../../packages/table-reader/test/corpus/*.{csv,xlsx}', {
  query: '?url&inline',
  import: 'default',
  eager: true,
})
const outcomes = import.meta.glob<WholeFile>('../support/import-files/*.json', { import: 'default', eager: true })

const findFile = (name: string): string =>
  Object.entries(files).find(([path]) => path.replace(/.*\//, '').replace(/\.\w+$/, '') === name)?.[1] ?? ''
const decodeBytes = (url: string): Uint8Array => Uint8Array.fromBase64(url.slice(url.indexOf(',') + 1))

const imports = Object.entries(outcomes).map(([path, outcome]) => {
  const name = path.replace(/.*\//, '').replace(/\.json$/, '')
  return [name, findFile(name), outcome] as const
})

it('most files of the corpus have an expected import', () => {
  expect(imports.length).toBeGreaterThanOrEqual(Object.keys(files).length - 6)
})

it.each(imports)('a file has the expected suggestions, questions and orders: %s', async (_name, url, expected) => {
  expect(await readWholeFile(decodeBytes(url), expected.answers)).toEqual(expected)
})
