import { buildSearchColumns, type Contact, formatFullName } from '../../domain/accounts/users.ts'
import type { Language } from '../../domain/languages.ts'
import type { ExternalOrder } from '../../domain/orders/external-orders.ts'
import { utf8 } from '../../domain/text/encoding.ts'
import { fold } from '../../domain/text/fold.ts'
import { isSameJson, maxJsonBytes } from '../../domain/text/json.ts'
import type { EditionValues, PeopleState, UserRow } from './state.ts'
import type { PersonUndo } from './undo-data.ts'
import { type DecisionContext, buildInsert, type NewRows, type Write } from './writes.ts'

type Customer = ExternalOrder['customer']

export interface ImportedPerson extends Customer {
  /** The language of a new person whose own language the source does not say. */
  language: Language | null
}

/**
 * `replace`: the edition's values of a person become those of the import, as an order says who its customer is now.
 * `complete`: the import fills in what is missing, and overwrites nothing.
 */
type ValuePolicy = 'replace' | 'complete'

export interface PeopleContext extends Pick<DecisionContext, 'now' | 'newId'> {
  edition: Pick<DecisionContext['edition'], 'id' | 'organization_id' | 'default_language'>
}

export const toImportedCustomer = ({ customer }: ExternalOrder): ImportedPerson => ({ ...customer, language: null })

export const toImportedHolder = (
  { customer }: ExternalOrder,
  holder: { email: string; first_name: string; last_name: string },
): ImportedPerson => ({ ...holder, phone_number: null, locale: null, metadata: {}, language: customer.locale })

const contactFields = ['email', 'phone_number', 'first_name', 'last_name'] as const

const pickContact = (person: Contact): Contact => ({
  email: person.email,
  phone_number: person.phone_number,
  first_name: person.first_name,
  last_name: person.last_name,
})

interface ResolvedPerson {
  user: UserRow
  /** The stored row; null for a new person. */
  storedUser: UserRow | null
}

/** Resolves the people of a group of orders. Each order fills in what the earlier ones left empty. */
export class PeopleResolver {
  readonly #context: PeopleContext
  readonly #policy: ValuePolicy
  readonly #byEmail: Map<string, string>
  readonly #byPhone: Map<string, string>
  readonly #people: Map<string, ResolvedPerson>
  /** People whom the orders of this group name. */
  readonly #namedIds = new Set<string>()

  constructor(context: PeopleContext, state: PeopleState, policy: ValuePolicy = 'replace') {
    this.#context = context
    this.#policy = policy
    this.#byEmail = new Map([...state.usersByEmail].map(([email, { id }]) => [email, id]))
    this.#byPhone = new Map([...state.usersByPhone].map(([phone, { id }]) => [phone, id]))
    const users = [...state.orderPeople, ...state.usersByPhone.values(), ...state.usersByEmail.values()]
    this.#people = new Map(users.map((user) => [user.id, { user, storedUser: user }]))
  }

  get(id: string): UserRow {
    const person = this.#people.get(id)
    if (!person) throw new Error(`No order of this group resolved the person ${id}.`)
    return person.user
  }

  /** Finds the person by address or number, or creates them. Existing values are never overwritten. */
  resolve(importedPerson: ImportedPerson): string {
    const existingUser = this.#find(importedPerson)
    return this.#name(
      existingUser
        ? { ...existingUser, user: this.#fill(existingUser.user, importedPerson) }
        : this.#create(importedPerson),
      importedPerson,
    )
  }

  /** Resolves the customer of an order that comes again as it was imported. An address that was corrected stays so. */
  resolveCustomer(id: string, importedPerson: ImportedPerson): string {
    const person = this.#people.get(id)
    // A dry run has not stored the customers of earlier orders.
    if (!person) return this.resolve(importedPerson)
    const { email, phone_number } = person.user
    const importedCustomer = {
      ...importedPerson,
      email: importedPerson.email === email ? email : null,
      phone_number:
        importedPerson.email === null && importedPerson.phone_number !== phone_number
          ? null
          : importedPerson.phone_number,
    }
    return this.#name({ ...person, user: fillEmptyFields(person.user, importedCustomer) }, importedCustomer)
  }

  #fill(user: UserRow, importedPerson: ImportedPerson): UserRow {
    const filledUser = fillEmptyFields(user, importedPerson)
    return this.#policy === 'replace' || user.is_protected
      ? filledUser
      : { ...filledUser, metadata: addMetadata(user.metadata, importedPerson.metadata) }
  }

  #name({ user, storedUser }: ResolvedPerson, importedPerson: ImportedPerson): string {
    const edition_values = this.#mergeValues(user.edition_values, importedPerson)
    this.#people.set(user.id, { storedUser, user: { ...user, edition_values } })
    if (user.email !== null) this.#byEmail.set(user.email, user.id)
    if (user.phone_number !== null) this.#byPhone.set(user.phone_number, user.id)
    this.#namedIds.add(user.id)
    return user.id
  }

  /**
   * Finds a stored person who has another name than the order says. `by_phone` is a person whom only a number
   * identifies, who may be somebody else in the same household or company.
   */
  findOtherName(id: string, importedPerson: ImportedPerson): { stored_name: string; by_phone: boolean } | null {
    const storedUser = this.#people.get(id)?.storedUser
    // The caller sees only this edition's values of a customer who also belongs to other editions.
    const visibleValues = storedUser?.is_protected ? storedUser.edition_values : storedUser
    const stored_name = visibleValues ? formatFullName(visibleValues) : ''
    const name = formatFullName(importedPerson)
    if (stored_name === '' || name === '' || fold(stored_name) === fold(name)) return null
    return { stored_name, by_phone: importedPerson.email === null }
  }

  /** A person is found by the phone number only if no e-mail address contradicts it. */
  #find({ email, phone_number }: ImportedPerson): ResolvedPerson | undefined {
    const lookUp = (ids: Map<string, string>, key: string | null) =>
      key === null ? undefined : this.#people.get(ids.get(key) ?? '')
    const byEmail = lookUp(this.#byEmail, email)
    const byPhone = lookUp(this.#byPhone, phone_number)
    if (byEmail || !byPhone || email === null) return byEmail ?? byPhone
    // A customer without an address gets this one. A customer whom the caller may not change cannot get it, so this is
    // another person with the same number.
    const { user } = byPhone
    const isSamePerson = user.email === null ? user.is_protected === 0 : user.email === email
    return isSamePerson ? byPhone : undefined
  }

  #create(importedPerson: ImportedPerson): ResolvedPerson {
    const { edition, now, newId } = this.#context
    const contact = pickContact(importedPerson)
    const user: UserRow = {
      id: newId('user'),
      organization_id: edition.organization_id,
      ...contact,
      ...buildSearchColumns(contact),
      locale: importedPerson.locale ?? importedPerson.language ?? edition.default_language,
      msg_channel: importedPerson.email === null ? 'sms' : 'email',
      is_verified: false,
      is_active: true,
      metadata: importedPerson.metadata,
      last_seen_at: null,
      erased_at: null,
      is_of_organization: false,
      version: 1,
      created_at: now,
      modified_at: now,
      is_protected: 0,
      edition_values: null,
    }
    return { storedUser: null, user }
  }

  /** With the policy `replace`, the last of several orders that have a value for a field wins. */
  #mergeValues(before: EditionValues | null, importedPerson: ImportedPerson): EditionValues {
    if (before && this.#policy === 'complete') return completeValues(before, importedPerson)
    const nameSource =
      importedPerson.first_name + importedPerson.last_name === '' ? (before ?? importedPerson) : importedPerson
    return {
      email: importedPerson.email ?? before?.email ?? null,
      phone_number: importedPerson.phone_number ?? before?.phone_number ?? null,
      first_name: nameSource.first_name,
      last_name: nameSource.last_name,
      locale:
        importedPerson.locale ?? before?.locale ?? importedPerson.language ?? this.#context.edition.default_language,
      metadata: { ...before?.metadata, ...importedPerson.metadata },
    }
  }

  buildWrites(): Write[] {
    const { edition, now } = this.#context
    const people = [...this.#people.values()]
    const newCustomers = people.flatMap(({ user: { id, edition_values }, storedUser }) =>
      edition_values && !storedUser?.edition_values
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
    const changes = people.flatMap(({ user, storedUser }) => {
      const [before, after] = [storedUser?.edition_values, user.edition_values]
      return before && after && !isSame(before, after) ? [{ user_id: user.id, before, after }] : []
    })
    return [
      ...buildInsert(
        'users',
        people.flatMap(({ user, storedUser }) => (storedUser ? [] : [toUserRow(user)])),
      ),
      ...people.flatMap(({ user, storedUser }) => (storedUser ? buildUserWrites(storedUser, user, now) : [])),
      ...(changes.length ? [{ write: 'edition-customers' as const, changes }] : []),
      ...buildInsert('customers', newCustomers),
    ]
  }

  /** Records what the import changes about a person, for an undo. Returns null for an unchanged person. */
  recordChange(id: string): PersonUndo | null {
    const person = this.#people.get(id)
    const after = person?.user.edition_values
    if (!person || !after || !this.#namedIds.has(id)) throw new Error(`No order of this group names the person ${id}.`)
    const { user, storedUser } = person
    if (!storedUser) return { id, is_new: true, filled_fields: {}, edition_values: null }
    const names = contactFields.filter((name) => storedUser[name] !== user[name])
    const filled_fields = Object.fromEntries(names.map((name) => [name, user[name]])) as Partial<Contact>
    const filled_metadata = listAddedMetadata(storedUser, user)
    const before = storedUser.edition_values
    const isUnchanged = before !== null && isSame(before, after)
    return names.length || filled_metadata || !isUnchanged
      ? {
          id,
          is_new: false,
          filled_fields,
          ...(filled_metadata ? { filled_metadata } : {}),
          edition_values: isUnchanged ? null : { before, after },
        }
      : null
  }
}

type Metadata = Readonly<Record<string, unknown>>

/** Adds the keys that are missing, unless the metadata would become too large. */
function addMetadata(before: Metadata, added: Metadata): Record<string, unknown> {
  const metadata = { ...added, ...before }
  return utf8(JSON.stringify(metadata)).length <= maxJsonBytes ? metadata : before
}

const completeValues = (before: EditionValues, importedPerson: ImportedPerson): EditionValues => ({
  email: before.email ?? importedPerson.email,
  phone_number: before.phone_number ?? importedPerson.phone_number,
  first_name: before.first_name || importedPerson.first_name,
  last_name: before.last_name || importedPerson.last_name,
  locale: before.locale,
  metadata: addMetadata(before.metadata, importedPerson.metadata),
})

/** Finds the metadata that an import has added to a person; undefined when there are none. */
function listAddedMetadata(storedUser: UserRow, user: UserRow): Record<string, unknown> | undefined {
  const entries = Object.entries(user.metadata).filter(([key]) => !Object.hasOwn(storedUser.metadata, key))
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}

const isSame = (one: EditionValues, other: EditionValues): boolean =>
  isSameJson(JSON.stringify(one), JSON.stringify(other))

const toUserRow = ({ is_protected: _, edition_values: __, ...row }: UserRow): NewRows['users'] => row

function fillEmptyFields(user: UserRow, importedPerson: ImportedPerson): UserRow {
  if (user.is_protected) return user
  const contact = {
    email: user.email ?? importedPerson.email,
    phone_number: user.phone_number ?? importedPerson.phone_number,
    first_name: user.first_name || importedPerson.first_name,
    last_name: user.last_name || importedPerson.last_name,
  }
  return { ...user, ...contact, ...buildSearchColumns(contact) }
}

function buildUserWrites(storedUser: UserRow, user: UserRow, now: number): Write[] {
  const hasNewMetadata = listAddedMetadata(storedUser, user) !== undefined
  if (!hasNewMetadata && contactFields.every((name) => storedUser[name] === user[name])) return []
  const contact = pickContact(user)
  const metadata = hasNewMetadata ? { metadata: user.metadata } : {}
  const changes = { ...contact, ...metadata, ...buildSearchColumns(contact), modified_at: now }
  return [{ write: 'user', user: storedUser, changes }]
}
