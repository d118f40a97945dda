import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/domain/errors.ts'
import { checkContent, partsLimits } from '../../src/domain/files/content.ts'
import { headBytes } from '../../src/domain/files/files.ts'
import { ImageEndFinder } from '../../src/domain/files/image-end.ts'
import { makeGif, latin, nestedAvif } from '../support/file-bytes.ts'
import { type Expected, harmlessFiles, type HostileFile, hostileFiles } from '../support/hostile-files.ts'
import { image, imageNames } from '../support/images.ts'

/** True if an image that comes in chunks of this length ends before its last part. */
function isCutOff(content: Uint8Array, chunkLength = 1000): boolean {
  const end = new ImageEndFinder()
  for (let at = 0; at < content.length; at += chunkLength) end.add(content.subarray(at, at + chunkLength))
  return end.isCutOff
}

/** Judges a file, and returns the verdict in the words of the table. */
function judgeFile({ content, size, declared }: Pick<HostileFile, 'content' | 'size' | 'declared'>) {
  try {
    const verdict = checkContent({
      head: content.subarray(0, headBytes),
      size: size ?? content.length,
      declaredType: declared ?? null,
      is_cut_off: isCutOff(content),
    })
    return verdict.width === null ? [verdict.mime_type] : [verdict.mime_type, verdict.width, verdict.height]
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const [field] = error.errors
    expect(field).toMatchObject({ attr: 'file', pointer: '#/file' })
    return [field?.code, field?.detail]
  }
}

const inWords = ([first, ...rest]: Expected) => [
  first,
  ...rest.map((value) => (value instanceof RegExp ? expect.stringMatching(value) : value)),
]

describe('the content of a file', () => {
  it('is tested with at least 60 malicious files', () => expect(hostileFiles.length).toBeGreaterThanOrEqual(60))

  it.each([...hostileFiles, ...harmlessFiles])('is accepted or refused as expected: $name', (file) => {
    expect(judgeFile(file)).toEqual(inWords(file.expected))
  })

  it('may have 500 MB as a table in parts, and no more as an image', () => {
    const table = latin('a,b\n1,2\n')
    const check = (head: Uint8Array, size: number) => checkContent({ head, size, declaredType: null }, partsLimits)
    expect(check(table, 500_000_000)).toMatchObject({ mime_type: 'text/csv' })
    expect(() => check(table, 500_000_001)).toThrow(/500000000/)
    expect(() => check(image('png'), 10_000_001)).toThrow(/10000000/)
  })

  it('is refused when it is an image that is cut off anywhere', () => {
    for (const name of imageNames) {
      const whole = image(name)
      for (let length = 0; length < whole.length; length++) {
        const verdict = judgeFile({ content: whole.slice(0, length) })
        expect(verdict[0], `${name} cut at ${length}`).toMatch(/^(?:empty_file|invalid_image|unsupported_file_type)/)
      }
      expect(judgeFile({ content: whole })[0], name).toMatch(/^image\//)
    }
  })

  it('is a whole image whatever follows its end, and in chunks of any length', () => {
    for (const name of ['png', 'jpeg', 'turnedJpeg', 'gif'] as const)
      for (const chunkLength of [1, 2, 7, 1000]) {
        expect(isCutOff(image(name), chunkLength), name).toBe(false)
        expect(isCutOff(image(name).subarray(0, -1), chunkLength), name).toBe(true)
        expect(isCutOff(Uint8Array.from([...image(name), ...latin('moov')]), chunkLength), name).toBe(false)
      }
  })

  it('is accepted or refused, with at most 40 megapixels, when it is changed anywhere', () => {
    const change = fc.record({ at: fc.nat(1100), to: fc.nat(255) })
    fc.assert(
      fc.property(fc.constantFrom(...imageNames), fc.array(change, { minLength: 1, maxLength: 4 }), (name, changes) => {
        const content = image(name)
        for (const { at, to } of changes) content[at % content.length] = to
        const [type, width, height] = judgeFile({ content })
        if (typeof width === 'number' && typeof height === 'number') {
          expect(width * height).toBeLessThanOrEqual(40_000_000)
          expect(type).toMatch(/^image\//)
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('is accepted or refused when it is random, after any first bytes', () => {
    const starts = [
      '',
      'GIF89a',
      'RIFF\u0010\0\0\0WEBPVP8X',
      '\0\0\0\u0018ftypavif',
      'PK\u0003\u0004',
      '\u00ff\u00d8\u00ff\u00e1',
    ]
    fc.assert(
      fc.property(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 400 }), (start, rest) => {
        expect(judgeFile({ content: Uint8Array.from([...latin(start), ...rest]) })[0]).toEqual(expect.any(String))
      }),
      { numRuns: 1000 },
    )
  })

  // Quadratic time would exceed the time limit of a test.
  it('is read in linear time up to 1 MB', () => {
    const frames = Array.from({ length: 40_000 }, () => ({ width: 1, height: 1 }))
    const lists = [
      makeGif(1, 1, frames),
      nestedAvif(20_000),
      latin('a,'.repeat(500_000)),
      latin('"'.repeat(1_000_000)),
      latin('PK\u0003\u0004'.repeat(260_000)),
      latin(`\u00ff\u00d8${'\u00ff\u00d0'.repeat(500_000)}`),
      latin(`\u0089PNG\r\n\u001a\n${'\0'.repeat(1_000_000)}`),
      latin(`GIF89a${'\0'.repeat(7)}!\u00fe${'\u0001x'.repeat(500_000)}`),
    ]
    for (const content of lists) expect(judgeFile({ content })[0]).toEqual(expect.any(String))
  })
})
