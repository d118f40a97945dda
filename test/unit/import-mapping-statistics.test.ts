import { cleanCell } from '@ecms/table-reader'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ColumnCounter, mergeStatistics, countCells } from '../../src/domain/data-imports/mapping/index.ts'
import { readBoolean, readStatus } from '../../src/domain/data-imports/mapping/values/words.ts'

const cell = fc.oneof(
  fc.constantFrom(
    '',
    '-',
    'n/a',
    ' ',
    '1.234',
    '12,50',
    '17/04/2026',
    '2026-04-17 10:00',
    'a@example.com',
    'Ja',
    'Betalt',
  ),
  fc.constantFrom(
    'DKK',
    '+4520123456',
    '__proto__',
    'constructor',
    '10:15',
    'Anna Holm',
    'TK-9A1',
    'https://example.com',
  ),
  fc.nat(99).map(String),
  fc.string({ unit: 'binary', maxLength: 100 }),
)

describe('the statistics of a column', () => {
  it('count the kinds that its cells can be', () => {
    const { filled_cells, blank_cells, kinds, samples, values } = countCells([
      'a@example.com',
      '',
      'Ja',
      ' Ja ',
      '12,50',
      'n/a',
      '2026-04-17',
    ])
    expect({ filled_cells, blank_cells }).toEqual({ filled_cells: 5, blank_cells: 2 })
    expect(kinds).toMatchObject({ email: 1, boolean: 2, number: 1, date: 1 })
    expect(samples).toEqual(['a@example.com', 'Ja', '12,50', '2026-04-17'])
    expect(values).toEqual({ 'a@example.com': 1, Ja: 2, '12,50': 1, '2026-04-17': 1 })
  })

  it('count "null" as text and not as blank', () => {
    expect(countCells(['null', 'Null', 'NULL'])).toMatchObject({ filled_cells: 3, blank_cells: 0 })
  })

  it('are the same when the column is read in any number of parts', () => {
    fc.assert(
      fc.property(fc.array(cell, { maxLength: 50 }), fc.nat(50), (cells, cut) => {
        const statistics = countCells(cells)
        expect(mergeStatistics(countCells(cells.slice(0, cut)), countCells(cells.slice(cut)))).toEqual(statistics)
        expect(JSON.parse(JSON.stringify(statistics))).toEqual(statistics)
      }),
      { numRuns: 200 },
    )
  })

  it('have a limited size, for any column', () => {
    const counter = new ColumnCounter()
    for (let index = 0; index < 5000; index++) counter.add(`${index} ${'x'.repeat(index)}`)
    const { statistics } = counter
    expect(statistics.filled_cells).toBe(5000)
    expect(statistics.has_more_values).toBe(true)
    expect(JSON.stringify(statistics).length).toBeLessThan(10_000)
  })
})

it('a word is counted when the readers of words read it, whatever else its cell has', () => {
  const pieces = ['1', '0', '7', '(', ')', '"', ' ', '.', '!', 'ja', 'no', 'paid', 'x', 'da', 'sold', '✓', '\uff11']
  const words = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(words, (text) => {
      const clean = cleanCell(text)
      fc.pre(clean !== '')
      const { kinds } = countCells([text])
      expect(kinds.boolean).toBe(readBoolean(clean) === null ? 0 : 1)
      expect(kinds.status).toBe(readStatus(clean) === null ? 0 : 1)
    }),
  )
})
