/// <reference types="vite/types/importMeta.d.ts" />
import { describe, expect, it } from 'vitest'
import { type CsvFormat, openBytes, type XlsxFormat } from '../../src/index.ts'
import { catchFault, cleanCells, inspectAndRead } from '../support/read.ts'

interface Expected {
  fault?: { code: string; line: number | null; column: number | null }
  format?: Partial<CsvFormat | XlsxFormat> & { headerLine: number }
  rows?: { line: number; kind: string; cells: string[]; fault?: string }[]
}

const files = import.meta.glob<string>('../corpus/*.{csv,xlsx}', {
  query: '?url&inline',
  import: 'default',
  eager: true,
})
const outcomes = import.meta.glob<Expected>('../corpus/*.json', { import: 'default', eager: true })

const outcomePath = (path: string): string => path.replace(/\.(?:csv|xlsx)$/, '.json')
const decodeBytes = (url: string): Uint8Array => Uint8Array.fromBase64(url.slice(url.indexOf(',') + 1))

describe('the files of the corpus', () => {
  it('have an expected result each', () => {
    expect(Object.keys(files).length).toBeGreaterThanOrEqual(50)
    expect(Object.keys(outcomes).toSorted()).toEqual(Object.keys(files).map(outcomePath).toSorted())
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
})
