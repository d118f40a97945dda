import { maxParsedLength } from '../../import-cells.ts'
import { maxUnitsPerItem } from '../../../orders/external-orders.ts'
import { toIso } from '../../../time/instants.ts'
import { parseMailbox } from '../../../messaging/mailbox.ts'
import { orderStatuses } from '../../../orders/orders.ts'
import { isStorable } from '../../../text/text.ts'
import { normalizeEmail, normalizePhone } from '../../../accounts/users.ts'
import { parseDate, type DateFormat } from '../columns/date-format.ts'
import { readTime } from '../columns/date-shape.ts'
import { minorOf, parseNumber, wholeOf, type NumberFormat } from '../columns/number-format.ts'
import type { Transform } from '../mapping.ts'
import type { TargetField } from '../targets/fields.ts'
import { currencyOfMark, isCurrency } from '../values/currencies.ts'
import { readLanguage } from '../values/locales.ts'
import { splitFullName } from '../../../accounts/users.ts'
import { itemStatuses } from '../../../orders/external-orders.ts'
import { itemStatusOf, orderStatusOf } from '../values/value-maps.ts'
import { isFree, readBoolean, readStatus, withoutUnit } from '../values/words.ts'

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

/** The format of the cells of a target. */
export interface CellFormat {
  field: TargetField
  transform: Transform
  number: NumberFormat
  date: DateFormat
  /** Instants of local times; null for a time that daylight saving skips. */
  localTime: (wall: number) => number | null
  country_code: string | null
}

const fault = (code: CellFault, message: string): CellResult => ({ code, message })
const quoted = (text: string): string => `"${text.length > 60 ? `${text.slice(0, 60)}…` : text}"`

/** The possible years of orders and tickets; others are typing errors. */
const [earliest, latest] = [Date.UTC(1970, 0, 1), Date.UTC(2100, 0, 1)]

function readInstant(texts: readonly string[], { date, localTime }: CellFormat): CellResult {
  const [text = '', clock] = texts
  const parsed = parseDate(text, date)
  if (parsed === null) return fault('invalid_date', `${quoted(text)} is not a date.`)
  if (parsed === 'undecided')
    return fault('naive_date_ambiguous', `Nothing says which number of ${quoted(text)} is the day and which the month.`)
  const time = clock === undefined ? 0 : readTime(clock)
  if (time === null) return fault('invalid_date', `${quoted(clock ?? '')} is not a time of the day.`)
  const isMidnight = parsed.wall % 86_400_000 === 0
  if (clock !== undefined && !isMidnight)
    return fault('invalid_date', `${quoted(text)} has a time already, and ${quoted(clock)} is another.`)
  const wall = parsed.wall + time
  const at = parsed.offset === null ? localTime(wall) : wall - parsed.offset
  if (at === null) return fault('invalid_date', `Daylight saving skips the time ${quoted(texts.join(' '))}.`)
  return at < earliest || at >= latest ? fault('invalid_date', `${quoted(text)} is too far away.`) : { value: at }
}

function readAmount(text: string, { number }: CellFormat): CellResult {
  const parsed = parseNumber(text, number)
  if (!parsed && isFree(text)) return { value: { minor: 0, currency: null } }
  if (!parsed) return fault('invalid_number', `${quoted(text)} is not an amount.`)
  const minor = minorOf(parsed)
  if (minor === 'too_exact') return fault('invalid_number', `${quoted(text)} has more than two decimals.`)
  if (minor === 'too_large') return fault('invalid_number', `${quoted(text)} is more than an order can cost.`)
  return { value: { minor, currency: parsed.currency } }
}

function readQuantity(text: string, { number }: CellFormat): CellResult {
  const parsed = parseNumber(text, number) ?? parseNumber(withoutUnit(text), number)
  const whole = parsed && parsed.currency === null ? wholeOf(parsed) : null
  return whole === null || whole === 0 || Math.abs(whole) > maxUnitsPerItem
    ? fault('invalid_number', `${quoted(text)} is not a number of tickets from 1 to ${maxUnitsPerItem}.`)
    : { value: whole }
}

/** Whether a long number has the form in which spreadsheets show and save it: its last digits are lost. */
const isShortened = (text: string): boolean => /^\d(?:[.,]\d+)?E\+\d{2,3}$/i.test(text)

const shortened = (code: CellFault, text: string): CellResult =>
  fault(
    code,
    `${quoted(text)} was shortened by a spreadsheet. Show the column as text or as a number without decimals, and save it again.`,
  )

function readPhone(text: string, country_code: string | null): CellResult {
  if (isShortened(text)) return shortened('invalid_phone', text)
  const phone = phoneOf(text, country_code)
  if (phone !== null) return { value: phone }
  return country_code === null || /^(?:\+|00)/.test(text)
    ? fault('invalid_phone', `${quoted(text)} is not a telephone number.`)
    : fault(
        'invalid_phone',
        `${quoted(text)} is not a telephone number of ${country_code}. Write the code of its country before it, or say which country the column is of.`,
      )
}

/** In countries with numbers of any length, those without their code are hardly longer. */
const longestNational = 10

/**
 * The number in E.164. Sheets take the plus from numbers: one that begins with the country's code is read with it, a long
 * one in the first place, because the code before the code would make a number in some countries.
 */
function phoneOf(text: string, country_code: string | null): string | null {
  if (text.length > maxParsedLength) return null
  const digits = text.replaceAll(/\D/g, '')
  const hasCode = country_code !== null && digits.startsWith(country_code.replace('+', ''))
  const whole = () => (hasCode ? normalizePhone(`+${digits}`, null) : null)
  const isLong = digits.length > longestNational && !/[+(]/.test(text)
  return (isLong ? whole() : null) ?? normalizePhone(text, country_code) ?? whole()
}

function readStatusCell(text: string, type: 'order_status' | 'item_status'): CellResult {
  const own: readonly string[] = type === 'order_status' ? orderStatuses : itemStatuses
  if (own.includes(text)) return { value: text }
  const meaning = readStatus(text)
  if (meaning === null) return fault('invalid_value', `${quoted(text)} is not a known status. Map it to one.`)
  return { value: type === 'order_status' ? orderStatusOf(meaning) : itemStatusOf(meaning) }
}

function readText(text: string, format: CellFormat): CellResult {
  const { field, transform } = format
  if (transform.type === 'number') {
    const parsed = parseNumber(text, format.number)
    if (!parsed) return fault('invalid_number', `${quoted(text)} is not a number.`)
    return { value: `${parsed.is_negative ? '-' : ''}${parsed.whole}${parsed.fraction && `.${parsed.fraction}`}` }
  }
  if (transform.type === 'date') {
    const read = readInstant([text], format)
    return 'value' in read && typeof read.value === 'number' ? { value: toIso(read.value) } : read
  }
  if (transform.type === 'phone') {
    const phone = phoneOf(text, format.country_code)
    return phone === null ? fault('invalid_phone', `${quoted(text)} is not a telephone number.`) : { value: phone }
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
  if (text.length > field.max_length)
    return fault('too_long', `A text has at most ${field.max_length} characters here.`)
  return isStorable(text) ? result : fault('invalid_value', 'The text has characters that cannot be stored.')
}

const tidy = (text: string): string => text.replaceAll(/\s+/g, ' ')

function readCurrency(text: string): CellResult {
  const currency = currencyOfMark(text)
  return currency !== null && (isCurrency(currency) || currency === 'kr')
    ? { value: currency }
    : fault('invalid_currency', `${quoted(text)} is not a currency that orders can have.`)
}

const maxMailboxLength = 400

function readEmail(text: string): CellResult {
  const isShort = text.length <= maxMailboxLength
  const email = isShort ? (normalizeEmail(text) ?? normalizeEmail(parseMailbox(text)?.address ?? '')) : null
  return email === null ? fault('invalid_email', `${quoted(text)} is not an e-mail address.`) : { value: email }
}

function readLanguageCell(text: string): CellResult {
  const language = readLanguage(text)
  if (language === null) return fault('invalid_value', `${quoted(text)} is not a language.`)
  // A language that this API lacks is no fault of the row: the edition's own language is used.
  return { value: language === 'other' ? null : language }
}

function readBooleanCell(text: string): CellResult {
  const value = readBoolean(text)
  return value === null ? fault('invalid_value', `${quoted(text)} is neither yes nor no. Map it to one.`) : { value }
}

/** The value of filled, trimmed cells for a target; two of them are a date and a time, or parts of a text. */
export function readCell(texts: readonly string[], format: CellFormat): CellResult {
  const { type } = format.field
  if (type === 'instant') return readInstant(texts, format)
  const text = texts.join(' ')
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
    case 'order_status':
    case 'item_status':
      return readStatusCell(text, type)
    case 'texts': {
      const options = text.split(/[,;|\n]/).map((option) => tidy(option.trim()))
      return { value: options.filter(Boolean) }
    }
    case 'text':
      if (format.field.group !== 'metadata' && isShortened(text)) return shortened('invalid_value', text)
      return checkText(readText(text, format), format)
    case 'name':
    case 'full_name':
    case 'product':
      return checkText(readText(tidy(text), format), format)
  }
}
