import { describe, expect, it } from 'vitest'
import { findHeader } from '../src/header.ts'
import { isTotal } from '../src/rows.ts'
import { detectNumberKind } from '../src/xlsx/number-formats.ts'
import { texts } from './support/hostile-cells.ts'

/** A time that nothing needs: the faults took minutes, and a busy machine needs only seconds. */
const patience = { timeout: 20_000 }

describe.each(texts)('a cell of a quarter of a million characters of %s', patience, (_, ...cells) => {
  it('does not hide the names and the sums of a table', () => {
    for (const cell of cells) {
      const rows = [
        { cells: ['Order', 'Price', 'Note'], line: 1 },
        { cells: ['A-1', '12,00', cell], line: 2 },
      ]
      expect(findHeader(rows, null).index).toBe(0)
      expect(() => findHeader(rows.toReversed(), null)).not.toThrow(RangeError)
      expect(isTotal(['Total', `${cell}x`, '1'], 3)).toBe(false)
      expect(detectNumberKind(164, cell)).toEqual({ kind: 'number' })
    }
  })
})

it('a number format just below the limit has its meaning', () => {
  expect(detectNumberKind(164, `${'[Red]'.repeat(49)}yyyy-mm-dd`)).toEqual({ kind: 'date' })
  expect(detectNumberKind(164, `${'[x'.repeat(122)}yyyy-mm-dd`)).toEqual({ kind: 'date' })
})
