import { showUndecodable, undecodable } from '@ecms/table-reader'
import { normalizeEmail, normalizePhone, splitFullName } from '../../../accounts/users.ts'
import { parseMailbox } from '../../../messaging/mailbox.ts'
import { readSubscriptionStatus } from '../../../messaging/suppression-list.ts'
import { maxUnitsPerItem, itemStatuses } from '../../../orders/external-orders.ts'
import { orderStatuses } from '../../../orders/orders.ts'
import { cleanKey, cleanName, dropInvisible } from '../../../text/invisible.ts'
import { isStorable } from '../../../text/text.ts'
import { toIso } from '../../../time/instants.ts'
import { maxParsedLength } from '../../import-cells.ts'
import { parseDate, type DateFormat } from '../columns/date-format.ts'
import { readTime } from '../columns/date-shape.ts'
import { createLocalTimeReader } from '../columns/local-times.ts'
import { toMinorUnits, parseNumber, toWholeNumber, type NumberFormat } from '../columns/number-format.ts'
import type { Transform } from '../mapping.ts'
import type { TargetField } from '../targets/fields.ts'
import { toItemStatus, toOrderStatus } from '../values/value-maps.ts'
import {
  readCurrencyMark,
  isCurrency,
  isFree,
  readBoolean,
  readLanguage,
  readStatus,
  removeUnit,
} from '../values/words.ts'

const cellFaults = [
  'missing_required',
  'invalid_email',
  'invalid_phone',
  'invalid_number',
  'negative_amount',
  'invalid_date',
  'naive_date_ambiguous',
  'invalid_currency',
  'invalid_value',
  'too_long',
  'invalid_encoding',
  'merged_amount',
] as const
export type CellFault = (typeof cellFaults)[number]

/** An amount in minor units, with the currency that stands beside it in the cell. */
export interface Amount {
  minor: number
  currency: string | null
}

/** Instants are milliseconds UTC. */
export type CellValue = string | number | boolean | readonly string[] | Amount | null

export type CellResult = { value: CellValue } | { code: CellFault; message: string }

export interface CellFormat {
  field: TargetField
  transform: Transform
  number: NumberFormat
  date: DateFormat
  /** Null for a local time that daylight saving skips. */
  localTime: (wall: number) => number | null
  country_code: string | null
}

const fail = (code: CellFault, message: string): CellResult => ({ code, message })
const quote = (text: string): string => `"${text.length > 60 ? `${text.slice(0, 60)}…` : text}"`

/** Other years are typing errors. */
const [earliestInstant, latestInstant] = [Date.UTC(1970, 0, 1), Date.UTC(2100, 0, 1)]

function readInstant(texts: readonly string[], { date, localTime }: CellFormat): CellResult {
  const [text = '', clock] = texts
  const parsedDate = parseDate(text, date)
  if (parsedDate === null) return fail('invalid_date', `${quote(text)} is not a date.`)
  if (parsedDate === 'undecided')
    return fail(
      'naive_date_ambiguous',
      `It is not clear which number of ${quote(text)} is the day and which is the month.`,
    )
  const time = clock === undefined ? 0 : readTime(clock)
  if (time === null) return fail('invalid_date', `${quote(clock ?? '')} is not a time of the day.`)
  const isMidnight = parsedDate.wall % 86_400_000 === 0
  if (clock !== undefined && !isMidnight)
    return fail('invalid_date', `${quote(text)} already contains a time, and ${quote(clock)} is another one.`)
  const wall = parsedDate.wall + time
  const readLocal = parsedDate.zone === null ? localTime : createLocalTimeReader(parsedDate.zone)
  const at = parsedDate.offset === null ? readLocal(wall) : wall - parsedDate.offset
  if (at === null)
    return fail('invalid_date', `The time ${quote(texts.join(' '))} does not exist because of daylight saving.`)
  return at < earliestInstant || at >= latestInstant
    ? fail('invalid_date', `${quote(text)} is not between 1970 and 2100.`)
    : { value: at }
}

function readAmount(text: string, { number }: CellFormat): CellResult {
  const parsedNumber = parseNumber(text, number)
  if (!parsedNumber && isFree(text)) return { value: { minor: 0, currency: null } }
  if (!parsedNumber) return fail('invalid_number', `${quote(text)} is not an amount.`)
  const minor = toMinorUnits(parsedNumber)
  if (minor === 'too_exact') return fail('invalid_number', `${quote(text)} has more than two decimals.`)
  if (minor === 'too_large') return fail('invalid_number', `${quote(text)} is too large.`)
  return { value: { minor, currency: parsedNumber.currency } }
}

function readQuantity(text: string, { number }: CellFormat): CellResult {
  const parsedNumber = parseNumber(text, number) ?? parseNumber(removeUnit(text), number)
  const quantity = parsedNumber && parsedNumber.currency === null ? toWholeNumber(parsedNumber) : null
  return quantity === null || quantity === 0 || Math.abs(quantity) > maxUnitsPerItem
    ? fail('invalid_number', `${quote(text)} is not a quantity from 1 to ${maxUnitsPerItem}.`)
    : { value: quantity }
}

/** Spreadsheets shorten long numbers like this, and their last digits are lost. */
const isShortened = (text: string): boolean => /^\d(?:[.,]\d+)?E\+\d{2,3}$/i.test(text)

const failShortened = (code: CellFault, text: string): CellResult =>
  fail(code, `${quote(text)} was shortened by a spreadsheet. Format the column as text and save the file again.`)

function readPhone(text: string, country_code: string | null): CellResult {
  if (isShortened(text)) return failShortened('invalid_phone', text)
  const phone = parsePhone(text, country_code)
  if (phone !== null) return { value: phone }
  return country_code === null || /^(?:\+|00)/.test(text)
    ? fail('invalid_phone', `${quote(text)} is not a phone number.`)
    : fail(
        'invalid_phone',
        `${quote(text)} is not a phone number in ${country_code}. Add the country code, or set country_code for ` +
          'the column.',
      )
}

/** Longer numbers contain their country code. */
const longestNational = 10

/**
 * Parses a number to E.164. Spreadsheets remove the plus, so a number that begins with the country's code is read with
 * it. A long number is read so first, because a doubled code makes a valid number in some countries.
 */
function parsePhone(text: string, country_code: string | null): string | null {
  if (text.length > maxParsedLength) return null
  const digits = text.replaceAll(/\D/g, '')
  const hasCode = country_code !== null && digits.startsWith(country_code.replace('+', ''))
  const readWithCode = () => (hasCode ? normalizePhone(`+${digits}`, null) : null)
  const isLong = digits.length > longestNational && !/[+(]/.test(text)
  return (isLong ? readWithCode() : null) ?? normalizePhone(text, country_code) ?? readWithCode()
}

function readStatusCell(text: string, type: 'order_status' | 'item_status'): CellResult {
  const apiStatuses: readonly string[] = type === 'order_status' ? orderStatuses : itemStatuses
  if (apiStatuses.includes(text)) return { value: text }
  const meaning = readStatus(text)
  if (meaning === null) return fail('invalid_value', `${quote(text)} is not a known status. Map it in the value_map.`)
  return { value: type === 'order_status' ? toOrderStatus(meaning) : toItemStatus(meaning) }
}

function readText(text: string, format: CellFormat): CellResult {
  const { field, transform } = format
  if (transform.type === 'number') {
    const parsedNumber = parseNumber(text, format.number)
    if (!parsedNumber) return fail('invalid_number', `${quote(text)} is not a number.`)
    return {
      value: `${parsedNumber.is_negative ? '-' : ''}${parsedNumber.integer}${parsedNumber.fraction && `.${parsedNumber.fraction}`}`,
    }
  }
  if (transform.type === 'date') {
    const instant = readInstant([text], format)
    return 'value' in instant && typeof instant.value === 'number' ? { value: toIso(instant.value) } : instant
  }
  if (transform.type === 'phone') {
    const phone = parsePhone(text, format.country_code)
    return phone === null ? fail('invalid_phone', `${quote(text)} is not a phone number.`) : { value: phone }
  }
  if (transform.type === 'split_name') {
    const part = transform.part ?? (field.key.endsWith('.last_name') ? 'last' : 'first')
    return { value: splitFullName(text)[`${part}_name`] || null }
  }
  return { value: transform.type === 'lower' ? text.toLowerCase() : text }
}

function checkText(result: CellResult, { field }: CellFormat): CellResult {
  if (!('value' in result) || typeof result.value !== 'string') return result
  const text = result.value
  if (text.length > field.max_length) return fail('too_long', `The text has more than ${field.max_length} characters.`)
  return isStorable(text) ? result : fail('invalid_value', 'The text contains characters that cannot be stored.')
}

/** Removes what nobody can see, except from metadata. The spaces of numbers and the line breaks of lists still count. */
function cleanText(text: string, { field }: CellFormat): string {
  if (field.group === 'metadata' || nameTypes.has(field.type)) return text
  return field.type === 'text' ? cleanKey(text) : dropInvisible(text)
}

/** Types whose texts are names, which keep the joiners of their script. */
const nameTypes: ReadonlySet<string> = new Set(['name', 'full_name', 'product', 'texts'])

function readCurrency(text: string): CellResult {
  const currency = readCurrencyMark(text)
  return currency !== null && (isCurrency(currency) || currency === 'kr')
    ? { value: currency }
    : fail('invalid_currency', `${quote(text)} is not a supported currency.`)
}

/** In English, as workbooks store them, German, Danish, Swedish, Dutch and Polish. */
const formulaErrors = new Set(
  ['#REF!', '#VALUE!', '#DIV/0!', '#NAME?', '#NUM!', '#CALC!', '#SPILL!', '#FIELD!', '#BUSY!', '#GETTING_DATA']
    .concat(['#WERT!', '#BEZUG!', '#ZAHL!', '#VÆRDI!', '#REFERENCE!', '#NAVN?', '#DIVISION/0!', '#VÄRDEFEL!'])
    .concat(['#REFERENS!', '#NAMN?', '#OGILTIGT!', '#WAARDE!', '#VERW!', '#NAAM?', '#GETAL!', '#DEEL/0!'])
    .concat(['#ARG!', '#ADR!', '#NAZWA?', '#LICZBA!', '#DZIEL/0!']),
)

const maxMailboxLength = 400

function readEmail(text: string): CellResult {
  const isShort = text.length <= maxMailboxLength
  const email = isShort ? (normalizeEmail(text) ?? normalizeEmail(parseMailbox(text)?.address ?? '')) : null
  return email === null ? fail('invalid_email', `${quote(text)} is not an e-mail address.`) : { value: email }
}

function readLanguageCell(text: string): CellResult {
  const language = readLanguage(text)
  if (language === null) return fail('invalid_value', `${quote(text)} is not a language.`)
  // The edition's language replaces a language that the API does not support.
  return { value: language === 'other' ? null : language }
}

function readBooleanCell(text: string): CellResult {
  const value = readBoolean(text)
  return value === null
    ? fail('invalid_value', `${quote(text)} is neither yes nor no. Map it in the value_map.`)
    : { value }
}

function readSubscriptionCell(text: string): CellResult {
  const value = readSubscriptionStatus(text)
  return value === null
    ? fail('invalid_value', `${quote(text)} is not a known status of a mailing list. Map it in the value_map.`)
    : { value }
}

export function parseCell(texts: readonly string[], format: CellFormat): CellResult {
  if (texts.some((text) => text.includes(undecodable)))
    return fail(
      'invalid_encoding',
      `${quote(showUndecodable(texts.join(' ')))} contains bytes that are no character of the encoding of the file. ` +
        'Correct the cell, or change the encoding if it is wrong in the whole file.',
    )
  const formulaError = texts.find((text) => formulaErrors.has(text))
  if (formulaError !== undefined)
    return fail(
      'invalid_value',
      `${quote(formulaError)} is the error of a formula. Correct the formula, or save the file in a spreadsheet program that ` +
        'calculates it.',
    )
  const { type } = format.field
  if (type === 'instant') return readInstant(texts.map(dropInvisible), format)
  const text = cleanText(texts.join(' '), format)
  switch (type) {
    case 'money':
      return readAmount(text, format)
    case 'quantity':
      return readQuantity(text, format)
    case 'email':
      return readEmail(text)
    case 'phone':
      return readPhone(text, format.country_code)
    case 'boolean':
      return readBooleanCell(text)
    case 'currency':
      return readCurrency(text)
    case 'language':
      return readLanguageCell(text)
    case 'subscription':
      return readSubscriptionCell(text)
    case 'order_status':
    case 'item_status':
      return readStatusCell(text, type)
    case 'texts': {
      const options = text.split(/[,;|\n]/).map((option) => cleanName(option))
      return { value: options.filter(Boolean) }
    }
    case 'text':
      if (format.field.group !== 'metadata' && isShortened(text)) return failShortened('invalid_value', text)
      return checkText(readText(text, format), format)
    case 'name':
    case 'full_name':
    case 'product':
      return checkText(readText(cleanName(text), format), format)
  }
}
