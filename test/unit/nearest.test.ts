import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  areNearWords,
  countEdits,
  differByOneTypo,
  findNearest,
  findNearestName,
} from '../../src/domain/text/nearest.ts'

const names = ['email', 'email_message_id', 'events', 'edition_id', 'description', 'name', 'sms_body']

describe('a misspelt name', () => {
  it.each([
    ['email_mesage_id', 'email_message_id'],
    ['email_message', 'email_message_id'],
    ['email_mesage_di', 'email_message_id'],
    ['emial', 'email'],
    ['emails', 'email'],
    ['email_address', null],
    ['event', 'events'],
    ['desc', 'description'],
    ['editon_id', 'edition_id'],
    ['NAME', 'name'],
    ['colour', null],
    ['', null],
    ['x'.repeat(65), null],
  ])('gets the nearest name as a suggestion: %s is %s', (text, name) => {
    expect(findNearestName(text, names)).toBe(name)
  })
})

describe('a misspelt value', () => {
  const listNames = (name: string) => [name]

  it('gets a suggestion by its edit distance', () => {
    const word = fc.string({ maxLength: 8 })
    fc.assert(
      fc.property(word, word, word, (a, b, c) => {
        expect(countEdits(a, b)).toBe(countEdits(b, a))
        expect(countEdits(a, b) === 0).toBe(a === b)
        expect(countEdits(a, c)).toBeLessThanOrEqual(countEdits(a, b) + countEdits(b, c))
      }),
    )
  })

  it.each([
    ['complete', 'completed'],
    ['COMPLETED', 'completed'],
    ['compelted', 'completed'],
    ['pend', 'pending'],
    ['xyz', null],
    ['', null],
    ['c', null],
  ])('gets a suggestion: %s is %s', (text, expected) => {
    expect(findNearest(text, ['pending', 'confirmed', 'completed', 'c-d'], listNames)).toBe(expected)
  })
})

describe('one typo', () => {
  it('is exactly one edit, or two neighbours that are swapped', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 })
    fc.assert(
      fc.property(word, word, (one, other) => {
        const isSwapped = [...one].some(
          (letter, at) => one.slice(0, at) + (one[at + 1] ?? '') + letter + one.slice(at + 2) === other,
        )
        expect(differByOneTypo(one, other)).toBe(countEdits(one, other) === 1 || (isSwapped && one !== other))
      }),
    )
  })

  it.each([
    ['day tickt', 'day ticket', true],
    ['dagsbilet', 'dagsbillet', true],
    ['weekend 2026', 'weekend 2027', false],
    ['fredag', 'lordag', false],
    ['barn', 'born', false],
    ['camping a', 'camping b', false],
    ['day ticket', 'day ticket', false],
    ['day tickt fridy', 'day ticket friday', false],
  ])('%s and %s are near: %s', (one, other, expected) => {
    expect(areNearWords(one.split(' '), other.split(' '))).toBe(expected)
  })
})
