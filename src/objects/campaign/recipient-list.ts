import type { RecipientRow, RecipientsPage, RecipientsQuery } from '../../domain/campaigns/sender.ts'
import type { Engagement, RecipientState } from '../../domain/campaigns/sending-policy.ts'
import { everyone, PackStore } from './pack-store.ts'
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

/**
 * One page of the recipients, and the count of all that match. The counters have that of a state. Where a reason, an
 * engagement or another order is asked for, recipients are read to count or to order them.
 */
export function listRecipients(sql: SqlStorage, query: RecipientsQuery): RecipientsPage {
  const { state, reason, engagement, size, skipped, after } = query
  const sort = [
    ...query.sort.filter(({ by }) => by !== 'n'),
    query.sort.find(({ by }) => by === 'n') ?? ({ by: 'n', desc: query.sort.at(-1)?.desc ?? false } as const),
  ].flatMap(({ by, desc }) => keysOf[by](desc))
  const where = [
    ...(reason ? ['reason = ?'] : []),
    ...(state ? [`state = ${recipientState(state)}`] : []),
    // Written out for the index of those to whom nothing was sent.
    ...(reason || state === 'failed' || state === 'skipped' ? [areApart] : []),
    ...(engagement ? [engaged[engagement]] : []),
  ]
  const values: SqlStorageValue[] = reason ? [reason] : []
  const counting =
    reason || engagement
      ? `select count(*) as n from recipients where ${where.join(' and ')}`
      : `select ${state ? counted[state] : 'total + skipped'} as n from record`
  const count = sql.exec<{ n: number }>(counting, ...values).toArray()[0]?.n ?? 0
  const isFollowing = after !== null && after.length === sort.length
  if (isFollowing) {
    const alternatives = sort.map((key, index) => {
      const equal = sort.slice(0, index).map((earlier) => `${earlier.sql} = ?`)
      return `(${[...equal, `${key.sql} ${key.desc ? '<' : '>'} ?`].join(' and ')})`
    })
    where.push(`(${alternatives.join(' or ')})`)
    for (const index of sort.keys()) values.push(...after.slice(0, index + 1))
  }
  const place = { where, values, sort, after: isFollowing ? after : null, skipped: isFollowing ? 0 : skipped }
  const hasPacked = !reason && !engagement && (state === undefined || state === 'pending')
  const rows =
    hasPacked && sort[0]?.sql === 'n'
      ? listByNumber(sql, place, size + 1)
      : listFrom(sql, hasPacked ? everyone : 'recipients', place, size + 1)
  const page = rows.slice(0, size)
  const last = page.at(-1)
  return { rows: page, count, after: last && rows.length > size ? sort.map((key) => key.of(last)) : null }
}
