import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { customerIntervals } from '../../src/modules/users/intervals.ts'
import { settleCustomerIntervals } from '../../src/modules/users/jobs.ts'
import { rootToken } from './api.ts'
import { countedAnew, type Key, shortSizes, type StoredInterval } from './intervals.ts'
import { idsOf, nullsLast, readAs } from './lists.ts'
import { manyFrom } from './seeding/many-orders.ts'
import { db, unique, write } from './seeding/rows.ts'

const days = 300

/** Customers of an organisation: with ties, in part without an address, a number or a visit, and some who were erased. */
export async function seedManyCustomers(organization: string, count: number): Promise<void> {
  const mark = unique()
  await write(
    sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count}),
        made as (select i, ${mark} || i as mark, i % 50 = 9 as is_erased, i % 7 = 3 as has_number_alone from n)
      insert into users (id, organization_id, email, phone_number, locale, msg_channel, search, last_seen_at, created_at,
        modified_at, erased_at)
      select 'usr_' || mark,
        ${organization},
        iif(is_erased or has_number_alone, null, (i * 7919 % 10007) || '.' || mark || '@example.dk'),
        case when is_erased then 'usr_' || mark when has_number_alone then '+4530' || mark
          when i % 5 = 1 then '+4511111111' when i % 3 then null else '+45' || (i * 104729 % 1000003) end,
        'da', 'email', '',
        iif(i % 4, null, ${manyFrom} + i * 48271 % 300 * 60000),
        ${manyFrom} + cast((i * 7927 % ${count}) * ${days} / ${count} as integer) * 86400000 + iif(i % 2, 0, i * 15485863 % 86400000),
        ${manyFrom},
        iif(is_erased, ${manyFrom}, null)
      from made`,
  )
}

/** When all of them are settled. */
export const later = manyFrom + (days + 2) * 86_400_000

export interface StoredCustomer {
  id: string
  seq: number
  email: string | null
  phone_number: string | null
  last_seen: number | null
  date_joined: number
}

export const storedCustomers = (organization: string): Promise<StoredCustomer[]> =>
  db.all(sql<StoredCustomer>`select id, seq, email, phone_number, last_seen_at as last_seen, created_at as date_joined
    from users where organization_id = ${organization}`)

function keysOf({ email, phone_number, last_seen, date_joined, seq }: StoredCustomer): Record<string, Key> {
  const number: Record<string, Key> =
    phone_number === null
      ? { no_phone: [0, date_joined, seq] }
      : phone_number.startsWith('usr_')
        ? {}
        : { phone: [phone_number, date_joined, seq] }
  return {
    ...(email === null ? { no_email: [0, 0, seq] } : { email: [email, 0, seq] }),
    ...number,
    ...(last_seen === null ? { unseen: [0, date_joined, seq] } : { seen: [last_seen, date_joined, seq] }),
  }
}

const placeOf = (ordering: string, key: readonly (string | number | undefined)[]): string =>
  JSON.stringify([ordering, ...key])

/** Compares the intervals of an organisation with its customers, of whom they have keys. Answers how many there are. */
export async function expectIntervalsToHold(scope: string): Promise<number> {
  const customers = await storedCustomers(scope)
  const [settled] = await db.all(
    sql<{ until: number }>`select until from settled_lists where list = 'customer_intervals' and scope = ${scope}`,
  )
  const stored = await db.all(
    sql<StoredInterval>`select * from customer_intervals where scope = ${scope} order by scope, ordering, value, created_at, seq`,
  )
  const counted = customers.filter(({ date_joined }) => date_joined < (settled?.until ?? 0)).map(keysOf)
  const rows = counted.map((keys) => ({ scopes: [scope], keys, count: 'total' }))
  expect(stored).toEqual(countedAnew(customerIntervals, stored, rows))
  const known = new Set(counted.flatMap((keys) => Object.entries(keys).map(([name, key]) => placeOf(name, key))))
  const foreign = stored
    .filter(({ seq }) => Number(seq) > 0)
    .map(({ ordering, value, created_at, seq }) => placeOf(String(ordering), [value, created_at, seq]))
    .filter((place) => !known.has(place))
  expect(foreign).toEqual([])
  return stored.length
}

/** Settles all customers who are old enough. */
export async function settleAll(now: number, sizes = shortSizes): Promise<void> {
  for (let minutes = 0; minutes < 3; minutes++) await settleCustomerIntervals({ db, now: () => now }, sizes)
}

type Field = 'email' | 'phone_number' | 'last_seen' | 'date_joined'
export const orderings = ['email', '-email', 'phone_number', '-phone_number', 'last_seen', '-last_seen']

/** The ids of all customers in an order, by sorting them. */
export function listed(customers: readonly StoredCustomer[], ordering: string): string[] {
  const isDesc = ordering.startsWith('-')
  const field = ordering.replace('-', '') as Field
  const compare = nullsLast(isDesc)
  const rows = customers.map((one) => ({
    ...one,
    isErased: field === 'phone_number' && (one.phone_number?.startsWith('usr_') ?? false),
  }))
  const shown = ({ isErased, [field]: value }: (typeof rows)[number]) => (isErased ? null : value)
  return rows
    .toSorted(
      (left, right) =>
        Number(left.isErased) - Number(right.isErased) ||
        compare(shown(left), shown(right)) ||
        (field === 'email' ? 0 : compare(left.date_joined, right.date_joined)) ||
        compare(left.seq, right.seq),
    )
    .map(({ id }) => id)
}

/** Of a page. */
const size = 100

/** Pages of an organisation's list by their numbers are those of all its customers in the order. */
export async function expectPagesByNumber(
  organization: string,
  { ordering, numbers, token = rootToken }: { ordering: string; numbers: readonly number[]; token?: string },
): Promise<void> {
  const ids = listed(await storedCustomers(organization), ordering)
  const last = Math.max(1, Math.ceil(ids.length / size))
  for (const number of new Set(numbers.map((one) => 1 + (one % last)))) {
    const query = `organization_id=${organization}&ordering=${ordering}&page=${number}`
    const reply = await readAs(token, `/v1/user?${query}`)
    expect([query, reply.status, reply.body.count ?? reply.text]).toEqual([query, 200, ids.length])
    expect([query, idsOf(reply)]).toEqual([query, ids.slice((number - 1) * size, number * size)])
  }
}
