import * as fc from 'fast-check'
import type { RecipientRow, RecipientsPage, RecipientsQuery } from '../../src/domain/campaigns/sender.ts'
import { engagements, failReasons, recipientStates, skipReasons } from '../../src/domain/campaigns/sending-policy.ts'
import { everyone } from '../../src/objects/campaign/pack-store.ts'

type Sort = RecipientsQuery['sort']

const engaged: Record<(typeof engagements)[number], string> = {
  delivered: 'delivered_at is not null',
  opened: 'opened_at is not null',
  not_opened: "state = 'sent' and bounced_at is null and opened_at is null",
  clicked: 'clicked_at is not null',
  not_clicked: "state = 'sent' and bounced_at is null and clicked_at is null",
  bounced: 'bounced_at is not null',
  complained: 'complained_at is not null',
  unsubscribed: 'unsubscribed_at is not null',
}

/** Column, direction, and its value of a row. */
type Key = [string, boolean, (row: RecipientRow) => string | number]

const keysOf = (sort: Sort): Key[] => {
  const keys = sort.flatMap(({ by, desc }): Key[] =>
    by === 'sent_at'
      ? [
          ['(sent_at is null)', false, (row) => Number(row.sent_at === null)],
          ['coalesce(sent_at, 0)', desc, (row) => row.sent_at ?? 0],
        ]
      : [[by, desc, (row) => row[by]]],
  )
  return sort.some(({ by }) => by === 'n') ? keys : [...keys, ['n', sort.at(-1)?.desc ?? false, (row) => row.n]]
}

/** A page as SQL finds it among all recipients. */
export function pageBySql(sql: SqlStorage, query: RecipientsQuery): RecipientsPage {
  const { state, reason, engagement, sort, size, after } = query
  const keys = keysOf(sort)
  const where = [
    state ? `state = '${state}'` : 'true',
    reason ? `reason = '${reason}'` : 'true',
    engagement ? engaged[engagement] : 'true',
  ].join(' and ')
  const behind = keys.map(([column, desc], index) => {
    const equal = keys.slice(0, index).map(([earlier]) => `${earlier} = ?`)
    return `(${[...equal, `${column} ${desc ? '<' : '>'} ?`].join(' and ')})`
  })
  const given = after ? keys.flatMap((_, index) => after.slice(0, index + 1)) : []
  const found = sql
    .exec(
      `select * from ${everyone} where ${where} and (${after ? behind.join(' or ') : 'true'})
       order by ${keys.map(([column, desc]) => `${column} ${desc ? 'desc' : 'asc'}`).join(', ')} limit ? offset ?`,
      ...given,
      size + 1,
      after ? 0 : query.skipped,
    )
    .toArray() as unknown as RecipientRow[]
  const rows = found.slice(0, size)
  const last = rows.at(-1)
  const count = sql.exec<{ n: number }>(`select count(*) as n from ${everyone} where ${where}`).one().n
  return { rows, count, after: last && found.length > size ? keys.map(([, , of]) => of(last)) : null }
}

const by = (name: Sort[number]['by']) => fc.record({ by: fc.constant(name), desc: fc.boolean() })

/** Any filter, filters together, and any order. */
export const recipientsQuery: fc.Arbitrary<RecipientsQuery> = fc.record({
  state: fc.option(fc.constantFrom(...recipientStates), { nil: undefined }),
  reason: fc.option(fc.constantFrom(...skipReasons, ...failReasons), { nil: undefined, freq: 4 }),
  engagement: fc.option(fc.constantFrom(...engagements), { nil: undefined }),
  sort: fc.oneof<fc.Arbitrary<Sort>[]>(
    fc.constant([]),
    fc.tuple(fc.oneof(by('n'), by('address'), by('sent_at'))),
    fc.tuple(by('address'), by('sent_at')),
    fc.tuple(by('sent_at'), by('address')),
  ),
  size: fc.constantFrom(1, 3, 10, 50),
  skipped: fc.constantFrom(0, 0, 10, 40),
  after: fc.constant(null),
})
