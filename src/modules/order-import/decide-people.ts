import type { ExternalOrder } from '../../domain/orders/external-orders.ts'
import { longestList } from '../../domain/text/json.ts'
import type { Language } from '../../domain/languages.ts'
import { givenSearchColumns, searchColumns, type Contact } from '../../domain/accounts/users.ts'
import type { PersonBefore } from './before.ts'
import { shortId } from '../../db/short-ids.ts'
import type { GivenColumns, ImportState, UserRow } from './state.ts'
import { type DecisionContext, insertOf, type NewRows, type Write } from './writes.ts'

type Customer = ExternalOrder['customer']

/** What an order says of a person. */
export interface GivenPerson extends Customer {
  /** For who is new and of whom nothing else is said. */
  language: Language | null
}

export const customerOf = ({ customer }: ExternalOrder): GivenPerson => ({ ...customer, language: null })

export const holderOf = (
  { customer }: ExternalOrder,
  holder: { email: string; first_name: string; last_name: string },
): GivenPerson => ({ ...holder, phone_number: null, locale: null, metadata: {}, language: customer.locale })

const contactFields = ['email', 'phone_number', 'first_name', 'last_name'] as const

const contactOf = (person: Contact): Contact => ({
  email: person.email,
  phone_number: person.phone_number,
  first_name: person.first_name,
  last_name: person.last_name,
})

interface KnownPerson {
  user: UserRow
  /** As the database has them; null for who is new. */
  stored: UserRow | null
}

/** The people of a group of orders, each under one id, filled up by one order after the other. */
export class PeopleDecisions {
  readonly #context: DecisionContext
  readonly #byEmail: Map<string, string>
  readonly #byPhone: Map<string, string>
  readonly #known: Map<string, KnownPerson>
  /** By customer: what this import says of them. */
  readonly #said = new Map<string, GivenPerson>()

  constructor(context: DecisionContext, state: ImportState) {
    this.#context = context
    this.#byEmail = new Map([...state.usersByEmail].map(([email, { id }]) => [email, id]))
    this.#byPhone = new Map([...state.usersByPhone].map(([phone, { id }]) => [phone, id]))
    const users = [...state.holders, ...state.usersByPhone.values(), ...state.usersByEmail.values()]
    this.#known = new Map(users.map((user) => [user.id, { user, stored: user }]))
  }

  /** The customer by that id, with all that the orders say. */
  get(id: string): UserRow {
    const known = this.#known.get(id)
    if (!known) throw new Error('A person who was not added.')
    return known.user
  }

  /** Finds the person by the address or the number, or adds them. What is known is filled up, never overwritten. */
  add(given: GivenPerson): string {
    const found = this.#find(given)
    const { user, stored } = found ? { ...found, user: filledUp(found.user, given) } : this.#create(given)
    const known = { stored, user: { ...user, given_email: given.email ?? user.given_email } }
    this.#known.set(user.id, known)
    if (user.email !== null) this.#byEmail.set(user.email, user.id)
    if (user.phone_number !== null) this.#byPhone.set(user.phone_number, user.id)
    this.#said.set(user.id, saidAfter(this.#said.get(user.id), given))
    return user.id
  }

  /** By the address, else by the number where no address says otherwise. */
  #find({ email, phone_number }: GivenPerson): KnownPerson | undefined {
    const by = (ids: Map<string, string>, key: string | null) =>
      key === null ? undefined : this.#known.get(ids.get(key) ?? '')
    const byEmail = by(this.#byEmail, email)
    const byPhone = by(this.#byPhone, phone_number)
    if (byEmail || !byPhone || email === null) return byEmail ?? byPhone
    // Somebody without an address gets this one, unless the caller may not change them: then it is another customer's.
    const { user } = byPhone
    const isMeant = user.email === null ? user.is_kept === 0 : user.email === email
    return isMeant ? byPhone : undefined
  }

  #create(given: GivenPerson): KnownPerson {
    const { edition, now, newId } = this.#context
    const contact = contactOf(given)
    const user: Omit<UserRow, 'is_shared' | 'is_kept' | 'given_email'> = {
      id: newId('user'),
      organization_id: edition.organization_id,
      ...contact,
      ...searchColumns(contact),
      search_given: '',
      locale: given.locale ?? given.language ?? edition.default_language,
      msg_channel: given.email === null ? 'sms' : 'email',
      is_verified: false,
      is_active: true,
      metadata: given.metadata,
      last_seen_at: null,
      erased_at: null,
      version: 1,
      created_at: now,
      modified_at: now,
      counted_together: true,
      only_edition_short_id: shortId(edition.id),
    }
    return { stored: null, user: { ...user, is_shared: 0, is_kept: 0, given_email: given.email } }
  }

  /** Customers who are new or filled up, and what the edition says of each. */
  writes(): Write[] {
    const { edition, now } = this.#context
    const all = [...this.#known.values()]
    const said = [...this.#said].map(([user_id, given]) => {
      const contact = contactOf(given)
      const columns = { ...contact, ...givenSearchColumns(contact), locale: given.locale }
      return { edition_id: edition.id, user_id, created_at: now, ...columns }
    })
    return [
      ...insertOf(
        'users',
        all.flatMap(({ user, stored }) => (stored ? [] : [rowOf(user)])),
      ),
      ...all.flatMap(({ user, stored }) => (stored ? fillingWrites(stored, user, now) : [])),
      ...insertOf('customers', said),
    ]
  }

  /** The data of a person that an undo needs; null when they stay as they are. */
  before(id: string): PersonBefore | null {
    const known = this.#known.get(id)
    const given = this.#said.get(id)
    if (!known || !given) throw new Error('A person who was not added.')
    const { user, stored } = known
    if (!stored) return { id, is_new: true, filled: {}, said: null }
    const names = contactFields.filter((name) => stored[name] !== user[name])
    const filled = Object.fromEntries(names.map((name) => [name, user[name]])) as Partial<Contact>
    const before = stored.given ?? null
    const after = givenAfter(before, given)
    const isSame = before !== null && JSON.stringify(after) === JSON.stringify(before)
    return names.length || !isSame ? { id, is_new: false, filled, said: isSame ? null : { before, after } } : null
  }

  /** The longest list in what is said of somebody new. */
  longestList(): number {
    const added = [...this.#known.values()].filter(({ stored }) => stored === null)
    return Math.max(0, ...added.map(({ user }) => longestList(user.metadata)))
  }
}

const rowOf = ({ is_shared: _, is_kept: __, given_email: ___, given: ____, ...row }: UserRow): NewRows['users'] => row

function filledUp(user: UserRow, given: GivenPerson): UserRow {
  if (user.is_kept) return user
  const contact = {
    email: user.email ?? given.email,
    phone_number: user.phone_number ?? given.phone_number,
    first_name: user.first_name || given.first_name,
    last_name: user.last_name || given.last_name,
  }
  return { ...user, ...contact, ...searchColumns(contact) }
}

function fillingWrites(stored: UserRow, user: UserRow, now: number): Write[] {
  if (contactFields.every((name) => stored[name] === user[name])) return []
  const contact = contactOf(user)
  const changes = { ...contact, ...searchColumns(contact), modified_at: now }
  return [{ write: 'user', user: stored, changes }]
}

/** What the edition says of somebody, once this is said too. */
function givenAfter(before: GivenColumns | null, given: GivenPerson): GivenColumns {
  const named = given.first_name + given.last_name === '' ? (before ?? given) : given
  return {
    email: given.email ?? before?.email ?? null,
    phone_number: given.phone_number ?? before?.phone_number ?? null,
    first_name: named.first_name,
    last_name: named.last_name,
    locale: given.locale ?? before?.locale ?? null,
  }
}

/** Of each field the last that was said. */
function saidAfter(before: GivenPerson | undefined, given: GivenPerson): GivenPerson {
  if (!before) return given
  const named = given.first_name + given.last_name === '' ? before : given
  return {
    ...given,
    email: given.email ?? before.email,
    phone_number: given.phone_number ?? before.phone_number,
    first_name: named.first_name,
    last_name: named.last_name,
    locale: given.locale ?? before.locale,
  }
}
