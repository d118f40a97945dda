import type { ExternalOrder } from '../../domain/orders/external-orders.ts'
import { isSameJson } from '../../domain/text/json.ts'
import type { Language } from '../../domain/languages.ts'
import { fold } from '../../domain/text/fold.ts'
import { buildSearchColumns, type Contact, formatFullName } from '../../domain/accounts/users.ts'
import type { PersonBefore } from './before.ts'
import type { EditionValues, ImportState, UserRow } from './state.ts'
import { type DecisionContext, buildInsert, type NewRows, type Write } from './writes.ts'

type Customer = ExternalOrder['customer']

export interface GivenPerson extends Customer {
  /** The language of a new person without any other. */
  language: Language | null
}

export const toGivenCustomer = ({ customer }: ExternalOrder): GivenPerson => ({ ...customer, language: null })

export const toGivenHolder = (
  { customer }: ExternalOrder,
  holder: { email: string; first_name: string; last_name: string },
): GivenPerson => ({ ...holder, phone_number: null, locale: null, metadata: {}, language: customer.locale })

const contactFields = ['email', 'phone_number', 'first_name', 'last_name'] as const

const pickContact = (person: Contact): Contact => ({
  email: person.email,
  phone_number: person.phone_number,
  first_name: person.first_name,
  last_name: person.last_name,
})

interface KnownPerson {
  user: UserRow
  /** The stored row; null for a new person. */
  stored: UserRow | null
}

/** Each order of a group fills in what earlier ones left empty. */
export class PeopleDecisions {
  readonly #context: DecisionContext
  readonly #byEmail: Map<string, string>
  readonly #byPhone: Map<string, string>
  readonly #known: Map<string, KnownPerson>
  /** People whom this import names. */
  readonly #named = new Set<string>()

  constructor(context: DecisionContext, state: ImportState) {
    this.#context = context
    this.#byEmail = new Map([...state.usersByEmail].map(([email, { id }]) => [email, id]))
    this.#byPhone = new Map([...state.usersByPhone].map(([phone, { id }]) => [phone, id]))
    const users = [...state.holders, ...state.usersByPhone.values(), ...state.usersByEmail.values()]
    this.#known = new Map(users.map((user) => [user.id, { user, stored: user }]))
  }

  get(id: string): UserRow {
    const person = this.#known.get(id)
    if (!person) throw new Error('A person who was not added.')
    return person.user
  }

  /** Finds the person by address or number, or adds them. Existing values are never overwritten. */
  add(given: GivenPerson): string {
    const existing = this.#find(given)
    const { user, stored } = existing ? { ...existing, user: fillUp(existing.user, given) } : this.#create(given)
    const edition_values = this.#mergeValues(user.edition_values, given)
    this.#known.set(user.id, { stored, user: { ...user, edition_values } })
    if (user.email !== null) this.#byEmail.set(user.email, user.id)
    if (user.phone_number !== null) this.#byPhone.set(user.phone_number, user.id)
    this.#named.add(user.id)
    return user.id
  }

  /**
   * Finds a stored person who has another name than the order says. `by_phone` is a person whom only a number
   * identifies, who may be somebody else in the same household or company.
   */
  findOtherName(id: string, given: GivenPerson): { stored_name: string; by_phone: boolean } | null {
    const stored = this.#known.get(id)?.stored
    // The caller sees of a customer of other editions only what this edition was given.
    const visible = stored?.is_kept ? stored.edition_values : stored
    const stored_name = visible ? formatFullName(visible) : ''
    const name = formatFullName(given)
    if (stored_name === '' || name === '' || fold(stored_name) === fold(name)) return null
    return { stored_name, by_phone: given.email === null }
  }

  /** A number counts only if no address contradicts it. */
  #find({ email, phone_number }: GivenPerson): KnownPerson | undefined {
    const by = (ids: Map<string, string>, key: string | null) =>
      key === null ? undefined : this.#known.get(ids.get(key) ?? '')
    const byEmail = by(this.#byEmail, email)
    const byPhone = by(this.#byPhone, phone_number)
    if (byEmail || !byPhone || email === null) return byEmail ?? byPhone
    // A customer without an address gets this one. If the caller may not change them, this is another customer.
    const { user } = byPhone
    const isMeant = user.email === null ? user.is_kept === 0 : user.email === email
    return isMeant ? byPhone : undefined
  }

  #create(given: GivenPerson): KnownPerson {
    const { edition, now, newId } = this.#context
    const contact = pickContact(given)
    const user: UserRow = {
      id: newId('user'),
      organization_id: edition.organization_id,
      ...contact,
      ...buildSearchColumns(contact),
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
      is_kept: 0,
      edition_values: null,
    }
    return { stored: null, user }
  }

  /** The last value that an order gave for a field wins. */
  #mergeValues(before: EditionValues | null, given: GivenPerson): EditionValues {
    const nameSource = given.first_name + given.last_name === '' ? (before ?? given) : given
    return {
      email: given.email ?? before?.email ?? null,
      phone_number: given.phone_number ?? before?.phone_number ?? null,
      first_name: nameSource.first_name,
      last_name: nameSource.last_name,
      locale: given.locale ?? before?.locale ?? given.language ?? this.#context.edition.default_language,
      metadata: Object.keys(given.metadata).length === 0 ? (before?.metadata ?? {}) : given.metadata,
    }
  }

  writes(): Write[] {
    const { edition, now } = this.#context
    const all = [...this.#known.values()]
    const joining = all.flatMap(({ user: { id, edition_values }, stored }) =>
      edition_values && !stored?.edition_values
        ? [
            {
              edition_id: edition.id,
              user_id: id,
              created_at: now,
              ...edition_values,
              ...buildSearchColumns(edition_values),
            },
          ]
        : [],
    )
    const changes = all.flatMap(({ user, stored }) => {
      const [before, after] = [stored?.edition_values, user.edition_values]
      return before && after && !isSame(before, after) ? [{ user_id: user.id, before, after }] : []
    })
    return [
      ...buildInsert(
        'users',
        all.flatMap(({ user, stored }) => (stored ? [] : [toUserRow(user)])),
      ),
      ...all.flatMap(({ user, stored }) => (stored ? buildFillingWrites(stored, user, now) : [])),
      ...(changes.length ? [{ write: 'edition-customers' as const, changes }] : []),
      ...buildInsert('customers', joining),
    ]
  }

  /** Null for an unchanged person. */
  before(id: string): PersonBefore | null {
    const person = this.#known.get(id)
    const after = person?.user.edition_values
    if (!person || !after || !this.#named.has(id)) throw new Error('A person who was not added.')
    const { user, stored } = person
    if (!stored) return { id, is_new: true, filled: {}, said: null }
    const names = contactFields.filter((name) => stored[name] !== user[name])
    const filled = Object.fromEntries(names.map((name) => [name, user[name]])) as Partial<Contact>
    const before = stored.edition_values
    const isUnchanged = before !== null && isSame(before, after)
    return names.length || !isUnchanged
      ? { id, is_new: false, filled, said: isUnchanged ? null : { before, after } }
      : null
  }
}

const isSame = (one: EditionValues, other: EditionValues): boolean =>
  isSameJson(JSON.stringify(one), JSON.stringify(other))

const toUserRow = ({ is_kept: _, edition_values: __, ...row }: UserRow): NewRows['users'] => row

function fillUp(user: UserRow, given: GivenPerson): UserRow {
  if (user.is_kept) return user
  const contact = {
    email: user.email ?? given.email,
    phone_number: user.phone_number ?? given.phone_number,
    first_name: user.first_name || given.first_name,
    last_name: user.last_name || given.last_name,
  }
  return { ...user, ...contact, ...buildSearchColumns(contact) }
}

function buildFillingWrites(stored: UserRow, user: UserRow, now: number): Write[] {
  if (contactFields.every((name) => stored[name] === user[name])) return []
  const contact = pickContact(user)
  const changes = { ...contact, ...buildSearchColumns(contact), modified_at: now }
  return [{ write: 'user', user: stored, changes }]
}
