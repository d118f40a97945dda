import { describe, expect, it } from 'vitest'
import { findNearestName } from '../../src/domain/text/nearest.ts'

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
