/// <reference types="vite/types/importMeta.d.ts" />
import { describe, expect, it } from 'vitest'
import type { CsvFormat } from '../../src/domain/import-files/format.ts'
import { fileOfBytes } from '../../src/domain/import-files/source.ts'
import { faultOf, inspectAndRead, meantCells } from '../support/import-files.ts'

interface Expected {
  fault?: { code: string; line: number | null; column: number | null }
  format?: Partial<CsvFormat> & { headerLine: number }
  rows?: { line: number; kind: string; cells: string[]; fault?: string }[]
}

const files = import.meta.glob<string>('../support/import-files/*.csv', {
  query: '?url&inline',
  import: 'default',
  eager: true,
})
const outcomes = import.meta.glob<Expected>('../support/import-files/*.json', { import: 'default', eager: true })

const bytesOf = (url: string): Uint8Array => Uint8Array.fromBase64(url.slice(url.indexOf(',') + 1))

describe('files as people bring them', () => {
  it('are all there, each with what is expected of it', () => {
    expect(Object.keys(files).length).toBeGreaterThanOrEqual(25)
    expect(Object.keys(outcomes)).toEqual(Object.keys(files).map((path) => path.replace('.csv', '.json')))
  })

  it.each(Object.entries(files).map(([path, url]) => [path.replace(/.*\/(.*)\.csv/, '$1'), path, url]))(
    'reads %s',
    async (_name, path, url) => {
      const expected = outcomes[path.replace('.csv', '.json')]!
      const reading = inspectAndRead(fileOfBytes(bytesOf(url), 7))
      if (expected.fault) {
        expect(await faultOf(reading)).toMatchObject(expected.fault)
        return
      }
      const { format, rows } = await reading
      const { headerLine, ...expectedFormat } = expected.format!
      expect({ ...format, headerLine: format.header?.line }).toMatchObject({ ...expectedFormat, headerLine })
      expect(
        rows.map(({ line, kind, cells, fault }) => ({
          line,
          kind,
          cells: meantCells(cells),
          ...(fault ? { fault: fault.code } : {}),
        })),
      ).toEqual(expected.rows)
    },
  )
})
