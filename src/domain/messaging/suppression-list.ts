import { delimiters, parseCsv } from '@ecms/table-reader'
import { subscriptionStatuses, type SubscriptionStatus } from '../accounts/imported-users.ts'
import { readBoolean } from '../data-imports/mapping/values/words.ts'
import { removeFormulaGuard } from '../text/csv.ts'
import { fold } from '../text/fold.ts'
import { cleanKey } from '../text/invisible.ts'
import { findWord } from '../text/text.ts'
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
  code: 'invalid_address' | 'invalid_date' | 'unknown_status'
  message: string
}

export interface SuppressionList {
  /** The rows to suppress. Each address occurs once. */
  rows: ListedSuppression[]
  problems: ListProblem[]
  total_rows: number
  /** Rows of people who are subscribed. */
  subscribed: number
  /** Rows whose address or status cannot be read. */
  invalid: number
}

const columnNames = {
  address: ['address', 'email', 'e-mail', 'email address', 'e-mail address', 'phone', 'phone number', 'phone_number'],
  status: ['status', 'email status', 'subscription status', 'subscriber status', 'marketing status'],
  subscribed: ['subscribed', 'is subscribed', 'active', 'enabled', 'confirmed', 'opt in', 'opt-in', 'opted in'],
  unsubscribed: ['unsubscribed', 'is unsubscribed', 'opt out', 'opt-out', 'opted out', 'blocklisted', 'disabled'],
  reason: ['reason', 'type', 'unsub reason'],
  detail: ['detail'],
  cleaned: ['clean time'],
  date: ['date', 'unsubscribed at', 'unsub time', 'clean time', 'timestamp', 'created', 'created at'],
} as const

/** Names of these reasons in other systems. */
const reasonWords: ReadonlyMap<string, SuppressionReason> = new Map([
  ...suppressionReasons.map((reason) => [reason.replace('_', ' '), reason] as const),
  ['bounce', 'hard_bounce'],
  ['bounced', 'hard_bounce'],
  ['cleaned', 'hard_bounce'],
  ['complained', 'complaint'],
  ['spam', 'complaint'],
  ['abuse', 'complaint'],
  ['spamreport', 'complaint'],
])

const buildWords = (words: string) => new Set(words.split(' | ').map(fold))

/** Other systems' words in a column that says of everybody whether they are subscribed, in the languages of the API. */
const unsubscribedWords = buildWords(
  'disabled | blocklisted | blacklisted | blocked | suppressed | not subscribed | opted out | opted-out | opt-out | ' +
    'frameldt | afmeldt | abgemeldet | avanmäld | avregistrerad | afgemeld | uitgeschreven | wypisany | wypisana',
)
const subscribedWords = buildWords(
  'subscribed | active | enabled | confirmed | opted in | opted-in | opt-in | single opt-in | double opt-in | ' +
    'tilmeldt | angemeldet | anmäld | registrerad | aangemeld | ingeschreven | zapisany | zapisana',
)

/** Words for people who are listed, but have not agreed. */
const unconfirmedWords = buildWords(
  'unconfirmed | not confirmed | pending | waiting | non-subscribed | nonsubscribed | non subscribed | transactional | ' +
    'archived | opt-in pending | afventer | ausstehend | väntar | in afwachting | oczekuje',
)
const cleanedWords = buildWords('unreachable | undeliverable | invalid | dead')

const statusByReason = {
  unsubscribed: 'unsubscribed',
  complaint: 'complained',
  hard_bounce: 'cleaned',
  invalid: 'cleaned',
} as const satisfies Record<SuppressionReason, SubscriptionStatus>

/** Reads the status of a person in a mailing list, or one of our own. Null: the word is unknown. */
export function readSubscriptionStatus(text: string): SubscriptionStatus | null {
  const word = toWord(text)
  if (unconfirmedWords.has(word)) return 'unconfirmed'
  if (cleanedWords.has(word)) return 'cleaned'
  if (subscribedWords.has(word)) return 'subscribed'
  if (unsubscribedWords.has(word)) return 'unsubscribed'
  const reason = reasonWords.get(word)
  return reason ? statusByReason[reason] : (findWord(subscriptionStatuses, word) ?? null)
}

const isoDate = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/

/** Parses ISO 8601. A time without an offset is UTC. Null: the text is not such a date, or is one after `now`. */
function parseDate(text: string, now: number): number | null {
  if (!isoDate.test(text)) return null
  const day = text.slice(0, 10)
  const midnight = Date.parse(`${day}T00:00Z`)
  // `Date.parse` takes 30 February for 2 March.
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return null
  const hasOffset = text.length <= 10 || /(?:Z|[+-]\d{2}:?\d{2})$/.test(text.slice(10))
  const instant = Date.parse(hasOffset ? text : `${text.replace(' ', 'T')}Z`)
  return Number.isNaN(instant) || instant > now ? null : instant
}

/** A stronger reason cannot be undone by the person alone. */
const strength = (reason: SuppressionReason): number =>
  ['unsubscribed', 'complaint', 'invalid', 'hard_bounce'].indexOf(reason)

/** The columns that say of everybody whether they are subscribed. The first one that a list has is used. */
const statusColumns = ['status', 'unsubscribed', 'subscribed'] as const
type StatusColumn = (typeof statusColumns)[number]

/** Reads a cell that says whether a person is subscribed. Null: it cannot be read. */
function readSubscription(column: StatusColumn, text: string, now: number): SuppressionReason | 'subscribed' | null {
  const word = toWord(text)
  const reason = reasonWords.get(word) ?? (unsubscribedWords.has(word) ? 'unsubscribed' : undefined)
  if (reason) return reason
  if (subscribedWords.has(word)) return 'subscribed'
  if (column === 'status') return null
  // Many lists have a time under `unsubscribed`, and nothing for people who are subscribed.
  if (column === 'unsubscribed' && text === '') return 'subscribed'
  if (column === 'unsubscribed' && parseDate(text, now) !== null) return 'unsubscribed'
  const isYes = readBoolean(text)
  if (isYes === null) return null
  return isYes === (column === 'subscribed') ? 'subscribed' : 'unsubscribed'
}

const toWord = (text: string): string => fold(text).replaceAll('_', ' ')

/** Reads the cells of a row by the names of their columns. */
type RowReader = (column: keyof typeof columnNames) => string

function findColumns(header: readonly string[]) {
  const words = header.map((cell) => toWord(cleanKey(cell)))
  const find = (column: keyof typeof columnNames): number =>
    columnNames[column].map((name) => words.indexOf(toWord(name))).find((index) => index >= 0) ?? -1
  return {
    hasHeader: find('address') >= 0,
    statusColumn: statusColumns.find((column) => find(column) >= 0),
    openRow:
      (cells: readonly string[]): RowReader =>
      (column) =>
        cleanKey(removeFormulaGuard(cells[column === 'address' ? Math.max(0, find(column)) : find(column)] ?? '')),
  }
}

/** The reason of a row, and its text when it is unknown. */
function readReason(readCell: RowReader, status: SuppressionReason | null) {
  const text = readCell('reason')
  const namedReason = reasonWords.get(toWord(text))
  const reasons = [namedReason, status, readCell('cleaned') === '' ? null : ('hard_bounce' as const)]
  const reason = reasons.reduce<SuppressionReason>(
    (strongest, next) => (next && strength(next) > strength(strongest) ? next : strongest),
    'unsubscribed',
  )
  return { reason, detail: readCell('detail') || (namedReason === undefined ? text : '') }
}

/**
 * Parses a list of another system. Without a header that names a column of addresses, the first one has them. A list of
 * everybody with their status suppresses those who are not subscribed.
 */
export function parseSuppressionList(csv: string, channel: Channel, now: number): SuppressionList {
  const text = csv.replace(/^\uFEFF/, '')
  const firstLine = text.split(/\r?\n|\r/, 1)[0] ?? ''
  const delimiter = delimiters.find((candidate) => firstLine.includes(candidate)) ?? ','
  const records = parseCsv(text, { delimiter, quotes: true })
  const { hasHeader, statusColumn, openRow } = findColumns(records[0] ?? [])
  const rowsByAddress = new Map<string, ListedSuppression>()
  const list: SuppressionList = { rows: [], problems: [], total_rows: 0, subscribed: 0, invalid: 0 }
  const report = (line: number, code: ListProblem['code'], message: string) =>
    list.problems.push({ line, code, message })
  const refuse = (...problem: Parameters<typeof report>) => {
    list.invalid++
    report(...problem)
  }
  records.forEach((cells, index) => {
    const line = index + 1
    if ((index === 0 && hasHeader) || cells.every((cell) => cleanKey(cell) === '')) return
    list.total_rows++
    const readCell = openRow(cells)
    const address = normalizeAddress(channel, readCell('address'))
    if (address === null) return refuse(line, 'invalid_address', addressProblems[channel])
    const status = statusColumn ? readSubscription(statusColumn, readCell(statusColumn), now) : 'unsubscribed'
    if (status === null)
      return refuse(line, 'unknown_status', `\`${statusColumn}\` does not say whether the person is subscribed.`)
    if (status === 'subscribed') return void list.subscribed++
    const dateText =
      readCell('date') ||
      readCell('cleaned') ||
      (parseDate(readCell('unsubscribed'), now) ? readCell('unsubscribed') : '')
    const created_at = dateText === '' ? now : parseDate(dateText, now)
    if (created_at === null) report(line, 'invalid_date', 'Not a date in ISO 8601, or a date in the future.')
    const { reason, detail } = readReason(readCell, status)
    const row: ListedSuppression = {
      address,
      reason,
      detail: detail.slice(0, maxSuppressionDetailLength),
      created_at: created_at ?? now,
    }
    const earlier = rowsByAddress.get(address)
    if (!earlier || strength(row.reason) > strength(earlier.reason)) rowsByAddress.set(address, row)
  })
  list.rows = [...rowsByAddress.values()]
  return list
}

const addressProblems: Readonly<Record<Channel, string>> = {
  email: 'Not an e-mail address.',
  sms: 'Not a phone number with its country code.',
}
