import type { RecipientRow, RecipientsPage, RecipientsQuery } from '../domain/campaign-sender.ts'

const columns = { address: 'address', sent_at: 'coalesce(sent_at, 0)', n: 'n' } as const

/** One page of the recipients, and the count of all that were asked for. */
export function listRecipients(sql: SqlStorage, query: RecipientsQuery): RecipientsPage {
  const { state, reason, size, skipped, after } = query
  const sort = [
    ...query.sort.filter(({ by }) => by !== 'n'),
    query.sort.find(({ by }) => by === 'n') ?? ({ by: 'n', desc: query.sort.at(-1)?.desc ?? false } as const),
  ]
  const asked: [string, string][] = [
    ...(state ? [['state = ?', state] as [string, string]] : []),
    ...(reason ? [['reason = ?', reason] as [string, string]] : []),
  ]
  const where = asked.map(([condition]) => condition)
  const values: SqlStorageValue[] = asked.map(([, value]) => value)
  const count = sql
    .exec<{ n: number }>(`select count(*) as n from recipients where ${where.join(' and ') || '1'}`, ...values)
    .one().n
  const isFollowing = after !== null && after.length === sort.length
  if (isFollowing) {
    const alternatives = sort.map(({ by, desc }, index) => {
      const equal = sort.slice(0, index).map((earlier) => `${columns[earlier.by]} = ?`)
      return `(${[...equal, `${columns[by]} ${desc ? '<' : '>'} ?`].join(' and ')})`
    })
    where.push(`(${alternatives.join(' or ')})`)
    for (const index of sort.keys()) values.push(...after.slice(0, index + 1))
  }
  const order = sort.map(({ by, desc }) => `${columns[by]} ${desc ? 'desc' : 'asc'}`).join(', ')
  const rows = sql
    .exec(
      `select * from recipients where ${where.join(' and ') || '1'} order by ${order} limit ? offset ?`,
      ...values,
      size + 1,
      isFollowing ? 0 : skipped,
    )
    .toArray() as unknown as RecipientRow[]
  const page = rows.slice(0, size)
  const last = page.at(-1)
  const keys = last && { address: last.address, sent_at: last.sent_at ?? 0, n: last.n }
  return { rows: page, count, after: keys && rows.length > size ? sort.map(({ by }) => keys[by]) : null }
}
