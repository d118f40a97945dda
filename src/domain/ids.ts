import { monotonicFactory, ulid } from 'ulidx'

export const idPrefixes = {
  access_token: 'tok',
  account: 'usr',
  cart: 'crt',
  cart_item: 'itm',
  data_import: 'imp',
  edition: 'edt',
  event: 'evt',
  location: 'loc',
  member: 'mem',
  option: 'opt',
  order: 'ord',
  organization: 'org',
  product: 'prd',
  purchase: 'pur',
  request: 'req',
  transaction: 'trx',
  user: 'usr',
  variant: 'var',
  webhook_delivery: 'whd',
  webhook_endpoint: 'whk',
  webhook_event: 'evn',
  dead_message: 'ded',
} as const

export type IdKind = keyof typeof idPrefixes

/** Prefix and ULID: sorts by time of creation; `random` gives numbers from 0 up to 1. */
export const newId = (kind: IdKind, now: number, random: () => number): string =>
  `${idPrefixes[kind]}_${ulid(now, random)}`

/** Ids made one after another, of one instant too, sort in that order. */
export function idFactory(now: number, random: () => number): (kind: IdKind) => string {
  const next = monotonicFactory(random)
  return (kind) => `${idPrefixes[kind]}_${next(now)}`
}
