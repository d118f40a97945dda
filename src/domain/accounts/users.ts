import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { digitsOf, fold, searchSeparator } from '../text/fold.ts'

export const maxEmailLength = 254
export const maxPhoneLength = 32
export const maxPersonNameLength = 80

export const messageChannels = ['email', 'sms'] as const

export const fullName = (person: { first_name: string; last_name: string }): string =>
  `${person.first_name} ${person.last_name}`.trim()

/** An address has a domain of two or more labels, and no white space, which could break a header. */
const emailPattern =
  /^[^\s@"<>(),;:\\[\]\p{C}]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,63}$/u

/** Normalizes an address to the form that is stored and compared. Answers null for an invalid address. */
export function normalizeEmail(text: string): string | null {
  const email = text.trim().normalize('NFC').toLowerCase()
  if (email.length > maxEmailLength) return null
  const [local = ''] = email.split('@')
  const hasMisplacedDot = local.startsWith('.') || local.endsWith('.') || local.includes('..')
  return !hasMisplacedDot && emailPattern.test(email) ? email : null
}

/** A country code as people write it before a number: `+45`, `0045`, `(+45)`, `(0045)`. */
const internationalPrefix = /^\s*(?:\(\s*(?:\+|00)\s*([1-9]\d{0,3})\s*\)|(?:\+|00)(?=\s*(?:\(\s*)?[1-9]))/

/**
 * Normalizes a phone number to E.164. Answers null for an invalid one. A number without a country code gets
 * `countryCode`.
 */
export function normalizePhone(text: string, countryCode: string | null): string | null {
  if (text.length > maxPhoneLength) return null
  const international = text.replace(internationalPrefix, (_, code: string | undefined) => `+${code ?? ''}`)
  const number = parsePhoneNumberFromString(international, {
    extract: false,
    ...(countryCode ? { defaultCallingCode: countryCode.replace('+', '') } : {}),
  })
  return number?.isValid() ? number.number : null
}

export const isE164 = (text: string): boolean => /^\+[1-9]\d{5,14}$/.test(text)

/** Returns the number that messages are sent to. Stored numbers are E.164 already, and parsing them again is slow. */
export const getDialledPhone = (stored: string, countryCode: string | null): string | null =>
  isE164(stored) ? stored : normalizePhone(stored, countryCode)

export interface Contact {
  email: string | null
  phone_number: string | null
  first_name: string
  last_name: string
}

/** The columns of a customer who was erased. */
export const erasedContact = {
  email: null,
  phone_number: null,
  first_name: '',
  last_name: '',
  metadata: {},
  phone_digits: '',
  search_text: '',
  is_active: false,
  is_verified: false,
  last_seen_at: null,
}

/** Builds the columns that searches read. */
export function buildSearchColumns(contact: Contact) {
  const phone_digits = digitsOf(contact.phone_number ?? '')
  const texts = [fold(fullName(contact)), fold(contact.email ?? ''), phone_digits]
  return { phone_digits, search_text: texts.some((text) => text !== '') ? texts.join(searchSeparator) : '' }
}

/** Whether a word belongs to the last name after it, as in Maria de la Cruz. */
const isParticle = (word: string | undefined): boolean =>
  word !== undefined && word !== word.toUpperCase() && word === word.toLowerCase()

/**
 * Splits a full name. The text before a comma is the last name. Without a comma it is the last word and, unless that is
 * lower-case, the lower-case words before it. A single word is a first name.
 */
export function splitFullName(text: string): { first_name: string; last_name: string } {
  const name = text.trim().replaceAll(/\s+/g, ' ')
  const comma = name.indexOf(',')
  if (comma >= 0) return { first_name: name.slice(comma + 1).trim(), last_name: name.slice(0, comma).trim() }
  const words = name.split(' ')
  let from = words.length - 1
  if (!isParticle(words[from])) while (from > 1 && isParticle(words[from - 1])) from--
  return from === 0
    ? { first_name: name, last_name: '' }
    : { first_name: words.slice(0, from).join(' '), last_name: words.slice(from).join(' ') }
}
