import { encodeTime, monotonicFactory, ulid } from 'ulidx'

export const idPrefixes = {
  access_token: 'tok',
  account: 'usr',
  audit_entry: 'aud',
  campaign: 'cmp',
  captured_message: 'cap',
  cart: 'crt',
  cart_item: 'itm',
  category: 'cat',
  consent: 'con',
  consent_record: 'cre',
  data_import: 'imp',
  edition: 'edt',
  email_block: 'blk',
  email_message: 'eml',
  erasure: 'ers',
  event: 'evt',
  file: 'fil',
  file_upload: 'upl',
  import_column: 'imc',
  import_product: 'imd',
  lease: 'lse',
  location: 'loc',
  member: 'mem',
  merchant_account: 'mac',
  option: 'opt',
  order: 'ord',
  organization: 'org',
  pass_design: 'psd',
  product: 'prd',
  purchase: 'pur',
  purchase_use: 'use',
  refund_batch: 'rfb',
  refund_request: 'rfr',
  request: 'req',
  segment: 'seg',
  segment_export: 'sxp',
  sender_domain: 'sdm',
  transaction: 'trx',
  transactional_email: 'tem',
  trigger: 'trg',
  user: 'usr',
  variant: 'var',
  wallet_pass: 'wps',
  webhook_delivery: 'whd',
  webhook_endpoint: 'whk',
  webhook_event: 'evn',
  dead_message: 'ded',
} as const

export type IdKind = keyof typeof idPrefixes

/** The prefix of the ids that a field such as `edition_id` takes; null for names of no kind. */
export function findIdPrefix(name: string): string | null {
  const kind = name.replace(/_id$/, '').replace(/^customer$/, 'user')
  return name.endsWith('_id') && Object.hasOwn(idPrefixes, kind) ? idPrefixes[kind as IdKind] : null
}

/** The mark of a deployment. Ids carry it between the time and the random part of their ULID, and become longer by it. */
const cellForm = '[a-z0-9]{2}'
const cellPattern = new RegExp(`^${cellForm}$`)
const timeLength = 10
const ulidPattern = new RegExp(`^([0-9A-HJKMNP-TV-Z]{10})(${cellForm})?([0-9A-HJKMNP-TV-Z]{16})$`)

export const isCell = (text: string): boolean => cellPattern.test(text)

/** A ULID with a mark, which may be empty. It sorts by its time. */
export const addCell = (text: string, cell: string): string =>
  cell === '' ? text : `${text.slice(0, timeLength)}${cell}${text.slice(timeLength)}`

/** The parts of a ULID with a cell; null for another text. */
export function splitUlid(text: string): { ulid: string; cell: string } | null {
  const [, time = '', cell = '', rest = ''] = ulidPattern.exec(text) ?? []
  return time === '' ? null : { ulid: time + rest, cell }
}

/** Prefix and ULID: sorts by time of creation; `random` gives numbers from 0 up to 1. */
export const newId = (kind: IdKind, now: number, random: () => number, cell = ''): string =>
  `${idPrefixes[kind]}_${addCell(ulid(now, random), cell)}`

/** Ids made one after another, of one instant too, sort in that order. */
export function createIdFactory(now: number, random: () => number, cell = ''): (kind: IdKind) => string {
  const next = monotonicFactory(random)
  return (kind) => `${idPrefixes[kind]}_${addCell(next(now), cell)}`
}

/** Sorts before every id of that kind that was made then or later, and after all that were made before. */
export const firstIdAt = (kind: IdKind, at: number): string =>
  `${idPrefixes[kind]}_${encodeTime(Math.max(0, at), timeLength)}`

const kindOfPrefix = new Map<string, IdKind>(
  (Object.entries(idPrefixes) as [IdKind, string][]).map(([kind, prefix]) => [prefix, kind]),
)

/** The kind of an id: `user` for the prefix that accounts and customers share; null for another text. */
export const findIdKind = (id: string): IdKind | null => kindOfPrefix.get(id.split('_', 1)[0] ?? '') ?? null

/** Whether a text is an id of this kind, with a mark or without. */
export const isId = (kind: IdKind, text: string): boolean =>
  text.startsWith(`${idPrefixes[kind]}_`) && splitUlid(text.slice(idPrefixes[kind].length + 1)) !== null
