import type { OrderStatus } from '../../../orders/orders.ts'
import { getShare, type CellKind, type ColumnStatistics } from '../columns/statistics.ts'
import type { ValueMap } from '../mapping.ts'
import type { TargetType } from '../targets/fields.ts'
import { toOrderStatus } from '../values/value-maps.ts'
import { isFree, readBoolean, readStatus, removeUnit } from '../values/words.ts'

export type Fit = 'yes' | 'no' | 'unknown'

/** The kind of the cells, and the smallest share of cells that has to be of it. */
const expectedKinds: Partial<Record<TargetType, readonly [CellKind, number]>> = {
  email: ['email', 0.6],
  money: ['number', 0.8],
  quantity: ['number', 0.9],
  instant: ['date', 0.8],
  boolean: ['boolean', 0.8],
  currency: ['currency', 0.9],
  language: ['language', 0.7],
  order_status: ['status', 0.5],
  item_status: ['status', 0.5],
  name: ['name', 0.6],
  full_name: ['name', 0.6],
}

const countDifferentValues = ({ values }: ColumnStatistics): number => Object.keys(values).length

/** Names of products repeat in a few values, names of people do not. */
function repeatsFew(statistics: ColumnStatistics): boolean {
  return (
    !statistics.has_more_values &&
    statistics.filled_cells >= 8 &&
    countDifferentValues(statistics) * 4 <= statistics.filled_cells
  )
}

function checkProductFit(statistics: ColumnStatistics): Fit {
  const isOther = (['email', 'date', 'number', 'link', 'phone'] as const).some(
    (kind) => getShare(statistics, kind) > 0.5,
  )
  if (isOther) return 'no'
  return getShare(statistics, 'code') > 0.7 && !repeatsFew(statistics) ? 'no' : 'yes'
}

function checkPhoneFit(statistics: ColumnStatistics): Fit {
  const share = Math.max(getShare(statistics, 'phone'), getShare(statistics, 'number'), getShare(statistics, 'code'))
  return share >= 0.6 && getShare(statistics, 'email') === 0 ? 'yes' : 'no'
}

function checkTextFit(statistics: ColumnStatistics): Fit {
  return getShare(statistics, 'email') > 0.5 || getShare(statistics, 'link') > 0.5 ? 'no' : 'yes'
}

function getShareOfValues({ values, filled_cells }: ColumnStatistics, holds: (value: string) => boolean): number {
  const matchingCells = Object.entries(values).reduce((sum, [value, count]) => sum + (holds(value) ? count : 0), 0)
  return filled_cells === 0 ? 0 : matchingCells / filled_cells
}

const isPieceCount = (value: string): boolean => /^\d{1,4}$/.test(removeUnit(value))

/** An amount may be a word for "free", and a quantity may have a unit. */
function getShareOfNumbers(statistics: ColumnStatistics, type: 'money' | 'quantity'): number {
  const isWord = type === 'money' ? isFree : (value: string) => isPieceCount(value) && !/^\d+$/.test(value)
  return getShare(statistics, 'number') + getShareOfValues(statistics, isWord)
}

const severalNames = /(?<![\p{L}.'’-])[.'’-]*\p{L}[\p{L}.'’-]*,? +\p{L}/u

/** People have a first and a last name, kinds of people do not. */
export const arePeople = ({ values }: ColumnStatistics): boolean => {
  const differentValues = Object.keys(values)
  return differentValues.filter((value) => severalNames.test(value)).length >= differentValues.length * 0.8
}

/** Parts of a name are single words, but for a few. */
export const areSingleWords = ({ values }: ColumnStatistics): boolean => {
  const differentValues = Object.keys(values)
  return (
    differentValues.length >= 3 &&
    differentValues.filter((value) => severalNames.test(value)).length <= differentValues.length * 0.2
  )
}

/** Ids are single words that do not repeat in a few values. Short numbers may only count the rows. */
export function areCodes(statistics: ColumnStatistics): boolean {
  const values = Object.keys(statistics.values)
  const areWords = values.every((value) => /^[^\s@]+$/.test(value)) && getShare(statistics, 'date') < 0.5
  return areWords && !repeatsFew(statistics) && !values.every((value) => /^\d{1,3}$/.test(value))
}

export const areDifferent = (statistics: ColumnStatistics): boolean =>
  statistics.has_more_values || countDifferentValues(statistics) >= statistics.filled_cells * 0.8

function readPaid(text: string): OrderStatus | null {
  const isPaid = readBoolean(text)
  if (isPaid !== null) return isPaid ? 'completed' : 'pending'
  const status = readStatus(text)
  return status && toOrderStatus(status)
}

/** Null if the column has no yes or no, or other values than these and statuses. */
export function buildPaidMap(statistics: ColumnStatistics | null): ValueMap | null {
  if (!statistics || statistics.has_more_values || getShare(statistics, 'boolean') === 0) return null
  const entries = Object.keys(statistics.values).map((text) => [text, readPaid(text)] as const)
  return entries.every(([, to]) => to !== null)
    ? Object.fromEntries(entries.flatMap(([text, to]) => (to === null ? [] : [[text, { to }]])))
    : null
}

const maxStatuses = 12

/** One known status among few words is enough for a column of that name. The user gives the others a meaning. */
export const areStatuses = ({ kinds, values, has_more_values }: ColumnStatistics): boolean =>
  kinds.status > 0 &&
  !has_more_values &&
  Object.keys(values).length <= maxStatuses &&
  Object.keys(values).every((value) => /^[\p{L}\s_()'’-]+$/u.test(value))

/** A column with the name of its target fits if half of its cells do. The others are errors that the user sees. */
const minShareOfNamed = 0.5

/** @param isNamed true if the header names the target exactly */
export function checkFit(type: TargetType, statistics: ColumnStatistics | null, isNamed = false): Fit {
  if (!statistics || statistics.filled_cells === 0) return 'unknown'
  if (type === 'product') return checkProductFit(statistics)
  if (type === 'phone') return checkPhoneFit(statistics)
  if (type === 'full_name' && repeatsFew(statistics)) return 'no'
  const [kind, usualShare] = expectedKinds[type] ?? []
  if (kind === undefined || usualShare === undefined) return checkTextFit(statistics)
  const minShare = isNamed ? Math.min(usualShare, minShareOfNamed) : usualShare
  if (isNamed && kind === 'status' && areStatuses(statistics)) return 'yes'
  if (type === 'money' || type === 'quantity') return getShareOfNumbers(statistics, type) >= minShare ? 'yes' : 'no'
  return getShare(statistics, kind) >= minShare ? 'yes' : 'no'
}

/** A mapping from an earlier file is useless if no cell fits its target. */
export function contradicts(type: TargetType, statistics: ColumnStatistics | null): boolean {
  if (!statistics || statistics.filled_cells === 0) return false
  const hasNo = (...kinds: CellKind[]) => kinds.every((kind) => statistics.kinds[kind] === 0)
  if (type === 'email') return hasNo('email')
  if (type === 'phone') return hasNo('phone', 'number', 'code')
  if (type === 'money' || type === 'quantity') return hasNo('number')
  if (type === 'instant') return hasNo('date', 'number', 'time')
  if (type === 'name' || type === 'full_name') return hasNo('name')
  return false
}
