/// <reference types="vite/types/importMeta.d.ts" />
import { describe, expect, it } from 'vitest'
import { type WholeFile, readWholeFile } from '../support/import-mapping/whole-file.ts'
import type { CsvFormat, XlsxFormat } from '../../src/domain/data-imports/files/format.ts'
import { openBytes } from '../../src/domain/data-imports/files/source.ts'
import { catchFault, inspectAndRead, cleanCells } from '../support/import-files.ts'

interface Expected {
  fault?: { code: string; line: number | null; column: number | null }
  format?: Partial<CsvFormat | XlsxFormat> & { headerLine: number }
  rows?: { line: number; kind: string; cells: string[]; fault?: string }[]
  import?: WholeFile
}

const files = import.meta.glob<string>('../support/import-files/*.{csv,xlsx}', {
  query: '?url&inline',
  import: 'default',
  eager: true,
})
const outcomes = import.meta.glob<Expected>('../support/import-files/*.json', { import: 'default', eager: true })

const outcomePath = (path: string): string => path.replace(/\.(?:csv|xlsx)$/, '.json')
const decodeBytes = (url: string): Uint8Array => Uint8Array.fromBase64(url.slice(url.indexOf(',') + 1))

describe('the files of the corpus', () => {
  it('have an expected result each', () => {
    expect(Object.keys(files).length).toBeGreaterThanOrEqual(50)
    expect(Object.keys(outcomes).toSorted()).toEqual(Object.keys(files).map(outcomePath).toSorted())
    const lacking = Object.entries(outcomes).filter(([, expected]) => !expected.fault && !expected.import)
    expect(lacking.map(([path]) => path)).toEqual([])
  })

  it.each(Object.entries(files).map(([path, url]) => [path.replace(/.*\//, ''), path, url]))(
    'are read as expected: %s',
    async (_name, path, url) => {
      const expected = outcomes[outcomePath(path)]!
      const reading = inspectAndRead(openBytes(decodeBytes(url), 7))
      if (expected.fault) {
        expect(await catchFault(reading)).toMatchObject(expected.fault)
        return
      }
      const { format, rows } = await reading
      const { headerLine, ...expectedFormat } = expected.format!
      expect({ ...format, headerLine: format.header?.line }).toMatchObject({ ...expectedFormat, headerLine })
      expect(
        rows.map(({ line, kind, cells, fault }) => ({
          line,
          kind,
          cells: cleanCells(cells),
          ...(fault ? { fault: fault.code } : {}),
        })),
      ).toEqual(expected.rows)
    },
  )

  const orders = Object.entries(files).flatMap(([path, url]) => {
    const expected = outcomes[outcomePath(path)]?.import
    return expected ? [[path.replace(/.*\//, ''), url, expected] as const] : []
  })

  it.each(orders)('have the expected suggestions, questions and orders: %s', async (_name, url, expected) => {
    expect(await readWholeFile(decodeBytes(url), expected.answers)).toEqual(expected)
  })
})
