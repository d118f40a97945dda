import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { rootToken } from '../support/api.ts'
import { walkAs } from '../support/lists.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { db, freshId, write } from '../support/seeding/rows.ts'
import { insert } from '../../src/db/write.ts'
import { orders } from '../../src/db/schema/sales/orders.ts'
import { insertEditionCustomers } from '../../src/db/edition-customers.ts'
import { users } from '../../src/db/schema/users.ts'
import { givenSearchColumns, searchColumns } from '../../src/domain/accounts/users.ts'
import { digitsOf, fold, phoneDigits, phoneNeedles, searchText } from '../../src/domain/text/fold.ts'

/** Letters that folding and SQL treat in ways of their own, few enough that texts meet. */
const oddLetters = [
  ['a', 'A', 'b', 'n', 'Æ', 'ß', 'Ł', 'İ', 'ς', 'É', 'e\u0301', '🎪', '👩‍👩‍👧', '中', '文', 'ﬁ', '％'],
  ['"', "'", '%', '_', '*', '(', ')', '-', '+', ':', '\\', '^', '{', '0', '1', '2', ' ', '@', '.', 'OR', 'NEAR'],
  // What editions and organisations are marked with.
  ['\u0341\u0342\u0333', '\u{E0131}'],
].flat()
const letter = fc.constantFrom(...oddLetters)
const text = (maxLength: number) =>
  fc.array(letter, { minLength: 1, maxLength }).map((letters) => letters.join('').trim())
/** An order number has up to 16 characters. */
const orderNumber = text(6).map((number) => number.slice(0, 16).toWellFormed().replaceAll('\ufffd', '').trim() || 'n')

const person = fc.record({
  email: text(12),
  phone: fc.constantFrom(null, '+4520123456', '+4512012012', '+48512345678'),
  name: text(10),
  given: fc.option(fc.record({ email: text(8), name: text(8) }), { nil: null }),
  numbers: fc.array(orderNumber, { minLength: 1, maxLength: 2 }),
})

/** What may become of a row after it was made. */
const act = fc.oneof(
  fc.record({ act: fc.constant('contact' as const), of: fc.nat(), email: text(10), name: text(8) }),
  fc.record({ act: fc.constant('given' as const), of: fc.nat(), email: text(10), name: text(8) }),
  fc.record({ act: fc.constant('number' as const), of: fc.nat(), number: orderNumber }),
  fc.record({ act: fc.constant('delete order' as const), of: fc.nat() }),
  fc.record({ act: fc.constant('leave' as const), of: fc.nat() }),
)

interface Made {
  organization: string
  editions: readonly [string, string]
  customers: string[]
  orders: string[]
}

const contactOf = ({ email, phone, name }: { email: string; phone: string | null; name: string }) => ({
  email,
  phone_number: phone,
  first_name: name,
  last_name: '',
})

const at = { created_at: 1, modified_at: 1 }

async function make(people: readonly (typeof person extends fc.Arbitrary<infer P> ? P : never)[]): Promise<Made> {
  const organization = await givenOrganization()
  const [first, second] = [await seedEdition(organization), await seedEdition(organization)]
  const made: Made = { organization: organization.id, editions: [first.id, second.id], customers: [], orders: [] }
  for (const one of people) {
    const user_id = freshId('user')
    const contact = contactOf({ ...one, email: `${one.email}#${user_id}` })
    const own = { locale: 'en', msg_channel: 'email' as const, metadata: {}, ...at }
    const given = one.given && contactOf({ ...one, ...one.given })
    await write(
      insert(users, { id: user_id, organization_id: organization.id, ...contact, ...searchColumns(contact), ...own }),
      ...insertEditionCustomers([
        { edition_id: first.id, user_id, ...contact, ...givenSearchColumns(contact), created_at: 1 },
      ]),
      ...(given
        ? insertEditionCustomers([
            { edition_id: second.id, user_id, ...given, ...givenSearchColumns(given), created_at: 2 },
          ])
        : []),
    )
    made.customers.push(user_id)
    for (const [index, order_number] of one.numbers.entries()) {
      const id = freshId('order')
      const edition_id = given && index === 1 ? second.id : first.id
      const search_own = searchText(order_number, id)
      await write(
        insert(orders, {
          id,
          organization_id: organization.id,
          edition_id,
          user_id,
          order_number,
          type: 'imported',
          status: 'completed',
          amount_minor: 1,
          currency: 'dkk',
          items_count: 1,
          has_payment: false,
          number_folded: fold(order_number),
          search_own,
          search: searchText(order_number, id, contact.email, digitsOf(contact.phone_number ?? '')),
          ...at,
        }),
      )
      made.orders.push(id)
    }
  }
  return made
}

const picked = (ids: readonly string[], of: number): string => ids[of % ids.length] ?? ''

async function change(made: Made, one: typeof act extends fc.Arbitrary<infer A> ? A : never): Promise<void> {
  const customer = picked(made.customers, one.of)
  const order = picked(made.orders, one.of)
  switch (one.act) {
    case 'contact': {
      const contact = contactOf({ email: `${one.email}#${customer}`, phone: null, name: one.name })
      const { search, email_folded, phone_digits } = searchColumns(contact)
      await write(
        sql`update users set email = ${contact.email}, phone_number = null, first_name = ${contact.first_name},
          email_folded = ${email_folded}, phone_digits = ${phone_digits}, search = ${search} where id = ${customer}`,
        sql`update orders set search = search_own || char(31) || ${fold(contact.email)} where user_id = ${customer}`,
      )
      return
    }
    case 'given': {
      const contact = contactOf({ ...one, phone: null })
      const { name_folded, email_folded } = givenSearchColumns(contact)
      await write(sql`update user_editions set email = ${one.email}, first_name = ${contact.first_name}, name_folded = ${name_folded},
        email_folded = ${email_folded}, phone_digits = '' where user_id = ${customer}`)
      return
    }
    case 'number':
      await write(sql`update orders set order_number = ${one.number}, number_folded = ${fold(one.number)},
        search = ${fold(one.number)} || char(31) || substr(search, length(search_own) + 2),
        search_own = ${fold(one.number)} where id = ${order}`)
      return
    case 'delete order':
      await write(sql`delete from orders where id = ${order}`)
      return
    case 'leave':
      await write(sql`delete from user_editions where user_id = ${customer} and edition_id = ${made.editions[1]}`)
  }
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).toSorted()
const either = (column: string, needles: readonly string[]) =>
  sql.join(
    needles.map((needle) => sql`instr(${sql.raw(column)}, ${needle}) > 0`),
    sql` or `,
  )

interface Person {
  id: string
  email: string | null
  first_name: string
  phone_digits: string
}

const textsOf = ({ first_name, email, phone_digits }: Person): string[] => [
  fold(first_name),
  fold(email ?? ''),
  phone_digits,
]

const containsOneOf = (texts: readonly string[], needles: readonly string[]): boolean =>
  needles.some((needle) => texts.some((one) => one.includes(needle)))

/** What each filter finds, by reading every row. */
async function reference(made: Made, needle: string) {
  const folded = [fold(needle), ...phoneNeedles(needle)]
  const digits = phoneDigits(needle)
  const ordersWhere = async (condition: ReturnType<typeof either>) =>
    idsOf(
      await db.all(sql<{ id: string }>`select orders.id from orders join users on users.id = user_id
        where orders.edition_id = ${made.editions[0]} and (${condition})`),
    )
  const people = await db.all(sql<Person & { orders: string }>`select id, email, first_name, phone_digits,
      (select json_group_array(orders.id) from orders where user_id = users.id and edition_id = ${made.editions[0]}) as orders
    from users where organization_id = ${made.organization}`)
  const ofAddress = people.filter(({ email }) => fold(email ?? '').includes(fold(needle)))
  return {
    search: await ordersWhere(either('(orders.search_own || char(31) || orders.search)', folded)),
    order_number: await ordersWhere(either('orders.number_folded', [fold(needle)])),
    customer_email: ofAddress.flatMap((one) => JSON.parse(one.orders) as string[]).toSorted(),
    customer_phone: digits.length ? await ordersWhere(either('users.phone_digits', digits)) : [],
    customers: idsOf(people.filter((one) => containsOneOf(textsOf(one), folded))),
  }
}

const listed = async (path: string, token: string): Promise<string[]> => {
  const { ids, count } = await walkAs(token, `${path}&page_size=7`)
  expect(new Set(ids).size).toBe(count)
  return ids.toSorted()
}

const found = async (made: Made, needle: string) => {
  const encoded = encodeURIComponent(needle)
  const filter = (name: string) => listed(`/v1/orders?edition_id=${made.editions[0]}&${name}=${encoded}`, rootToken)
  return {
    search: await filter('search'),
    order_number: await filter('order_number'),
    customer_email: await filter('customer_email'),
    customer_phone: await filter('customer_phone'),
    customers: await listed(`/v1/user?organization_id=${made.organization}&search=${encoded}`, rootToken),
  }
}

/** What a viewer of the second edition finds, by comparing all that the viewer sees, one row at a time. */
async function seenByViewer(made: Made, needle: string) {
  const folded = [fold(needle), ...phoneNeedles(needle)]
  const rows = await db.all(sql<
    Person & { given_name: string; given_email: string | null; given_digits: string; is_shared: number }
  >`
    select users.id, users.email, users.first_name, users.phone_digits,
      given.first_name as given_name, given.email as given_email, given.phone_digits as given_digits,
      exists (select 1 from user_editions as others where others.user_id = users.id
        and others.edition_id <> given.edition_id) as is_shared
    from user_editions as given join users on users.id = given.user_id where given.edition_id = ${made.editions[1]}`)
  return idsOf(
    rows.filter((row) =>
      containsOneOf(
        row.is_shared ? [fold(row.given_name), fold(row.given_email ?? ''), row.given_digits] : textsOf(row),
        folded,
      ),
    ),
  )
}

it('every search finds what a comparison of all rows finds, after any writes, changes and deletions', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(person, { minLength: 4, maxLength: 8 }),
      fc.array(act, { maxLength: 8 }),
      fc.array(fc.record({ from: fc.nat(), start: fc.nat(), length: fc.integer({ min: 3, max: 8 }) }), {
        minLength: 5,
        maxLength: 5,
      }),
      fc.array(text(4), { minLength: 2, maxLength: 2 }),
      async (people, acts, slices, others) => {
        const made = await make(people)
        for (const one of acts) await change(made, one)
        const viewer = await givenMember({ id: made.organization }, 'viewer', made.editions[1])
        const texts = await db.all(sql<{ text: string }>`
          select search_text as text from users where organization_id = ${made.organization}
          union all select search from orders where organization_id = ${made.organization}`)
        const parts = slices.map(({ from, start, length }) => {
          const letters = [...(texts[from % texts.length]?.text ?? '').toLowerCase()]
          return letters
            .slice(start % Math.max(1, letters.length))
            .slice(0, length)
            .join('')
        })
        for (const needle of [...parts, ...others]) {
          const given = needle.replaceAll(/\p{Cc}/gu, '').trim()
          if (given === '') continue
          expect([given, await found(made, given)]).toEqual([given, await reference(made, given)])
          const own = await listed(
            `/v1/user?edition_id=${made.editions[1]}&search=${encodeURIComponent(given)}`,
            viewer.token,
          )
          expect([given, own]).toEqual([given, await seenByViewer(made, given)])
        }
      },
    ),
    { numRuns: 6, endOnFailure: true },
  )
})
