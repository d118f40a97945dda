import type { ItemStatus } from '../../../orders/external-orders.ts'
import type { ColumnStatistics } from '../columns/statistics.ts'
import type { ValueMap } from '../mapping.ts'
import type { TargetType } from '../targets/fields.ts'
import { toPlainWord, readBoolean, readStatus, type StatusMeaning } from './words.ts'

/** A refunded order has no valid ticket. */
export const toOrderStatus = (meaning: StatusMeaning): Exclude<StatusMeaning, 'refunded'> =>
  meaning === 'refunded' ? 'cancelled' : meaning

const itemStatusByMeaning: Record<StatusMeaning, ItemStatus> = {
  completed: 'active',
  confirmed: 'active',
  pending: 'pending',
  cancelled: 'cancelled',
  refunded: 'cancelled',
}

export const toItemStatus = (meaning: StatusMeaning): ItemStatus => itemStatusByMeaning[meaning]

function readMeaning(type: TargetType, text: string): string | null {
  if (type === 'boolean') return readBoolean(text)?.toString() ?? null
  const status = readStatus(text)
  if (status === null) return null
  return type === 'order_status' ? toOrderStatus(status) : toItemStatus(status)
}

export function suggestValueMap(type: TargetType, statistics: ColumnStatistics): ValueMap | null {
  if (type !== 'boolean' && type !== 'order_status' && type !== 'item_status') return null
  const entries = Object.keys(statistics.values).flatMap((text) => {
    const to = readMeaning(type, text)
    return to === null ? [] : [[text, { to }] as const]
  })
  return entries.length > 0 ? Object.fromEntries(entries) : null
}

/** Lists the cells of a column that the target does not understand until the user maps them. */
export const listUnmappedValues = (type: TargetType, statistics: ColumnStatistics, map: ValueMap | null): string[] =>
  type === 'boolean' || type === 'order_status' || type === 'item_status'
    ? Object.keys(statistics.values).filter((text) => !findMappedValue(map, text) && readMeaning(type, text) === null)
    : []

/** Finds the mapped value of a cell. Case, accents and spaces at the ends do not count. */
function findMappedValue(map: ValueMap | null | undefined, text: string): ValueMap[string] | null {
  if (!map) return null
  if (Object.hasOwn(map, text)) return map[text] ?? null
  const word = toPlainWord(text)
  const matchingKey = Object.keys(map).find((key) => toPlainWord(key) === word)
  return matchingKey === undefined ? null : (map[matchingKey] ?? null)
}
