import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { expect } from 'vitest'
import { beginCustomerRuns, buildCustomerRuns } from '../../src/modules/users/jobs.ts'
import { shortId } from '../../src/db/short-ids.ts'
import { rootToken } from './api.ts'
import { listed, seedManyCustomers, type StoredCustomer } from './customer-intervals.ts'
import { expectNumbers, nullsLast, readAs, walkAs } from './lists.ts'
import { manyFrom } from './seeding/many-orders.ts'
import { seedEdition } from './seeding/editions.ts'
import { seedAccount, seedMember, seedToken } from './seeding/members.ts'
import { givenOrganization } from './seeding/organizations.ts'
import { db, write } from './seeding/rows.ts'

/** Short chunks, so that few customers have many. */
export const shortSizes = {
  fewestRows: 1,
  rows: 40,
  fewestDue: 2,
  fewestInDelta: 10,
  mostInDelta: 150,
  stepsASweep: 10_000,
}

export const later = manyFrom + 700 * 86_400_000

export async function build(now: number, sizes = shortSizes): Promise<void> {
  await beginCustomerRuns({ db, now: () => now }, sizes)
  await buildCustomerRuns({ db, now: () => now }, sizes)
}

export const forgetRuns = () =>
  write(
    ...['list_sizes', 'customer_runs', 'customer_run_states', 'late_customers', 'storage_sweeps'].map(
      (name) => sql`delete from ${sql.raw(name)}`,
    ),
  )

export interface ManyCustomers {
  organization: string
  editions: readonly string[]
}

/** Customers of an organisation join an edition, those with a number that leaves this rest, or all of them. */
const join = (organization: string, edition: string, { part, rest }: { part: number; rest: number }) =>
  write(sql`insert or ignore into edition_customers (edition_short_id, user_seq, created_at, email, phone_number, first_name, locale)
    select ${shortId(edition)}, seq, iif(seq % 2, created_at, created_at + seq * ${part} % 7 * 1000000),
      case (seq + ${part}) % 5 when 0 then 'given-' || seq % 31 || '@example.dk' when 1 then null when 2 then ''
        when 3 then ${part} || '-' || seq % 13 || '@example.dk' else email end,
      case (seq + ${part}) % 4 when 0 then '+4599' || seq % 3 when 1 then '' when 2 then '+4598' || (seq + ${part}) % 7 else null end,
      iif(seq % 3, '', 'Given ' || seq % 11), iif(seq % 6, null, 'sv')
    from users where organization_id = ${organization} and seq % ${part} = ${rest % part}`)

/** An organisation with editions: one with all its customers, one with a third of them, one with few. */
export async function seedEditionCustomers(count: number): Promise<ManyCustomers> {
  const organization = await givenOrganization()
  await seedManyCustomers(organization.id, count)
  const editions: string[] = []
  for (const part of [1, 3, 29]) {
    const { id } = await seedEdition(organization)
    editions.push(id)
    await join(organization.id, id, { part, rest: 0 })
  }
  return { organization: organization.id, editions }
}

/** A token of one with a role in each of some editions. */
export async function tokenOfEditions(organization: string, editions: readonly string[]): Promise<string> {
  const account = await seedAccount()
  for (const edition of editions) await seedMember(account, { organization, edition, role: 'viewer' })
  return (await seedToken(account)).token
}

export const customersOf = (edition: string): Promise<StoredCustomer[]> =>
  db.all(sql<StoredCustomer>`select users.id, seq, users.email, users.phone_number, last_seen_at as last_seen,
      users.created_at as date_joined
    from edition_customers join users on seq = user_seq where edition_short_id = ${shortId(edition)}`)

/** What lists show of a customer. */
export interface ShownCustomer extends StoredCustomer {
  first_name: string
  last_name: string
  locale: string
  msg_channel: string
  is_verified: number
  metadata: string
}

/** As a role of some editions sees their customers: of those who are in others what these were given. */
export const customersShownIn = (editions: readonly string[]): Promise<ShownCustomer[]> => {
  const isOwn = sql`edition_short_id in (select value from json_each(${JSON.stringify(editions.map(shortId))}))`
  const newest = sql`order by created_at desc, edition_short_id limit 1`
  const given = (name: string) => sql`(select ${sql.raw(name)} from edition_customers
    where user_seq = seq and ${isOwn} and coalesce(${sql.raw(name)}, '') <> '' ${newest})`
  const language = sql`(select default_language from editions where substr(id, -8) =
    (select edition_short_id from edition_customers where user_seq = seq and ${isOwn} ${newest}))`
  return db.all(sql<ShownCustomer>`select id, seq,
      (select min(created_at) from edition_customers where user_seq = seq and ${isOwn}) as date_joined,
      iif(is_hidden, null, last_seen_at) as last_seen,
      iif(is_hidden, ${given('email')}, email) as email,
      iif(is_hidden, ${given('phone_number')}, nullif(phone_number, id)) as phone_number,
      iif(is_hidden, coalesce(${given('first_name')}, ''), first_name) as first_name,
      iif(is_hidden, coalesce(${given('last_name')}, ''), last_name) as last_name,
      iif(is_hidden, coalesce(${given('locale')}, ${language}), locale) as locale,
      iif(is_hidden, iif(${given('email')} is null, 'sms', 'email'), msg_channel) as msg_channel,
      iif(is_hidden, 0, is_verified) as is_verified, iif(is_hidden, '{}', metadata) as metadata
    from (select *, exists (select 1 from edition_customers where user_seq = seq and not ${isOwn}) as is_hidden
      from users where exists (select 1 from edition_customers where user_seq = seq and ${isOwn}))`)
}

/** The first page of a list has of each customer what is shown, and nothing else. */
async function expectShown(token: string, list: string, customers: readonly ShownCustomer[]): Promise<void> {
  const { body } = await readAs(token, list)
  const rows = body.results as { id: string }[]
  const byId = new Map(customers.map((one) => [one.id, one]))
  expect([list, rows]).toEqual([
    list,
    rows.map(({ id }) => {
      const { seq: _, date_joined, last_seen, is_verified, metadata, ...texts } = byId.get(id) ?? ({} as ShownCustomer)
      return {
        ...texts,
        is_active: true,
        is_verified: is_verified === 1,
        metadata: JSON.parse(metadata),
        date_joined: new Date(date_joined).toISOString(),
        last_seen: last_seen === null ? null : new Date(last_seen).toISOString(),
      }
    }),
  ])
}

/** Their ids in an order of roles of the edition. */
function listedToRole(customers: readonly StoredCustomer[], ordering: string): string[] {
  const compare = nullsLast(ordering.startsWith('-'))
  const field = ordering.replace('-', '') as (typeof fields)[number]
  return customers
    .toSorted((left, right) => compare(left[field], right[field]) || compare(left.seq, right.seq))
    .map(({ id }) => id)
}

const fields = ['date_joined', 'email', 'phone_number', 'last_seen'] as const
export const orderings = fields.flatMap((field) => [field, `-${field}`])

async function expectList(list: string, ids: readonly string[], token: string): Promise<void> {
  const { ids: found, count } = await walkAs(token, `${list}&page_size=100`)
  expect([list, count, found]).toEqual([list, ids.length, ids])
  await expectNumbers(list, ids, { size: 100, token })
}

/** The pages of a list, by `next` and by numbers, are all customers in the order, and each says how many there are. */
export async function expectEdition(edition: string, ordering: string, token = rootToken): Promise<void> {
  await expectList(
    `/v1/user?edition_id=${edition}&ordering=${ordering}`,
    listed(await customersOf(edition), ordering),
    token,
  )
}

/** The same for a role of some editions, with what it is shown of each customer. */
export async function expectRole(
  { token, editions }: { token: string; editions: readonly string[] },
  ordering: string,
  asked = `edition_id=${editions[0]}`,
): Promise<void> {
  const customers = await customersShownIn(editions)
  const list = `/v1/user?${asked}&ordering=${ordering}`
  await expectList(list, listedToRole(customers, ordering), token)
  await expectShown(token, `${list}&page_size=100`, customers)
}

const some = fc.record({ part: fc.constantFrom(3, 40, 700), rest: fc.nat({ max: 700 }) })
const changes = {
  address: sql`email = iif(email is null, null, 'x' || (seq * 7919 % 997) || '-' || email)`,
  'no address': sql`email = iif(coalesce(phone_number, '+4511111111') = '+4511111111', email, null),
    phone_number = iif(coalesce(phone_number, '+4511111111') = '+4511111111', phone_number, '+47' || seq)`,
  number: sql`phone_number = iif(email is null, phone_number, '+4511111111')`,
  'no number': sql`phone_number = iif(email is null, phone_number, null)`,
  seen: sql`last_seen_at = coalesce(last_seen_at, created_at) * 13 % 90000`,
  unseen: sql`last_seen_at = null`,
  joined: sql`created_at = created_at * 3 % ${later}`,
  erased: sql`email = null, phone_number = id, erased_at = 1`,
  nothing: sql`email = email, first_name = 'x'`,
}
const given = {
  email: sql`email = 'other-' || user_seq % 17 || '@example.dk'`,
  'no email': sql`email = null`,
  'empty email': sql`email = ''`,
  phone: sql`phone_number = '+4588' || user_seq % 5`,
  'no phone': sql`phone_number = null`,
  sooner: sql`created_at = created_at - 90000000 - user_seq % 5 * 1000`,
  joined: sql`created_at = created_at * 7 % ${later}`,
}
const edition = fc.nat({ max: 2 })

/** What may happen to customers of editions. */
export const act = fc.oneof(
  fc.record({ act: fc.constant('insert' as const), many: fc.constantFrom(1, 6, 120), edition }),
  fc.record({ act: fc.constant('join' as const), some, edition }),
  fc.record({ act: fc.constant('leave' as const), some, edition }),
  fc.record({
    act: fc.constant('change' as const),
    some,
    set: fc.constantFrom(...(Object.keys(changes) as (keyof typeof changes)[])),
  }),
  fc.record(
    {
      act: fc.constant('give' as const),
      some,
      set: fc.constantFrom(...(Object.keys(given) as (keyof typeof given)[])),
      /** Otherwise in all of them. */
      edition,
    },
    { requiredKeys: ['act', 'some', 'set'] },
  ),
  fc.record({ act: fc.constant('delete' as const), some }),
  fc.record({ act: fc.constant('delete newest' as const), many: fc.constantFrom(1, 4, 30) }),
  fc.record({ act: fc.constant('settle' as const), steps: fc.constantFrom(1, 3, 10_000), isNextDay: fc.boolean() }),
)
export type Act = typeof act extends fc.Arbitrary<infer One> ? One : never

const areSome = (key: string, { part, rest }: { part: number; rest: number }) =>
  sql`${sql.raw(key)} % ${part} = ${rest % part}`

async function remove(where: ReturnType<typeof sql>): Promise<void> {
  await write(
    sql`delete from edition_customers where user_seq in (select seq from users where ${where})`,
    sql`delete from users where ${where}`,
  )
}

/** Does what changes customers. */
export async function changeCustomers(one: Act, { organization, editions }: ManyCustomers): Promise<void> {
  const own = sql`organization_id = ${organization}`
  const shortIds = sql`(select substr(id, -8) from editions where ${own})`
  if (one.act === 'insert') {
    await seedManyCustomers(organization, one.many)
    await write(sql`insert into edition_customers (edition_short_id, user_seq, created_at)
      select ${shortId(editions[one.edition] ?? '')}, seq, created_at from users order by seq desc limit ${one.many}`)
  }
  if (one.act === 'join') await join(organization, editions[one.edition] ?? '', one.some)
  if (one.act === 'leave')
    await write(sql`delete from edition_customers
      where edition_short_id = ${shortId(editions[one.edition] ?? '')} and ${areSome('user_seq', one.some)}`)
  if (one.act === 'change')
    await write(sql`update users set ${changes[one.set]} where ${own} and ${areSome('seq', one.some)}`)
  if (one.act === 'give')
    await write(sql`update edition_customers set ${given[one.set]}
      where edition_short_id in ${one.edition === undefined ? shortIds : sql`(${shortId(editions[one.edition] ?? '')})`}
        and ${areSome('user_seq', one.some)}`)
  if (one.act === 'delete') await remove(sql`${own} and ${areSome('seq', one.some)}`)
  if (one.act === 'delete newest')
    await remove(sql`${own} and seq > (select max(seq) - ${one.many} from users where ${own})`)
}
