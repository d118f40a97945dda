import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { toAsciiDomain, toUnicodeDomain } from '../messaging/domain-names.ts'
import { unquoteLocalPart } from '../messaging/mailbox.ts'
import { extractDigits, fold, searchSeparator } from '../text/fold.ts'
import { cleanKey, cleanName } from '../text/invisible.ts'

export const maxEmailLength = 254
export const maxPhoneLength = 32
export const maxPersonNameLength = 80

export const messageChannels = ['email', 'sms'] as const

export const formatFullName = (person: { first_name: string; last_name: string }): string =>
  `${person.first_name} ${person.last_name}`.trim()

/** It has no white space, so it can never break a header. */
const localPattern = /^(?!\.)(?!.*\.\.)[^\s@"<>(),;:\\[\]\p{C}]{1,64}(?<!\.)$/u
/** At least two labels. */
const domainPattern = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/

/**
 * The form in which addresses are stored and compared, which is one for each mailbox: NFKC, in lower case, without
 * invisible characters, without quotes around the part before the `@`, and with the domain in Unicode. Null: the text is
 * not an address.
 */
export function normalizeEmail(text: string): string | null {
  const email = unquoteLocalPart(cleanKey(text.trim()).normalize('NFKC').toLowerCase().normalize('NFKC'))
  if (email.length > maxEmailLength) return null
  const at = email.lastIndexOf('@')
  const [localPart, domain] = [email.slice(0, Math.max(0, at)), toAsciiDomain(email.slice(at + 1))]
  if (domain === null || localPart.length + 1 + domain.length > maxEmailLength) return null
  return localPattern.test(localPart) && domainPattern.test(domain) ? `${localPart}@${toUnicodeDomain(domain)}` : null
}

/**
 * The form in which addresses of members are stored and compared with those of an identity provider: the part before the
 * `@` by ASCII case, the domain by its DNS form, and nothing else, so that nobody signs in by an address that looks like
 * another. Null: the text is not an address, or has letters that look like others in a compatible form.
 */
export function normalizeAccountEmail(text: string): string | null {
  const isPlain = cleanKey(text.trim()) === text.normalize('NFC') && text.normalize('NFKC') === text.normalize('NFC')
  if (text.length > maxEmailLength || !isPlain) return null
  const localPart = text
    .slice(0, Math.max(0, text.lastIndexOf('@')))
    .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
  const email = normalizeEmail(text)
  // The form of customers' addresses may change nothing else.
  return email?.slice(0, email.lastIndexOf('@')) === localPart ? email : null
}

const dnsDomain = /(?<![a-z0-9.-])[a-z0-9.-]{0,250}xn--[a-z0-9.-]{1,250}/gi

/** A part of an address, such as `@xn--bcher-kva.example`, in the form in which addresses are stored. */
export const normalizeEmailPart = (text: string): string =>
  normalizeEmail(text) ??
  text
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFKC')
    .replaceAll(dnsDomain, (domain) => toUnicodeDomain(domain))

/** The ways to write a country code before a number: `+45`, `0045`, `(+45)`, `(0045)`. */
const internationalPrefix = /^\s*(?:\(\s*(?:\+|00)\s*([1-9]\d{0,3})\s*\)|(?:\+|00)(?=\s*(?:\(\s*)?[1-9]))/

/** E.164, or null if the text is not a phone number. Numbers without a country code get `countryCode`, such as `+45`. */
export function normalizePhone(text: string, countryCode: string | null): string | null {
  const visibleText = cleanKey(text)
  if (visibleText.length > maxPhoneLength) return null
  const international = visibleText.replace(internationalPrefix, (_, code: string | undefined) => `+${code ?? ''}`)
  const number = parsePhoneNumberFromString(international, {
    extract: false,
    ...(countryCode ? { defaultCallingCode: countryCode.replace('+', '') } : {}),
  })
  return number?.isValid() ? number.number : null
}

/** The digits of a stored number with and without its country code. */
export function listNumberForms(storedNumber: string): string[] {
  const national = parsePhoneNumberFromString(storedNumber)?.nationalNumber
  return [extractDigits(storedNumber), ...(national ? [national] : [])]
}

export const isE164 = (text: string): boolean => /^\+[1-9]\d{5,14}$/.test(text)

/** The number to send messages to. Stored numbers usually are E.164 already, and parsing them again is slow. */
export const parseStoredPhone = (storedNumber: string, countryCode: string | null): string | null =>
  isE164(storedNumber) ? storedNumber : normalizePhone(storedNumber, countryCode)

export interface Contact {
  email: string | null
  phone_number: string | null
  first_name: string
  last_name: string
}

/** The contact columns of an erased customer, in the organisation and in each edition. */
export const erasedContact = {
  email: null,
  phone_number: null,
  first_name: '',
  last_name: '',
  metadata: {},
  phone_digits: '',
  search_text: '',
}

/** The columns that searches for customers read. */
export function buildSearchColumns(contact: Contact) {
  const phone_digits = extractDigits(contact.phone_number ?? '')
  const texts = [fold(formatFullName(contact)), fold(contact.email ?? ''), phone_digits]
  return { phone_digits, search_text: texts.some((text) => text !== '') ? texts.join(searchSeparator) : '' }
}

/** True for a lower-case word that belongs to the name after it, as in Maria de la Cruz. */
const isParticle = (word: string | undefined): boolean =>
  word !== undefined && word !== word.toUpperCase() && word === word.toLowerCase()

/** Words that may follow a name after a comma without being a first name. */
const suffixes = [
  String.raw`jr|jun|junior|sr|sen|senior|d\. ?[yæ]|i{2,3}|esq|dr|prof|dds|mba|ph\.? ?d|m\.? ?d|[mb]\. ?a|[mb]\.? ?sc`,
  String.raw`ll\. ?[mbd]|cand\. ?\w+|dipl\.[ -]{0,2}\w+`,
].join('|')
const suffixPattern = new RegExp(`^(?:${suffixes})\\.?$`, 'iu')

/** Iv is also a first name. */
const isSuffix = (part: string): boolean => suffixPattern.test(part) || part === 'IV'

/**
 * Splits a full name. Before a comma stands the last name, unless only suffixes such as jr. or Ph.D. follow. Otherwise
 * the last name is the last word together with the lower-case words before it, and a single word is a first name.
 * Suffixes belong to the last name.
 */
export function splitFullName(text: string): { first_name: string; last_name: string } {
  const name = cleanName(text.replace(/^\s*"([^"]*)"\s*$/, '$1'))
  const [start = '', ...parts] = name.split(/ ?[,，] ?/)
  const endings = parts.slice(parts.findLastIndex((part) => !isSuffix(part)) + 1)
  const others = parts.slice(0, parts.length - endings.length)
  const addSuffixes = (last_name: string): string => [last_name, ...endings].join(', ')
  if (others.length > 0) return { first_name: others.join(', '), last_name: addSuffixes(start) }
  const { first_name, last_name } = splitWords(start)
  if (endings.length === 0) return { first_name, last_name }
  return last_name === ''
    ? { first_name: '', last_name: addSuffixes(first_name) }
    : { first_name, last_name: addSuffixes(last_name) }
}

function splitWords(name: string): { first_name: string; last_name: string } {
  const words = name.split(' ')
  let from = words.length - 1
  if (!isParticle(words[from])) while (from > 1 && isParticle(words[from - 1])) from--
  return from === 0
    ? { first_name: name, last_name: '' }
    : { first_name: words.slice(0, from).join(' '), last_name: words.slice(from).join(' ') }
}
