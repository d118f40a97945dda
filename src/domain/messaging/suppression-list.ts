import { delimiters, splitRecords } from '../data-imports/files/split.ts'
import { cleanKey } from '../text/invisible.ts'
import { fold } from '../text/fold.ts'
import type { Channel } from './messaging.ts'
import {
  maxSuppressionDetailLength,
  normalizeAddress,
  type SuppressionReason,
  suppressionReasons,
} from './suppressions.ts'

/** A row of an imported list, whose address is normalised. */
interface ListedSuppression {
  address: string
  reason: SuppressionReason
  detail: string
  created_at: number
}

interface ListProblem {
  line: number
  code: 'invalid_address' | 'invalid_date'
  message: string
}

export interface SuppressionList {
  /** The rows to suppress. Each address occurs once. */
  rows: ListedSuppression[]
  problems: ListProblem[]
  total_rows: number
  invalid: number
}

const columnNames = {
  address: ['address', 'email', 'e-mail', 'email address', 'e-mail address', 'phone', 'phone number', 'phone_number'],
  reason: ['reason', 'status', 'type'],
  detail: ['detail'],
  date: ['date', 'created', 'created at', 'created_at', 'unsubscribed at', 'unsubscribed_at', 'timestamp'],
} as const

/** What other systems call these reasons. */
const reasonWords: Readonly<Record<string, SuppressionReason>> = {
  ...Object.fromEntries(suppressionReasons.map((reason) => [reason, reason])),
  'hard bounce': 'hard_bounce',
  bounce: 'hard_bounce',
  bounced: 'hard_bounce',
  cleaned: 'hard_bounce',
  complained: 'complaint',
  spam: 'complaint',
  abuse: 'complaint',
  spamreport: 'complaint',
}

const isoDate = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/

/** Parses ISO 8601. A time without an offset is UTC. Null: the text is not such a date, or is one after `now`. */
function parseDate(text: string, now: number): number | null {
  if (!isoDate.test(text)) return null
  const hasOffset = text.length <= 10 || /(?:Z|[+-]\d{2}:?\d{2})$/.test(text.slice(10))
  const instant = Date.parse(hasOffset ? text : `${text.replace(' ', 'T')}Z`)
  return Number.isNaN(instant) || instant > now ? null : instant
}

/** A stronger reason cannot be undone by the person alone. */
const strength = (reason: SuppressionReason): number =>
  ['unsubscribed', 'complaint', 'invalid', 'hard_bounce'].indexOf(reason)

/** Parses a list of unsubscribed addresses. Without a header that names a column of addresses, the first one has them. */
export function parseSuppressionList(csv: string, channel: Channel, now: number): SuppressionList {
  const text = csv.replace(/^\uFEFF/, '')
  const firstLine = text.split(/\r?\n|\r/, 1)[0] ?? ''
  const delimiter = delimiters.find((candidate) => firstLine.includes(candidate)) ?? ','
  const { records } = splitRecords(text, { delimiter, quotes: true })
  const header = (records[0] ?? []).map((cell) => fold(cleanKey(cell)))
  const findColumn = (names: readonly string[]) => header.findIndex((name) => names.includes(name))
  const addressColumn = findColumn(columnNames.address)
  const columns = {
    address: Math.max(0, addressColumn),
    reason: findColumn(columnNames.reason),
    detail: findColumn(columnNames.detail),
    date: findColumn(columnNames.date),
  }
  const rowsByAddress = new Map<string, ListedSuppression>()
  const list: SuppressionList = { rows: [], problems: [], total_rows: 0, invalid: 0 }
  const report = (line: number, code: ListProblem['code'], message: string) =>
    list.problems.push({ line, code, message })
  records.forEach((cells, index) => {
    const line = index + 1
    const readCell = (column: number) => cleanKey(cells[column] ?? '')
    if ((index === 0 && addressColumn >= 0) || cells.every((cell) => cleanKey(cell) === '')) return
    list.total_rows++
    // A spreadsheet's export has an apostrophe before a plus sign.
    const address = normalizeAddress(channel, readCell(columns.address).replace(/^'(?=\+)/, ''))
    if (address === null) {
      list.invalid++
      report(
        line,
        'invalid_address',
        channel === 'email' ? 'Not an e-mail address.' : 'Not a phone number with its country code.',
      )
      return
    }
    const [reasonText, dateText] = [readCell(columns.reason), readCell(columns.date)]
    const created_at = dateText === '' ? now : parseDate(dateText, now)
    if (created_at === null) report(line, 'invalid_date', 'Not a date in ISO 8601, or a date in the future.')
    const knownReason = reasonWords[fold(reasonText)]
    const detail = readCell(columns.detail) || (knownReason === undefined ? reasonText : '')
    const row = {
      address,
      reason: knownReason ?? 'unsubscribed',
      detail: detail.slice(0, maxSuppressionDetailLength),
      created_at: created_at ?? now,
    } satisfies ListedSuppression
    const earlier = rowsByAddress.get(address)
    if (!earlier || strength(row.reason) > strength(earlier.reason)) rowsByAddress.set(address, row)
  })
  list.rows = [...rowsByAddress.values()]
  return list
}
