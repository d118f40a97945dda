import { dayMs } from '../../../time/instants.ts'
import { readDate, readTime } from '../columns/date-shape.ts'
import { type ColumnStatistics, getShare } from '../columns/statistics.ts'
import { namesHolders, splitHeader } from '../targets/aliases.ts'
import type { Candidate, ImportColumn } from './candidates.ts'
import { areCodes, areDifferent, arePeople, areSingleWords } from './fits.ts'

/** Best first, see `AliasRank`. A `certain` header names a target or a consent, or an earlier import mapped it. */
const rankOrder = ['certain', 'specific', 'usual', 'plain', 'indirect', 'vague'] as const

const compareRanks = (one: Candidate, other: Candidate): number =>
  rankOrder.indexOf(one.rank) - rankOrder.indexOf(other.rank)

const getStatistics = (candidate: Candidate | undefined, columns: readonly ImportColumn[]): ColumnStatistics | null =>
  (candidate && columns[candidate.column]?.statistics) ?? null

/** Compares samples too: an object sorts integer keys, so `values` alone loses the order of the rows. */
const describeCells = ({ values, samples, filled_cells }: ColumnStatistics): string =>
  JSON.stringify([values, samples, filled_cells])

/** True if the candidate wins over a rival of the same rank. */
function outdoes(one: Candidate, rival: Candidate, columns: readonly ImportColumn[]): boolean {
  const [statistics, other] = [getStatistics(one, columns), getStatistics(rival, columns)]
  if (!statistics || !other) return false
  const haveEqualCells = describeCells(statistics) === describeCells(other)
  // Either of two order numbers says which rows belong to an order.
  const isId =
    one.target === 'order.external_id' &&
    ['specific', 'plain'].includes(one.rank) &&
    statistics.blank_cells === 0 &&
    countDifferent(statistics) === countDifferent(other)
  return haveEqualCells || isId || statistics.filled_cells >= other.filled_cells * 2
}

/** Lists the candidates of the best rank. */
function listBest(candidates: readonly Candidate[]): Candidate[] {
  const rankedCandidates = candidates.toSorted(compareRanks)
  return rankedCandidates.filter((one) => rankedCandidates[0] && compareRanks(rankedCandidates[0], one) === 0)
}

/** Picks the candidate of the best rank. Returns null when several share it and none outdoes the others. */
function pickBest(candidates: readonly Candidate[], columns: readonly ImportColumn[]): Candidate | null {
  const bestCandidates = listBest(candidates)
  return (
    bestCandidates.find((one) => bestCandidates.every((rival) => one === rival || outdoes(one, rival, columns))) ?? null
  )
}

type ChosenCandidates = Map<string, Candidate>

function doOrdersSpanRows(choices: ChosenCandidates, columns: readonly ImportColumn[]): boolean {
  const ids = getStatistics(choices.get('order.external_id'), columns)
  return Object.values(ids?.values ?? {}).some((count) => count > 1)
}

/** The number of different cells, estimated from the first ones if the statistics do not have all. */
function countDifferent(statistics: ColumnStatistics | null): number {
  const counts = Object.values(statistics?.values ?? {})
  if (!statistics?.has_more_values) return counts.length
  return Math.round((statistics.filled_cells * counts.length) / counts.reduce((sum, count) => sum + count, 0))
}

/** The number of orders; null in a file without ids. */
function countOrders(choices: ChosenCandidates, columns: readonly ImportColumn[]): number | null {
  const ids = getStatistics(choices.get('order.external_id'), columns)
  return ids && countDifferent(ids)
}

/** Room for an estimated number of orders. */
const estimateRoom = 1.1

/** True if an amount can belong to an order and not to each of its rows. */
function mayBeOfOrder(amount: Candidate, choices: ChosenCandidates, columns: readonly ImportColumn[]): boolean {
  const orders = countOrders(choices, columns)
  const filledCount = getStatistics(amount, columns)?.filled_cells ?? 0
  return !doOrdersSpanRows(choices, columns) || (orders !== null && filledCount <= orders * estimateRoom)
}

const personFields = ['email', 'first_name', 'last_name', 'full_name'] as const

/**
 * `Email` beside `Buyer email` is the ticket holder's if another field has the same pair and no column names holders.
 */
function addHoldersBesideBuyers(candidates: readonly Candidate[], choices: ChosenCandidates): void {
  if (personFields.some((name) => choices.has(`item.user.${name}`))) return
  const targets = personFields.flatMap((name) => {
    const target = `customer.${name}`
    const plainCandidates = candidates.filter((one) => one.target === target && ['plain', 'vague'].includes(one.rank))
    const [only, ...others] = plainCandidates
    return choices.get(target)?.rank === 'specific' && only && others.length === 0 ? [{ name, only }] : []
  })
  if (targets.length < 2) return
  for (const { name, only } of targets) {
    const target = `item.user.${name}`
    choices.set(target, { ...only, target, confidence: 0.78 })
  }
}

/**
 * Splits two columns for the same field of a person: the one with no more values than there are orders is the buyer's,
 * and the other one is the ticket holder's.
 */
function splitTiedPeople(
  candidates: readonly Candidate[],
  choices: ChosenCandidates,
  columns: readonly ImportColumn[],
): void {
  const orders = countOrders(choices, columns)
  const countValues = (one: Candidate) => countDifferent(getStatistics(one, columns))
  for (const name of personFields) {
    const [customer, holder] = [`customer.${name}`, `item.user.${name}`]
    const bestCandidates = listBest(candidates.filter(({ target }) => target === customer))
    const [buyer, attendee] = bestCandidates.toSorted((one, other) => countValues(one) - countValues(other))
    if (choices.has(customer) || bestCandidates.length !== 2 || orders === null || !buyer || !attendee) continue
    if (countValues(buyer) > orders || countValues(attendee) <= orders) continue
    choices.set(customer, { ...buyer, confidence: 0.78 })
    if (!choices.has(holder)) choices.set(holder, { ...attendee, target: holder, confidence: 0.78 })
  }
}

/** Maps the order number to `order.order_number` when another column is the id. */
function addNumberBesideId(
  candidates: readonly Candidate[],
  choices: ChosenCandidates,
  columns: readonly ImportColumn[],
): void {
  const numbers = candidates.filter((one) => one.target === 'order.external_id' && one.rank === 'plain')
  const [number, ...others] = numbers
  const id = choices.get('order.external_id')
  if (!number || others.length > 0 || !id || id.column === number.column || choices.has('order.order_number')) return
  if ((getStatistics(number, columns)?.max_length ?? 0) > 16) return
  choices.set('order.order_number', { ...number, target: 'order.order_number', confidence: 0.85 })
}

/** The payment identifies the order if the file has no other id and each row has a payment. */
function usePaymentAsId(choices: ChosenCandidates, columns: readonly ImportColumn[]): void {
  const payment = choices.get('order.payment_reference')
  const statistics = getStatistics(payment, columns)
  if (
    !payment ||
    !statistics ||
    choices.has('order.external_id') ||
    statistics.blank_cells > 0 ||
    !areCodes(statistics)
  )
    return
  choices.delete('order.payment_reference')
  choices.set('order.external_id', { ...payment, target: 'order.external_id', confidence: 0.8 })
}

/** Words for a first name in languages where the word for a name beside it is the last name. */
const firstNamesBesideName: ReadonlySet<string> = new Set(['vorname', 'voornaam', 'prenom'])

/** Words for a last name in languages where the word for a name beside it is the first name. */
const lastNamesBesideName: ReadonlySet<string> = new Set(['cognome', 'apellido', 'apellidos', 'sobrenome', 'apelido'])

/** True if a header has one of the words, as in `Prénom payeur`. */
const hasWord = (header: string | undefined, words: ReadonlySet<string>): boolean =>
  splitHeader(header ?? '').some((word) => words.has(word))

/**
 * `Name` beside a first name is the last name if the language says so or its cells are single words. Otherwise it is
 * ambiguous. The same holds for `Name` beside a last name.
 */
function resolveNamesBesideParts(choices: ChosenCandidates, columns: readonly ImportColumn[]): void {
  for (const person of ['customer', 'item.user']) {
    const [firstName, lastName, fullName] = ['first_name', 'last_name', 'full_name'].map((name) =>
      choices.get(`${person}.${name}`),
    )
    const part = firstName ?? lastName
    if (!fullName || fullName.rank === 'certain' || !part) continue
    choices.delete(`${person}.full_name`)
    if (firstName && lastName) continue
    const statistics = getStatistics(fullName, columns)
    const words = firstName ? firstNamesBesideName : lastNamesBesideName
    const isOtherPart =
      hasWord(columns[part.column]?.header, words) || (statistics !== null && areSingleWords(statistics))
    const target = `${person}.${firstName ? 'last_name' : 'first_name'}`
    if (isOtherPart) choices.set(target, { ...fullName, target, confidence: 0.8 })
  }
}

/** The only kind of ticket that a file names is its product. */
function useVariantAsProduct(choices: ChosenCandidates, columns: readonly ImportColumn[]): void {
  const variant = choices.get('item.variant')
  const filledCount = getStatistics(variant, columns)?.filled_cells ?? 0
  if (!variant || variant.rank === 'certain' || filledCount === 0 || choices.has('item.product')) return
  choices.delete('item.variant')
  choices.set('item.product', { ...variant, target: 'item.product', confidence: 0.78 })
}

/** A plain id of tickets with fewer values than there are orders is that of their type. */
function dropTypeIds(choices: ChosenCandidates, columns: readonly ImportColumn[]): void {
  const code = choices.get('item.vendor_code')
  const statistics = getStatistics(code, columns)
  const orders = countOrders(choices, columns)
  if (code?.rank !== 'plain' || !statistics || statistics.blank_cells > 0 || orders === null) return
  if (countDifferent(statistics) < orders) choices.delete('item.vendor_code')
}

/** True if a date is in the future by every reading. */
function isInFuture({ samples }: ColumnStatistics, now: number): boolean {
  return samples.some((sample) => {
    const days = Object.values(readDate(sample)?.days ?? {}).filter((day) => day !== null)
    return days.length > 0 && days.every((day) => day > now + dayMs)
  })
}

/** Drops a vague name beside a price: it may name the product. */
function dropDoubtfulName(choices: ChosenCandidates, columns: readonly ImportColumn[]): void {
  const name = choices.get('customer.full_name')
  const statistics = getStatistics(name, columns)
  if (name?.rank !== 'vague' || !statistics || choices.has('item.product')) return
  const isPriced = choices.has('item.unit_price') || choices.has('item.line_total')
  if (isPriced && !(arePeople(statistics) && areDifferent(statistics))) choices.delete('customer.full_name')
}

const hasTickets = (choices: ChosenCandidates): boolean =>
  choices.has('item.vendor_code') || personFields.some((name) => choices.has(`item.user.${name}`))

/** A plain status beside tickets or their holders is the status of the ticket. */
function resolvePlainStatus(choices: ChosenCandidates): void {
  const status = choices.get('order.status')
  if (status?.rank !== 'plain' || !hasTickets(choices) || choices.has('item.status')) return
  choices.delete('order.status')
  choices.set('item.status', { ...status, target: 'item.status', confidence: 0.85 })
}

interface ChoiceInput {
  columns: readonly ImportColumn[]
  now?: number
}

/** Small whole numbers may be quantities. */
const mayBeCounts = ({ values }: ColumnStatistics): boolean =>
  Object.keys(values).every((value) => /^\d{1,2}$/.test(value))

const orderLevelTargets = [
  'order.amount',
  'order.refunded_amount',
  'order.discount',
  'order.payment_reference',
] as const

/** A column with more values than there are orders does not belong to orders. */
function dropVaryingInOrders(choices: ChosenCandidates, columns: readonly ImportColumn[]): void {
  const orders = countOrders(choices, columns)
  for (const target of orderLevelTargets) {
    const candidate = choices.get(target)
    const values = countDifferent(getStatistics(candidate, columns))
    if (orders !== null && values > orders && candidate?.rank !== 'certain') choices.delete(target)
  }
}

function areSingleTickets(choices: ChosenCandidates, columns: readonly ImportColumn[]): boolean {
  const quantities = getStatistics(choices.get('item.quantity'), columns)
  return Object.keys(quantities?.values ?? {}).every((value) => value === '1')
}

/**
 * Takes the vague amounts out of the choice: totals (`order.amount`), what was paid (`item.line_total`), and amounts of a
 * piece or of several (`item.unit_price`).
 */
function takeVagueAmounts(choices: ChosenCandidates): [total?: Candidate, paidAmount?: Candidate, amount?: Candidate] {
  return ['order.amount', 'item.line_total', 'item.unit_price'].map((target) => {
    const candidate = choices.get(target)
    if (candidate?.rank !== 'vague') return undefined
    choices.delete(target)
    return candidate
  }) as [Candidate?, Candidate?, Candidate?]
}

/**
 * If a price column exists, a vague total is the order's amount when a line total exists or its rows fit one per order.
 * Without another price, the only amount of a row is the price of its product, or the total of an order whose products
 * are not in the file.
 */
function resolveTotals(choices: ChosenCandidates, columns: readonly ImportColumn[]): void {
  const [total, paidAmount, amount] = takeVagueAmounts(choices)
  const spansRows = doOrdersSpanRows(choices, columns)
  if (choices.has('item.unit_price') || choices.has('item.line_total')) {
    const isOfOrder = choices.has('item.line_total') || (total && mayBeOfOrder(total, choices, columns))
    if (total && isOfOrder) choices.set('order.amount', total)
    return
  }
  const [only, ...others] = [total, paidAmount, amount].filter((one) => one !== undefined)
  const statistics = getStatistics(only, columns)
  if (!only || !statistics || others.length > 0) return
  if (spansRows || choices.has('order.amount') || mayBeCounts(statistics)) return
  const product = choices.get('item.product')
  if (!product && choices.has('order.external_id')) choices.set('order.amount', { ...only, target: 'order.amount' })
  const isForSeveral = only === amount && !areSingleTickets(choices, columns)
  const isPrice = product && statistics.filled_cells >= (getStatistics(product, columns)?.filled_cells ?? 0)
  if (isPrice && !isForSeveral) choices.set('item.line_total', { ...only, target: 'item.line_total' })
}

const isLoose = ({ rank }: Candidate): boolean => rank === 'plain' || rank === 'vague'

/**
 * Drops what the cells contradict: vague dates in the future, discounts, fees and other values of orders that vary within an
 * order, and doubtful names.
 */
function dropContradictedChoices(choices: ChosenCandidates, { columns, now }: ChoiceInput): void {
  const date = choices.get('order.created')
  const dates = getStatistics(date, columns)
  const isLater = dates && now !== undefined && isInFuture(dates, now)
  if (date?.rank === 'vague' && isLater) choices.delete('order.created')
  for (const target of ['order.discount', 'order.service_fee']) {
    const amount = choices.get(target)
    if (amount && isLoose(amount) && !mayBeOfOrder(amount, choices, columns)) choices.delete(target)
  }
  dropVaryingInOrders(choices, columns)
  dropDoubtfulName(choices, columns)
}

/** Numbers such as `10.22` are times if the header says so. */
function getShareOfTimes(statistics: ColumnStatistics): number {
  const entries = Object.entries(statistics.values)
  const all = entries.reduce((sum, [, count]) => sum + count, 0)
  const times = entries.reduce((sum, [text, count]) => sum + (readTime(text) === null ? 0 : count), 0)
  return Math.max(getShare(statistics, 'time'), all === 0 ? 0 : times / all)
}

export function findTimeColumn(
  candidates: readonly Candidate[],
  date: Candidate | undefined,
  columns: readonly ImportColumn[],
): number | null {
  const dates = getStatistics(date, columns)
  const time = pickBest(
    candidates.filter((one) => one.target === 'order.created' && one.part === 'time'),
    columns,
  )
  const times = getStatistics(time ?? undefined, columns)
  if (!time || !dates || !times || getShareOfTimes(times) < 0.8) return null
  return dates.dates.with_time * 2 > dates.filled_cells ? null : time.column
}

/** Headers of these ranks name an order and not just any thing. */
const namesOrder = ({ rank }: Candidate): boolean => !['indirect', 'vague'].includes(rank)

/**
 * Lists the columns that could be the id of the order if the file does not say which. Rows that look like tickets and
 * have an id each are orders only if a header says so, because otherwise each ticket would become an order.
 */
function listPossibleIds(
  candidates: readonly Candidate[],
  choices: ChosenCandidates,
  columns: readonly ImportColumn[],
): number[] {
  const ids = candidates.filter(({ target }) => target === 'order.external_id')
  const id = choices.get('order.external_id')
  if (!id) return ids.filter((one) => one.rank !== 'vague' || ids.length > 1).map(({ column }) => column)
  const statistics = getStatistics(id, columns)
  if (!statistics || id.rank === 'certain' || statistics.filled_cells < 2) return []
  const areTickets = hasTickets(choices) || columns.some(({ header }) => namesHolders(header))
  const repeats = (one: ColumnStatistics | null) => one !== null && countDifferent(one) < one.filled_cells
  if (!areTickets || repeats(statistics)) return []
  const rivals = ids.filter((one) => one.column !== id.column && repeats(getStatistics(one, columns)))
  if (rivals.length === 0 && namesOrder(id)) return []
  const possibleIds = namesOrder(id) ? [id, ...rivals] : ids
  return possibleIds.map(({ column }) => column)
}

export interface Choice {
  choices: ChosenCandidates
  /** Columns among which the user has to choose the id of the order. Empty if there is no doubt. */
  id_columns: readonly number[]
}

/** Chooses a column for each target. A target for which two columns are equally good gets none. */
export function chooseColumns(candidates: readonly Candidate[], input: ChoiceInput): Choice {
  const { columns } = input
  const candidatesWithoutTimes = candidates.filter(({ part }) => part === null)
  const choices: ChosenCandidates = new Map()
  for (const [target, targetCandidates] of Map.groupBy(candidatesWithoutTimes, (one) => one.target)) {
    const bestCandidate = pickBest(targetCandidates, columns)
    if (bestCandidate) choices.set(target, bestCandidate)
  }
  splitTiedPeople(candidatesWithoutTimes, choices, columns)
  addHoldersBesideBuyers(candidatesWithoutTimes, choices)
  addNumberBesideId(candidatesWithoutTimes, choices, columns)
  usePaymentAsId(choices, columns)
  resolveNamesBesideParts(choices, columns)
  useVariantAsProduct(choices, columns)
  dropTypeIds(choices, columns)
  resolvePlainStatus(choices)
  resolveTotals(choices, columns)
  const id_columns = listPossibleIds(candidatesWithoutTimes, choices, columns)
  if (id_columns.length > 0) {
    choices.delete('order.external_id')
    for (const [target, { column }] of choices) if (id_columns.includes(column)) choices.delete(target)
  }
  dropContradictedChoices(choices, input)
  return { choices, id_columns }
}
