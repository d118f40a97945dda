import { parse } from 'csv-parse/browser/esm/sync'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { calculateSegmentProgress, isStale, segmentLifecycle, segmentStatuses } from '../../src/domain/segments.ts'
import { formatCsvRecord } from '../../src/domain/text/csv.ts'

describe('a CSV record', () => {
  it('is read back as it was written, for any values', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 2, maxLength: 5 }), (cells) => {
        const [row] = parse(formatCsvRecord(cells), { relax_column_count: true })
        const bare = row?.map((cell, index) => (cell === `'${cells[index]}` ? cells[index] : cell))
        expect(bare).toEqual(cells)
      }),
    )
  })

  it('never begins a cell like a formula, except for signed numbers and a dash alone', () => {
    const formula = fc
      .tuple(fc.constantFrom('=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'), fc.string())
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(formula, (text) => {
        const [[cell]] = parse(formatCsvRecord([text])) as [[string]]
        const harmless = /^(?:-|[+-][ (]*\d[\d .()]*)([,;|\t\r\n]|$)|^="[^"]*"$/
        expect(cell.startsWith("'")).toBe(!harmless.test(text))
      }),
    )
    expect(formatCsvRecord(['+45 32 12 34 56', '+1', null, 7, '-'])).toBe('+45 32 12 34 56,+1,,7,-\r\n')
  })

  it.each([',', ';', '\t', '|'])('runs no formula in a spreadsheet that cuts cells at %j', (delimiter) => {
    const cells = ['a;=1+1', 'b\t@SUM(1)', 'c,+x', 'd|-y', 'e;"=1"', 'f\r\n=1', 'g;＝1']
    for (const cell of cells) {
      const pieces = formatCsvRecord([cell]).split(new RegExp(`[${delimiter}\r\n]`))
      for (const piece of pieces) expect(piece.replace(/^["\s]*/, '')).not.toMatch(/^[=+\-@＝]/)
    }
  })
})

describe('a segment', () => {
  it('can leave every state', () => {
    for (const status of segmentStatuses) {
      const reached = new Set([status])
      for (let size = 0; size !== reached.size;) {
        size = reached.size
        for (const state of reached) for (const target of segmentLifecycle.targetsOf(state)) reached.add(target)
      }
      expect([...reached].toSorted()).toEqual([...segmentStatuses].toSorted())
    }
  })

  it('is stale a day after it was calculated', () => {
    const at = { status: 'ready', calculated_at: 1000 }
    expect([isStale(at, 86_400_999), isStale(at, 86_401_000)]).toEqual([false, true])
    expect(isStale({ status: 'failed', calculated_at: 1000 }, 86_401_000)).toBe(false)
  })

  it('has a progress in whole hundredths that reaches 1 only at the end', () => {
    const calculateProgress = (status: string, walked_count: number, population_count: number) =>
      calculateSegmentProgress({ status, walked_count, population_count })
    expect([
      calculateProgress('calculating', 0, 0),
      calculateProgress('calculating', 25_000, 75_000),
      calculateProgress('calculating', 75_000, 60_000),
    ]).toEqual([0, 0.33, 1])
    expect([calculateProgress('draft', 5, 5), calculateProgress('ready', 0, 0)]).toEqual([0, 1])
  })
})
