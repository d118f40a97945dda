import type { RecipientRow, RecipientsPage, RecipientsQuery } from '../../domain/campaigns/sender.ts'
import type { Engagement, RecipientState } from '../../domain/campaigns/sending-policy.ts'
import { isRunning } from '../../domain/campaigns/lifecycle.ts'
import { KeptOrders } from './kept-orders.ts'
import { everyone, PackStore } from './pack-store.ts'
import type { RecipientStore } from './recipient-store.ts'
import { areApart, recipientState } from './schema.ts'

type SortName = RecipientsQuery['sort'][number]['by']

interface SortColumn {
  sql: string
  desc: boolean
  of: (row: RecipientRow) => string | number
}

/** The columns of a sort order. Recipients without a time of sending come last in both directions. */
const keysOf: Record<SortName, (desc: boolean) => SortColumn[]> = {
  address: (desc) => [{ sql: 'address', desc, of: (row) => row.address }],
  sent_at: (desc) => [
    { sql: '(sent_at is null)', desc: false, of: (row) => Number(row.sent_at === null) },
    { sql: 'coalesce(sent_at, 0)', desc, of: (row) => row.sent_at ?? 0 },
  ],
  n: (desc) => [{ sql: 'n', desc, of: (row) => row.n }],
}

const reached = `state = ${recipientState('sent')} and bounced_at is null`

/** Only recipients of sent messages have stamps. */
const engaged: Record<Engagement, string> = {
  delivered: 'delivered_at is not null',
  opened: 'opened_at is not null',
  not_opened: `${reached} and opened_at is null`,
  clicked: 'clicked_at is not null',
  not_clicked: `${reached} and clicked_at is null`,
  bounced: 'bounced_at is not null',
  complained: 'complained_at is not null',
  unsubscribed: 'unsubscribed_at is not null',
}

/** The number of recipients of each state, from the counters of the campaign. */
const counted: Record<RecipientState, string> = {
  pending: 'total - sent - failed',
  sent: 'sent',
  failed: 'failed',
  skipped: 'skipped',
}

/** Where a list reads on. */
interface RecipientPlace {
  where: readonly string[]
  values: readonly SqlStorageValue[]
  sort: readonly SortColumn[]
  after: readonly (string | number)[] | null
  skipped: number
}

const orderOf = (sort: readonly SortColumn[]): string =>
  sort.map((key) => `${key.sql} ${key.desc ? 'desc' : 'asc'}`).join(', ')

/** Two lists of recipients in the order of numbers as one. */
function* merged(rows: Iterator<RecipientRow>, others: Iterator<RecipientRow>, desc: boolean): Generator<RecipientRow> {
  let [row, other] = [rows.next(), others.next()]
  while (!row.done || !other.done) {
    if (!row.done && (other.done || row.value.n < other.value.n !== desc)) {
      yield row.value
      row = rows.next()
    } else if (!other.done) {
      yield other.value
      other = others.next()
    }
  }
}

const listFrom = (sql: SqlStorage, from: string, { where, values, sort, skipped }: RecipientPlace, size: number) =>
  sql
    .exec(
      `select * from ${from} where ${where.join(' and ') || '1'} order by ${orderOf(sort)} limit ? offset ?`,
      ...values,
      size,
      skipped,
    )
    .toArray() as unknown as RecipientRow[]

/** In the order of numbers no more is read than the page has, also of those who wait in packs. */
function listByNumber(
  sql: SqlStorage,
  { where, values, sort, after, skipped }: RecipientPlace,
  size: number,
): RecipientRow[] {
  const desc = sort[0]?.desc ?? false
  const rows = sql.exec(
    `select * from recipients where ${where.join(' and ') || '1'} order by ${orderOf(sort)}`,
    ...values,
  ) as unknown as Iterator<RecipientRow>
  const packed = new PackStore(sql).inOrder(desc, after === null ? null : Number(after[0]))
  return merged(rows, packed, desc).drop(skipped).take(size).toArray()
}

/** What a list asks for: all keys of its order, of which the last is the number, and its conditions. */
function askedBy({ state, reason, engagement, sort }: RecipientsQuery) {
  const keys = [
    ...sort.filter(({ by }) => by !== 'n'),
    sort.find(({ by }) => by === 'n') ?? ({ by: 'n', desc: sort.at(-1)?.desc ?? false } as const),
  ].flatMap(({ by, desc }) => keysOf[by](desc))
  const where = [
    ...(reason ? ['reason = ?'] : []),
    ...(state ? [`state = ${recipientState(state)}`] : []),
    // Written out for the index of those to whom nothing was sent.
    ...(reason || state === 'failed' || state === 'skipped' ? [areApart] : []),
    ...(engagement ? [engaged[engagement]] : []),
  ]
  const hasPacked = !reason && !engagement && (state === undefined || state === 'pending')
  return { keys, where, values: reason ? [reason] : [], hasPacked }
}

type AskedRecipients = ReturnType<typeof askedBy>

const fromOf = ({ hasPacked }: AskedRecipients): string => (hasPacked ? everyone : 'recipients')

/** Where the list reads on behind the row before the page. */
function placeOf({ keys, where, values }: AskedRecipients, { after, skipped }: RecipientsQuery): RecipientPlace {
  if (after?.length !== keys.length) return { where, values, sort: keys, after: null, skipped }
  const alternatives = keys.map((key, index) => {
    const equal = keys.slice(0, index).map((earlier) => `${earlier.sql} = ?`)
    return `(${[...equal, `${key.sql} ${key.desc ? '<' : '>'} ?`].join(' and ')})`
  })
  const given = keys.flatMap((_, index) => after.slice(0, index + 1))
  return {
    where: [...where, `(${alternatives.join(' or ')})`],
    values: [...values, ...given],
    sort: keys,
    after,
    skipped: 0,
  }
}

function countOf(
  sql: SqlStorage,
  { where, values }: AskedRecipients,
  { state, reason, engagement }: RecipientsQuery,
): number {
  const counting =
    reason || engagement
      ? `select count(*) as n from recipients where ${where.join(' and ')}`
      : `select ${state ? counted[state] : 'total + skipped'} as n from record`
  return sql.exec<{ n: number }>(counting, ...values).toArray()[0]?.n ?? 0
}

/** The recipients of a campaign, by page. */
export class RecipientList {
  readonly #store: RecipientStore
  readonly #orders: KeptOrders

  constructor(store: RecipientStore) {
    this.#store = store
    this.#orders = new KeptOrders(store.storage.sql)
  }

  /**
   * One page of the recipients, and the count of all that match. The counters have that of a state. Where a reason, an
   * engagement or another order is asked for, recipients are read to count or to order them: once for all pages until one of
   * them changes, when the campaign is not under way.
   */
  page(query: RecipientsQuery): RecipientsPage {
    const { sql } = this.#store.storage
    const { size, reason, engagement } = query
    const asked = askedBy(query)
    const isByNumber = asked.keys[0]?.sql === 'n'
    const isKept = reason !== undefined || engagement !== undefined || !isByNumber
    const kept = isKept && !isRunning(this.#store.record()?.status ?? '') ? this.#keptPage(asked, query) : null
    if (kept) return kept
    const place = placeOf(asked, query)
    const rows =
      asked.hasPacked && isByNumber ? listByNumber(sql, place, size + 1) : listFrom(sql, fromOf(asked), place, size + 1)
    return pageOf(rows, asked, size, countOf(sql, asked, query))
  }

  /** A page by the numbers of the whole list. Null where the row before it is not where it was. */
  #keptPage(asked: AskedRecipients, { size, skipped, after, engagement }: RecipientsQuery): RecipientsPage | null {
    const { keys, where, values } = asked
    const numbers = this.#orders.numbersOf({
      query: `select n from ${fromOf(asked)} where ${where.join(' and ') || '1'} order by ${orderOf(keys)}`,
      values,
      isOfEngagement: engagement !== undefined,
    })
    let start = skipped
    if (after?.length === keys.length) {
      const last = Number(after.at(-1))
      const [row] = this.#store.recipients([last])
      start = numbers.indexOf(last) + 1
      if (!row || start === 0 || keys.some((key, index) => key.of(row) !== after[index])) return null
    }
    const found = [...numbers.subarray(start, start + size + 1)]
    const rows = new Map(this.#store.recipients(found).map((row) => [row.n, row]))
    const ordered = found.flatMap((n) => rows.get(n) ?? [])
    return pageOf(ordered, asked, size, numbers.length)
  }
}

/** `found` has one row more than the page where another page follows. */
function pageOf(found: RecipientRow[], { keys }: AskedRecipients, size: number, count: number): RecipientsPage {
  const rows = found.slice(0, size)
  const last = rows.at(-1)
  return { rows, count, after: last && found.length > size ? keys.map((key) => key.of(last)) : null }
}
