import * as fc from 'fast-check'
import { SegmentedMessage } from 'sms-segments-calculator'
import { describe, expect, it } from 'vitest'
import { measureSms } from '../../src/domain/messaging/sms-parts.ts'

/** Counts with a library that is right, and too slow for long texts. */
function sizeByLibrary(text: string) {
  const message = new SegmentedMessage(text)
  return {
    encoding: message.encodingName === 'GSM-7' ? 'gsm7' : 'ucs2',
    characters: message.numberOfCharacters,
    parts: message.segmentsCount,
  }
}

describe('the parts of an SMS', () => {
  it('end when a part is full, and split no character', () => {
    expect(measureSms('')).toEqual({ encoding: 'gsm7', characters: 0, parts: 1 })
    expect(measureSms('a'.repeat(160))).toEqual({ encoding: 'gsm7', characters: 160, parts: 1 })
    expect(measureSms('a'.repeat(161))).toEqual({ encoding: 'gsm7', characters: 161, parts: 2 })
    expect(measureSms(`${'a'.repeat(152)}€${'a'.repeat(152)}`)).toEqual({
      encoding: 'gsm7',
      characters: 306,
      parts: 3,
    })
    expect(measureSms('å'.repeat(161))).toMatchObject({ encoding: 'gsm7', parts: 2 })
    expect(measureSms('ł'.repeat(70))).toMatchObject({ encoding: 'ucs2', parts: 1 })
    expect(measureSms('ł'.repeat(71))).toMatchObject({ encoding: 'ucs2', parts: 2 })
    expect(measureSms('😀'.repeat(35))).toEqual({ encoding: 'ucs2', characters: 35, parts: 1 })
    expect(measureSms('😀'.repeat(67))).toEqual({ encoding: 'ucs2', characters: 67, parts: 3 })
    expect(measureSms(`a${'\u0301'.repeat(199)}`)).toEqual({ encoding: 'ucs2', characters: 1, parts: 3 })
  })

  it('are those of the reference library, for every single character', () => {
    const letters = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code))
    for (const letter of letters)
      expect([letter, measureSms(letter).encoding, measureSms(letter).characters]).toEqual([
        letter,
        sizeByLibrary(letter).encoding,
        sizeByLibrary(letter).characters,
      ])
  })

  it('are those of the reference library, for texts of all lengths', () => {
    const plain = fc.constantFrom('a', 'å', '€', '{', '\n', '\r\n', ' ')
    const any = fc.constantFrom('a', '€', '\n', '\r\n', 'ł', 'ø', '😀', 'e\u0301', '👩‍👩‍👧‍👦', '🇩🇰')
    const buildText = (letters: fc.Arbitrary<string>) =>
      fc
        .array(fc.tuple(letters, fc.integer({ min: 1, max: 80 })), { maxLength: 8 })
        .map((runs) => runs.map(([letter, times]) => letter.repeat(times)).join(''))
    fc.assert(
      fc.property(fc.oneof(buildText(plain), buildText(any)), (text) => {
        expect(measureSms(text)).toEqual(sizeByLibrary(text))
      }),
      { numRuns: 150 },
    )
  })

  // Quadratic time would exceed the time limit of a test.
  it.each(['x', 'ł', '😀', 'e\u0301'])('are counted in linear time for 600,000 characters: %s', (letter) => {
    expect(measureSms(letter.repeat(600_000 / letter.length)).parts).toBeGreaterThan(3600)
  })
})
