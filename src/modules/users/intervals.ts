import { type SQL, sql } from 'drizzle-orm'
import type { IntervalList, IntervalOrdering, PartIndex } from '../../db/lists/intervals/interval-list.ts'
import { ranges } from './spans.ts'

const byJoining: PartIndex = { index: sql`users_order_created`, ranges: ranges.all }

/** Customers without a value, in the order in which they joined. */
const joined = (name: string, where: SQL): IntervalOrdering => ({ ...byJoining, name, value: null, least: -1, where })

const addresses = { index: sql`users_by_email`, without: ['created_at'] }

/** As lists read customers. One who was erased has an id for a number, and is in neither ordering of numbers. */
export const intervalOrderings = {
  email: { ...addresses, name: 'email', value: sql`users.email`, least: '', where: sql`users.email is not null` },
  no_email: { ...addresses, name: 'no_email', value: null, least: -1, where: sql`users.email is null` },
  phone: {
    index: sql`users_order_phone`,
    name: 'phone',
    value: sql`users.phone_number`,
    least: '',
    where: sql`users.phone_number < 'usr_'`,
  },
  no_phone: joined('no_phone', ranges.withoutNumber.where),
  seen: {
    index: sql`users_order_seen`,
    name: 'seen',
    value: sql`users.last_seen_at`,
    least: -1,
    where: sql`users.last_seen_at is not null`,
  },
  unseen: joined('unseen', ranges.unseen.where),
} satisfies Record<string, IntervalOrdering>

/** Customers of organisations. They are settled by the moment at which they joined. */
export const customerIntervals: IntervalList = {
  name: 'customer_intervals',
  arePersonal: true,
  table: sql`users`,
  intervals: sql`customer_intervals`,
  orderings: intervalOrderings,
  keys: [
    { name: 'created_at', column: sql`users.created_at`, least: -(2 ** 53) },
    { name: 'seq', column: sql`users.seq`, least: 0 },
  ],
  partsOf: (scope) => sql`select id, short_id as key from organizations where id = ${scope}`,
  part: sql`users.organization_short_id`,
  settled: { ...byJoining, at: sql`users.created_at` },
  facets: [],
  counts: [{ name: 'total', facets: [] }],
}
