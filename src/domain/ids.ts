import { encodeTime, monotonicFactory, ulid } from 'ulidx'

export const idPrefixes = {
  access_token: 'tok',
  account: 'usr',
  alarm: 'alm',
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
  fee_rule: 'fee',
  file: 'fil',
  file_upload: 'upl',
  import_column: 'imc',
  import_product: 'imd',
  claim: 'clm',
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
  sign_in_code: 'sic',
  sign_in_link: 'sil',
  signup_form: 'sgf',
  signup_request: 'sgr',
  suppression: 'sup',
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

/** The prefix of ids in a field such as `edition_id`. Null: the name says no kind. */
export function findIdPrefix(name: string): string | null {
  const kind = name
    .replace(/_id$/, '')
    .replace(/^customer$/, 'user')
    .replace(/^endpoint$/, 'webhook_endpoint')
  return name.endsWith('_id') && Object.hasOwn(idPrefixes, kind) ? idPrefixes[kind as IdKind] : null
}

/** A cell is one of several deployments. Ids carry its name between the time and the random part of their ULID. */
const cellSource = '[a-z0-9]{2}'
const cellPattern = new RegExp(`^${cellSource}$`)
const timeLength = 10
const ulidPattern = new RegExp(`^([0-9A-HJKMNP-TV-Z]{10})(${cellSource})?([0-9A-HJKMNP-TV-Z]{16})$`)

export const isCell = (text: string): boolean => cellPattern.test(text)

/** Inserts a cell, which may be empty, into a ULID. The result still sorts by time. */
export const addCell = (text: string, cell: string): string =>
  cell === '' ? text : `${text.slice(0, timeLength)}${cell}${text.slice(timeLength)}`

/** Splits what `addCell` returns. Null: the text is not a ULID. */
export function splitUlid(text: string): { ulid: string; cell: string } | null {
  const [, time = '', cell = '', rest = ''] = ulidPattern.exec(text) ?? []
  return time === '' ? null : { ulid: time + rest, cell }
}

/** Creates an id of a prefix and a ULID, which sorts by creation. `random` returns numbers from 0 up to 1. */
export const newId = (kind: IdKind, now: number, random: () => number, cell = ''): string =>
  `${idPrefixes[kind]}_${addCell(ulid(now, random), cell)}`

/** Ids of one factory sort in the order of their creation, even at the same instant. */
export function createIdFactory(now: number, random: () => number, cell = ''): (kind: IdKind) => string {
  const next = monotonicFactory(random)
  return (kind) => `${idPrefixes[kind]}_${addCell(next(now), cell)}`
}

/** A text that sorts between the ids created before `at` and those created from then on. */
export const firstIdAt = (kind: IdKind, at: number): string =>
  `${idPrefixes[kind]}_${encodeTime(Math.max(0, at), timeLength)}`

const kindsByPrefix = new Map<string, IdKind>(
  (Object.entries(idPrefixes) as [IdKind, string][]).map(([kind, prefix]) => [prefix, kind]),
)

/** The kind of an id, or null. Accounts and customers share a prefix, and both are `user`. */
export const findIdKind = (id: string): IdKind | null => kindsByPrefix.get(id.split('_', 1)[0] ?? '') ?? null

export const isId = (kind: IdKind, text: string): boolean =>
  text.startsWith(`${idPrefixes[kind]}_`) && splitUlid(text.slice(idPrefixes[kind].length + 1)) !== null
