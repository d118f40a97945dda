import { cleanCell } from '@ecms/table-reader'
import { describe, expect, it } from 'vitest'
import { texts } from '../../packages/table-reader/test/support/hostile-cells.ts'
import { normalizeEmail, normalizePhone } from '../../src/domain/accounts/users.ts'
import { checkExpression, limits } from '../../src/domain/cel/index.ts'
import { parseDuration, parseTimestamp } from '../../src/domain/cel/instants.ts'
import { readDate, readTime } from '../../src/domain/data-imports/mapping/columns/date-shape.ts'
import { readNumber } from '../../src/domain/data-imports/mapping/columns/number-shape.ts'
import { countCells } from '../../src/domain/data-imports/mapping/index.ts'
import {
  readCurrencyMark,
  readBoolean,
  readLanguage,
  readStatus,
  removeUnit,
} from '../../src/domain/data-imports/mapping/values/words.ts'
import { parseMailbox } from '../../src/domain/messaging/mailbox.ts'
import { mapTarget, readValue } from '../support/import-mapping/prepared.ts'

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
      expect(countCells([cell]).dates.fixed_dates).toBe(0)
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
