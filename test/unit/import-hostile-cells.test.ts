import { describe, expect, it } from 'vitest'
import { normalizeEmail, normalizePhone } from '../../src/domain/accounts/users.ts'
import { parseDuration, parseTimestamp } from '../../src/domain/cel/instants.ts'
import { checkExpression, limits } from '../../src/domain/cel/index.ts'
import { findHeader } from '../../src/domain/data-imports/files/header.ts'
import { isTotal } from '../../src/domain/data-imports/files/rows.ts'
import { detectNumberKind } from '../../src/domain/data-imports/files/xlsx/number-formats.ts'
import { cleanCell } from '../../src/domain/data-imports/import-cells.ts'
import { countCells } from '../../src/domain/data-imports/mapping/index.ts'
import { readDate, readTime } from '../../src/domain/data-imports/mapping/columns/date-shape.ts'
import { readNumber } from '../../src/domain/data-imports/mapping/columns/number-shape.ts'
import {
  readCurrencyMark,
  readBoolean,
  readLanguage,
  readStatus,
  removeUnit,
} from '../../src/domain/data-imports/mapping/values/words.ts'
import { parseMailbox } from '../../src/domain/messaging/mailbox.ts'
import { mapTarget, readValue } from '../support/import-mapping/prepared.ts'

/** Repeats a piece to the longest text that a cell can have. */
const length = 262_144

const repeat = (piece: string): string => piece.repeat(Math.floor(length / piece.length))

/** Pieces that can be read in several ways, with an end that fits none of them. */
const pieces = [
  ['00s000s', '0', '1.', '.', '1,', ',-', '- ', ' ', '\n', 'uk_a', '_a', 'a_', 'a-', '_', 'a ', 'a.', '1:', '1/'],
  ['@', 'a@', '@a.', '<', '<a', 'a <', '"', '""', "'", '(', '[', '!', '(+', '+ ', '00 ', '"\\', '/', '$', '€1'],
].flat()
const texts = pieces.map(
  (piece) => [`${piece.slice(0, 2)}…`, `uk_${repeat(piece)}!!!`, `1 ${repeat(piece)}1`, repeat(piece)] as const,
)

/** A time that no parser needs: the faults took minutes, and a busy machine needs only seconds. */
const patience = { timeout: 20_000 }

describe.each(texts)('a cell of a quarter of a million characters of %s', patience, (_, ...cells) => {
  it.each([
    ['order.created', 'invalid_date'],
    ['order.amount', 'invalid_number'],
    ['item.unit_price', 'invalid_number'],
    ['item.quantity', 'invalid_number'],
    ['order.currency', 'invalid_currency'],
    ['order.status', 'invalid_value'],
    ['item.status', 'invalid_value'],
    ['consent.marketing', 'invalid_value'],
    ['customer.locale', 'invalid_value'],
    ['customer.email', 'invalid_email'],
    ['customer.phone_number', 'invalid_phone'],
  ])('gets an error in %s', (target, code) => {
    for (const cell of cells) {
      const expected = cleanCell(cell) === '' ? null : code
      expect(readValue(mapTarget(target), cell)).toBe(expected)
    }
  })

  it('is not a date, number, language, status or address, and counts only as text', () => {
    for (const cell of cells) {
      const parsers = [readDate, readTime, readNumber, readLanguage, readBoolean, readStatus, readCurrencyMark]
      expect(parsers.map((parser) => parser(cell))).toEqual(parsers.map(() => null))
      expect([normalizeEmail(cell), normalizePhone(cell, '+45'), parseMailbox(cell)]).toEqual([null, null, null])
      expect(removeUnit(cell)).toBe(cell)
      expect([parseTimestamp(cell), parseDuration(cell)]).toEqual(['invalid', 'invalid'])
      expect(countCells([cell]).dates.fixed).toBe(0)
    }
  })

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

describe('a text just below a limit', patience, () => {
  it.each([
    ['a date', 100, (text: string) => readDate(text)],
    ['a number', 100, (text: string) => readNumber(text)],
    ['a duration', 100, (text: string) => (parseDuration(text) === 'invalid' ? null : text)],
    ['a language', 100, (text: string) => (readLanguage(text) === 'other' ? null : readLanguage(text))],
    ['an e-mail address', 254, normalizeEmail],
  ])('is read as %s at once', (_, most, parse) => {
    for (const [, ...cells] of texts)
      for (const cell of cells)
        for (const end of ['', '!', '%', ' 1', '1!']) parse(`${cell.slice(0, most - end.length)}${end}`)
    expect(parse('!'.repeat(most))).toBeNull()
  })

  it('is a format of a spreadsheet, with its meaning there', () => {
    expect(detectNumberKind(164, `${'[Red]'.repeat(49)}yyyy-mm-dd`)).toEqual({ kind: 'date' })
    expect(detectNumberKind(164, `${'[x'.repeat(122)}yyyy-mm-dd`)).toEqual({ kind: 'date' })
  })

  it('is a duration up to 100 characters', () => {
    expect(parseDuration(`${'0'.repeat(98)}1s`)).toBe(1000n)
    expect(parseDuration(`${'0'.repeat(99)}1s`)).toBe('invalid')
    expect(parseDuration('1.5h2.m.5s')).toBe(5_520_500n)
  })

  it('is an expression whose parentheses are found', () => {
    const source = `("a" == "${String.raw`\n\"`.repeat(Math.floor((limits.characters - 11) / 4))}")`
    expect(source.length).toBeGreaterThan(limits.characters - 4)
    expect(checkExpression(source)).toMatchObject({ ok: true })
  })
})
