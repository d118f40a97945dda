import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { insertEditionCustomers } from '../../src/db/customers.ts'
import { users } from '../../src/db/schema/customers.ts'
import { orders } from '../../src/db/schema/orders.ts'
import { insert } from '../../src/db/write.ts'
import { buildSearchColumns } from '../../src/domain/accounts/users.ts'
import { fold, buildSearchText } from '../../src/domain/text/fold.ts'
import { cleanName } from '../../src/domain/text/invisible.ts'
import { buildMembership } from './seeding/customers.ts'
import { seedEdition } from './seeding/editions.ts'
import { givenOrganization } from './seeding/organizations.ts'
import { freshId, write } from './seeding/rows.ts'

/** Letters that folding and SQL treat differently, few enough that texts overlap. */
const oddLetters = [
  ['a', 'A', 'b', 'n', 'Æ', 'ß', 'Ł', 'İ', 'ς', 'É', 'e\u0301', '🎪', '👩‍👩‍👧', '中', '文', 'ﬁ', '％'],
  ['"', "'", '%', '_', '*', '(', ')', '-', '+', ':', '\\', '^', '{', '0', '1', '2', ' ', '@', '.', 'OR', 'NEAR'],
  // Search marks of editions and organisations.
  ['\u0341\u0342\u0333', '\u{E0131}'],
].flat()
const letter = fc.constantFrom(...oddLetters)
export const text = (maxLength: number) =>
  fc.array(letter, { minLength: 1, maxLength }).map((letters) => letters.join('').trim())
/** An order number has up to 16 characters. */
const orderNumber = text(6).map((number) => number.slice(0, 16).toWellFormed().replaceAll('\ufffd', '').trim() || 'n')

export const person = fc.record({
  email: text(12),
  phone: fc.constantFrom(null, '+4520123456', '+4512012012', '+48512345678'),
  name: text(10).map(cleanName),
  given: fc.option(fc.record({ email: text(8), name: text(8).map(cleanName) }), { nil: null }),
  numbers: fc.array(orderNumber, { minLength: 1, maxLength: 2 }),
})

/** Changes of a row after its creation. */
export const act = fc.oneof(
  fc.record({ act: fc.constant('contact' as const), of: fc.nat(), email: text(10), name: text(8).map(cleanName) }),
  fc.record({ act: fc.constant('given' as const), of: fc.nat(), email: text(10), name: text(8).map(cleanName) }),
  fc.record({ act: fc.constant('number' as const), of: fc.nat(), number: orderNumber }),
  fc.record({ act: fc.constant('delete order' as const), of: fc.nat() }),
  fc.record({ act: fc.constant('leave' as const), of: fc.nat() }),
)

/** Seeds customers of an organisation with two editions, and their orders. */
export interface SearchedPeople {
  organization: string
  editions: readonly [string, string]
  customers: string[]
  orders: string[]
}

const buildContact = ({ email, phone, name }: { email: string; phone: string | null; name: string }) => ({
  email,
  phone_number: phone,
  first_name: name,
  last_name: '',
})

const at = { created_at: 1, modified_at: 1 }

export async function make(
  people: readonly (typeof person extends fc.Arbitrary<infer P> ? P : never)[],
): Promise<SearchedPeople> {
  const organization = await givenOrganization()
  const [first, second] = [await seedEdition(organization), await seedEdition(organization)]
  const searchedPeople: SearchedPeople = {
    organization: organization.id,
    editions: [first.id, second.id],
    customers: [],
    orders: [],
  }
  for (const seededPerson of people) {
    const user_id = freshId('user')
    const contact = buildContact({ ...seededPerson, email: `${seededPerson.email}#${user_id}` })
    const defaults = { locale: 'en', msg_channel: 'email' as const, metadata: {}, ...at }
    const newContact = seededPerson.given && buildContact({ ...seededPerson, ...seededPerson.given })
    await write(
      insert(users, {
        id: user_id,
        organization_id: organization.id,
        ...contact,
        ...buildSearchColumns(contact),
        ...defaults,
      }),
      ...insertEditionCustomers([buildMembership(first.id, { id: user_id, ...contact, locale: 'en' }, 1)]),
      ...(newContact
        ? insertEditionCustomers([buildMembership(second.id, { id: user_id, ...newContact, locale: 'en' }, 2)])
        : []),
    )
    searchedPeople.customers.push(user_id)
    for (const [index, order_number] of seededPerson.numbers.entries()) {
      const id = freshId('order')
      const edition_id = newContact && index === 1 ? second.id : first.id
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
          cart: { id: freshId('cart') },
          has_payment: false,
          number_folded: fold(order_number),
          search_text: buildSearchText(order_number, id),
          ...at,
        }),
      )
      searchedPeople.orders.push(id)
    }
  }
  return searchedPeople
}

const picked = (ids: readonly string[], of: number): string => ids[of % ids.length] ?? ''

export async function change(
  people: SearchedPeople,
  one: typeof act extends fc.Arbitrary<infer A> ? A : never,
): Promise<void> {
  const customer = picked(people.customers, one.of)
  const order = picked(people.orders, one.of)
  switch (one.act) {
    case 'contact': {
      const contact = buildContact({ email: `${one.email}#${customer}`, phone: null, name: one.name })
      const { phone_digits, search_text } = buildSearchColumns(contact)
      await write(
        sql`update users set email = ${contact.email}, phone_number = null, first_name = ${contact.first_name},
          phone_digits = ${phone_digits}, search_text = ${search_text} where id = ${customer}`,
      )
      return
    }
    case 'given': {
      const contact = buildContact({ ...one, phone: null })
      const { search_text } = buildSearchColumns(contact)
      await write(sql`update edition_customers set email = ${one.email}, phone_number = null, first_name = ${contact.first_name},
        search_text = ${search_text}, phone_digits = '' where user_seq = (select seq from users where id = ${customer})`)
      return
    }
    case 'number':
      await write(sql`update orders set order_number = ${one.number}, number_folded = ${fold(one.number)},
        search_text = ${fold(one.number)} where id = ${order}`)
      return
    case 'delete order':
      await write(sql`delete from orders where id = ${order}`)
      return
    case 'leave':
      await write(sql`delete from edition_customers where edition_id = ${people.editions[1]}
        and user_seq = (select seq from users where id = ${customer})`)
  }
}
