import { array, assert, constantFrom, integer, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readId, RowSplitter } from '../cli/exports/rows.ts'

const quote = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

/** Cells with what CSV has to quote, and with letters of several bytes. */
const cell = string({ unit: constantFrom('a', '"', ',', '\n', '\r', 'ø', '🎪', ' ') })

/** Cuts the bytes at these places, and gives the rows that are complete after each piece. */
function split(format: 'csv' | 'ndjson', bytes: Uint8Array, cuts: readonly number[]) {
  const splitter = new RowSplitter(format)
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((one, other) => one - other)
  let start = 0
  const pieces = places.map((end) => {
    const piece = splitter.push(bytes.subarray(start, end))
    start = end
    return piece
  })
  return { pieces, rest: splitter.rest }
}

describe('the rows of an export', () => {
  it('are the same wherever the connection divides them', () => {
    assert(
      property(
        array(array(cell, { minLength: 2, maxLength: 3 }), { minLength: 1 }),
        array(integer({ min: 0 })),
        (table, cuts) => {
          const rows = table.map((cells, index) => `${[`ord_${index}`, ...cells].map(quote).join(',')}\r\n`)
          const { pieces, rest } = split('csv', new TextEncoder().encode(rows.join('')), cuts)
          expect(Buffer.concat(pieces.map(({ bytes }) => bytes)).toString()).toBe(rows.join(''))
          expect(rest).toHaveLength(0)
          expect(pieces.reduce((sum, { count }) => sum + count, 0)).toBe(rows.length)
          let count = 0
          for (const piece of pieces) {
            if (piece.count === 0) continue
            expect(piece.first).toBe(rows[count])
            count += piece.count
            expect(piece.last).toBe(rows[count - 1])
            expect(readId('csv', 'id,a\r\n', piece.last ?? '')).toBe(`ord_${count - 1}`)
          }
        },
      ),
    )
  })

  it('have their id in any column, behind a byte order mark, and in lines of JSON', () => {
    expect(readId('csv', '\uFEFFname,id\r\n', '"a ""b"", c",ord_1\r\n')).toBe('ord_1')
    expect(readId('csv', 'name,amount\r\n', 'a,ord_1\r\n')).toBeNull()
    expect(readId('ndjson', '{"id":"ord_0"}\n', '{"id":"ord_1","name":"\\n"}\n')).toBe('ord_1')
    expect(readId('ndjson', '{"name":"b"}\n', '{"name":"a"}\n')).toBeNull()
  })

  it('that are cut off stay behind', () => {
    const { pieces, rest } = split('csv', new TextEncoder().encode('id,a\r\nord_1,"x\r\ny'), [])
    expect(pieces[0]).toMatchObject({ count: 1, last: 'id,a\r\n' })
    expect(Buffer.from(rest).toString()).toBe('ord_1,"x\r\ny')
  })
})
