import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import * as fc from 'fast-check'
import type { NewRecipient, RecipientRow, RecipientsPage, RecipientsQuery } from '../../src/domain/campaigns/sender.ts'
import { engagements, failReasons, recipientStates, skipReasons } from '../../src/domain/campaigns/sending-policy.ts'
import { everyone } from '../../src/objects/campaign/pack-store.ts'

import { RecipientStore } from '../../src/objects/campaign/recipient-store.ts'
import { freshId } from './seeding/rows.ts'

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

/** Works on the recipients of a campaign that no one else has. */
export function withStore(work: (store: RecipientStore) => Promise<void> | void): Promise<void> {
  const id = freshId('campaign')
  return runInDurableObject(env.CAMPAIGN_SENDER.get(env.CAMPAIGN_SENDER.idFromName(id)), async (_, state) => {
    const store = new RecipientStore(state.storage)
    store.open(id)
    await work(store)
  })
}

/** Letters of two and three bytes stand where their bytes do, and pairs share an address. */
export const aPerson = (n: number): NewRecipient => ({
  n,
  user_id: `usr_${n}`,
  address: `${['a', 'Z', 'ø', '\uFFEE', '\u{1F600}'][(n >> 1) % 5]}${((n >> 1) * 7919) % 1009}${n % 6 < 2 ? '' : `-${n}`}@example.dk`,
  language: 'en',
  person: '{}',
  reason: null,
})

export const addPeople = (store: RecipientStore, first: number, many: number, skippedEach = 7) =>
  store.addRecipients(
    Array.from({ length: many }, (_, index) => ({
      ...aPerson(first + index),
      reason: (first + index) % skippedEach === 0 ? 'inactive' : null,
    })),
    'email',
  )
