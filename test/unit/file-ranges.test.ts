import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  findFailedCondition,
  formatHttpDate,
  isRangeWanted,
  parseHttpDate,
  parseRange,
} from '../../src/domain/files/ranges.ts'

const part = (start: number, end: number) => ({ kind: 'part', start, end })
const wholeFile = { kind: 'whole' }
const unsatisfiable = { kind: 'unsatisfiable' }

describe('a Range header for 100 bytes', () => {
  it.each([
    [null, wholeFile],
    ['', wholeFile],
    ['bytes=0-0', part(0, 0)],
    ['bytes=0-99', part(0, 99)],
    ['bytes=0-', part(0, 99)],
    ['bytes=99-', part(99, 99)],
    ['bytes=10-19', part(10, 19)],
    ['bytes=90-1000', part(90, 99)],
    ['bytes=0-99999999999999999999999999', part(0, 99)],
    ['bytes=-1', part(99, 99)],
    ['bytes=-100', part(0, 99)],
    ['bytes=-99999999999999999999999999', part(0, 99)],
    ['BYTES = 0-1', part(0, 1)],
    ['bytes=0-1,', part(0, 1)],
    ['bytes=007-8', part(7, 8)],
    ['bytes=100-', unsatisfiable],
    ['bytes=100-200', unsatisfiable],
    ['bytes=99999999999999999999999999-', unsatisfiable],
    ['bytes=-0', unsatisfiable],
    ['bytes=5-4', wholeFile],
    ['bytes=0-1,5-6', wholeFile],
    ['bytes=-1,0-', wholeFile],
    ['bytes=-', wholeFile],
    ['bytes=', wholeFile],
    ['bytes', wholeFile],
    ['bytes=a-b', wholeFile],
    ['bytes=1', wholeFile],
    ['bytes=--1', wholeFile],
    ['bytes=1.0-2', wholeFile],
    ['bytes=0x1-2', wholeFile],
    ['bytes=+1-2', wholeFile],
    ['items=0-1', wholeFile],
    ['bytes=0 -1', wholeFile],
  ])('is read as the standard says: %j is %j', (header, expected) => {
    expect(parseRange(header, 100)).toEqual(expected)
  })

  it('has no part of an empty file', () => {
    expect(parseRange('bytes=0-0', 0)).toEqual(unsatisfiable)
    expect(parseRange('bytes=-1', 0)).toEqual(unsatisfiable)
    expect(parseRange(null, 0)).toEqual(wholeFile)
  })

  it('gets the bytes of the standard, for any two numbers and any size', () => {
    const number = fc.oneof(fc.nat(30), fc.bigInt({ min: 0n, max: 10n ** 30n }))
    const ranges = fc.record({ first: fc.option(number), last: fc.option(number), size: fc.nat(25) })
    fc.assert(
      fc.property(ranges, ({ first, last, size }) => {
        const range = parseRange(`bytes=${first ?? ''}-${last ?? ''}`, size)
        const all = Array.from({ length: size }, (_, index) => index)
        const isRange = first === null ? last !== null : last === null || BigInt(last) >= BigInt(first)
        const named =
          first === null
            ? all.filter((at) => BigInt(size - at) <= BigInt(last ?? 0))
            : all.filter((at) => BigInt(at) >= BigInt(first) && (last === null || BigInt(at) <= BigInt(last)))
        const expected = named.length ? part(named[0] ?? -1, named.at(-1) ?? -1) : unsatisfiable
        expect(range).toEqual(isRange ? expected : wholeFile)
      }),
      { numRuns: 2000 },
    )
  })

  it('never leads outside of the file, for any header', () => {
    const text = fc.stringMatching(/^(?:bytes=)?[-0-9, a]{0,12}$/)
    fc.assert(
      fc.property(fc.oneof(text, fc.string()), fc.nat(50), (header, size) => {
        const range = parseRange(header, size)
        if (range.kind !== 'part') return
        expect(range.start).toBeGreaterThanOrEqual(0)
        expect(range.end).toBeGreaterThanOrEqual(range.start)
        expect(range.end).toBeLessThan(size)
      }),
      { numRuns: 2000 },
    )
  })
})

const modifiedAt = Date.UTC(2026, 5, 1, 10, 0, 0, 700)
const current = { etag: '"abc"', modifiedAt }
const same = formatHttpDate(modifiedAt)
const earlier = formatHttpDate(modifiedAt - 60_000)
const later = formatHttpDate(modifiedAt + 60_000)

describe('a conditional request', () => {
  it.each([
    [{}, null],
    [{ 'if-none-match': '"abc"' }, 304],
    [{ 'if-none-match': 'W/"abc"' }, 304],
    [{ 'if-none-match': '"x", W/"y" ,"abc"' }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': '"x,abc"' }, null],
    [{ 'if-none-match': 'abc' }, null],
    [{ 'if-none-match': '"abc' }, null],
    [{ 'if-none-match': '"x"' }, null],
    [{ 'if-none-match': '"x"', 'if-modified-since': later }, null],
    [{ 'if-none-match': '"abc"', 'if-modified-since': earlier }, 304],
    [{ 'if-modified-since': same }, 304],
    [{ 'if-modified-since': later }, 304],
    [{ 'if-modified-since': earlier }, null],
    [{ 'if-modified-since': 'yesterday' }, null],
    [{ 'if-modified-since': '2026-06-01T10:00:00Z' }, null],
    [{ 'if-match': '"abc"' }, null],
    [{ 'if-match': '*' }, null],
    [{ 'if-match': 'W/"abc"' }, 412],
    [{ 'if-match': '"x"' }, 412],
    [{ 'if-match': '"x"', 'if-none-match': '"abc"' }, 412],
    [{ 'if-match': '"abc"', 'if-none-match': '"abc"' }, 304],
    [{ 'if-match': '"abc"', 'if-unmodified-since': earlier }, null],
    [{ 'if-unmodified-since': earlier }, 412],
    [{ 'if-unmodified-since': same }, null],
    [{ 'if-unmodified-since': 'never' }, null],
  ])('is decided as the standard says: %j gets %j', (headers, expected) => {
    expect(findFailedCondition(new Headers(headers), current)).toBe(expected)
  })

  it.each([
    [null, true],
    ['"abc"', true],
    ['W/"abc"', false],
    ['"x"', false],
    [same, true],
    [earlier, false],
    [later, false],
    ['abc', false],
  ])('honours Range with If-Range %j: %j', (header, expected) => {
    expect(isRangeWanted(header, current)).toBe(expected)
  })
})

describe('an HTTP date', () => {
  it.each([
    ['Sun, 06 Nov 1994 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Sunday, 06-Nov-94 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Sunday, 06-Nov-30 08:49:37 GMT', Date.UTC(2030, 10, 6, 8, 49, 37)],
    ['Sun Nov  6 08:49:37 1994', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Sun, 06 Nov 1994 08:49:37', null],
    ['Sun, 6 Nov 1994 08:49:37 GMT', null],
    ['Sun, 06 Nov 1994 25:49:37 GMT', null],
    ['1994', null],
  ])('is read in each form of the standard, and otherwise ignored: %j', (text, expected) => {
    expect(parseHttpDate(text, Date.UTC(2026, 0, 1))).toBe(expected)
  })
})
