import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  extractDigits,
  fold,
  listPhoneDigits,
  parsePhoneNeedles,
  searchSeparator,
  buildSearchText,
} from '../../src/domain/text/fold.ts'

const text = fc.string({ unit: 'binary', maxLength: 30 })
const words = fc.string({ unit: fc.constantFrom(...Array.from('aÅåØøÆæßŁłçéñİıΣσςéﬁ①ÞðĦ -’´`‑–−')), maxLength: 12 })
const any = fc.oneof(text, words)

describe('a text that is folded for searches', () => {
  it('stays as it is when it is folded again', () => {
    fc.assert(fc.property(any, (one) => fold(fold(one)) === fold(one)))
  })

  it('has no accents, no spellings of accents, and no case', () => {
    fc.assert(fc.property(any, (one) => fold(one.normalize('NFC')) === fold(one.normalize('NFD'))))
    fc.assert(fc.property(words, (one) => fold(one.toUpperCase()) === fold(one.toLowerCase())))
  })

  it('has the same plain letters, before any other characters', () => {
    const plain = fc.string({ unit: 'grapheme-ascii', maxLength: 30 })
    fc.assert(fc.property(plain, (one) => fold(`${one}É`) === `${fold(one)}e`))
  })

  it('contains every part of the text that is folded', () => {
    fc.assert(fc.property(any, any, any, (before, part, after) => fold(before + part + after).includes(fold(part))))
  })

  it.each([
    ['Ægir Ørsted', 'aegir orsted'],
    ['Łódź', 'lodz'],
    ['Straße', 'strasse'],
    ['İstanbul ıI', 'istanbul ii'],
    ['ΟΔΥΣΣΕΥΣ', 'οδυσσευσ'],
    ['ﬁne ①', 'fine 1'],
    ['a\u0000b\u001fc\n', 'abc'],
    ['O’Brien O‘B OʼB O`B O´B', "o'brien o'b o'b o'b o'b"],
    ['Early‐bird Early‑bird Early–bird Early—bird −1', 'early-bird early-bird early-bird early-bird -1'],
    ['“VIP” „VIP“', '"vip" "vip"'],
  ])('is made of %s: %s', (input, folded) => {
    expect(fold(input)).toBe(folded)
  })

  it('keeps the fields of a search column separate', () => {
    fc.assert(
      fc.property(any, any, (one, other) => {
        const column = buildSearchText(one, null, other, undefined, '')
        const fields = [one, other].filter((field) => field !== '').map(fold)
        expect(column.split(searchSeparator)).toEqual(fields.length ? fields : [''])
      }),
    )
  })
})

describe('a search for a telephone number', () => {
  it('is recognised by its characters', () => {
    expect(parsePhoneNeedles('+45 20 12-34')).toEqual(['45201234'])
    expect(parsePhoneNeedles('(020) 123.4/5')).toEqual(['02012345', '2012345'])
    for (const no of ['', '12', 'abc', '12 ab 34', '٣٤٥']) expect(parsePhoneNeedles(no)).toEqual([])
    fc.assert(fc.property(any, (one) => /^\d*$/.test(extractDigits(one))))
  })

  it.each([
    ['0045 32 12', ['00453212', '453212']],
    ['(0045) 32 12 34', ['0045321234', '45321234']],
    ['+44 (0)20 7946', ['440207946', '44207946']],
    ['070-174 06', ['07017406', '7017406']],
    ['0958', ['0958']],
    ['000', ['000']],
    ['abc', []],
  ])('leaves out of %s what is only dialled', (needle, digits) => {
    expect(listPhoneDigits(needle)).toEqual(digits)
  })
})
