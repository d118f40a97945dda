import { sql } from 'drizzle-orm'
import { insertEditionCustomers } from '../../../src/db/customers.ts'
import { users } from '../../../src/db/schema/customers.ts'
import { suppressions } from '../../../src/db/schema/suppressions.ts'
import { insert, insertAll } from '../../../src/db/write.ts'
import { type Contact, buildSearchColumns } from '../../../src/domain/accounts/users.ts'
import type { SuppressionReason } from '../../../src/domain/messaging/suppressions.ts'
import { seedEdition } from './editions.ts'
import { givenOrganization } from './organizations.ts'
import { db, freshId, seededAt, unique, next, write, type Place } from './rows.ts'

export type UserRow = typeof users.$inferSelect

/** Builds the contact data that an edition knows when its imports contained everything. */
export const buildMembership = (
  edition_id: string,
  user: Omit<Contact, 'first_name' | 'last_name'> &
    Partial<Contact> & { id: string; locale: string; metadata?: object },
  created_at = seededAt,
) => {
  const { id, email, phone_number, first_name = '', last_name = '', locale, metadata = {} } = user
  const contact = { email, phone_number, first_name, last_name }
  const contactData = {
    ...contact,
    locale,
    metadata: metadata as Record<string, unknown>,
    ...buildSearchColumns(contact),
  }
  return { edition_id, user_id: id, created_at, ...contactData }
}

/** Builds the row of a customer whose contact data the edition does not know. */
export const buildBareMembership = (edition_id: string, user_id: string, created_at = seededAt) =>
  buildMembership(edition_id, { id: user_id, email: null, phone_number: null, locale: 'en' }, created_at)

/**
 * Seeds people of an organisation, each with an address and a number unless the columns differ, and adds them to the
 * edition if one is named.
 */
export async function seedPeople(
  { organization, edition }: { organization: string; edition?: string },
  people: readonly Partial<UserRow>[],
): Promise<UserRow[]> {
  if (people.length === 0) return []
  const rows = people.map((columns) => {
    const person = {
      email: `person-${unique()}@example.test`,
      phone_number: `+4531${String(100_000 + next())}`,
      first_name: 'Ægir',
      last_name: `Holm ${next()}`,
      ...columns,
    }
    return {
      id: freshId('user'),
      organization_id: organization,
      locale: 'da',
      msg_channel: 'email' as const,
      is_active: true,
      last_seen_at: null,
      created_at: seededAt,
      modified_at: seededAt,
      ...buildSearchColumns(person),
      ...person,
    }
  })
  const memberships = rows.map((row) => buildMembership(edition ?? '', row, row.created_at))
  await write(...insertAll(users, rows), ...(edition ? insertEditionCustomers(memberships) : []))
  const stored = await db.all(sql<UserRow>`select * from users where organization_id = ${organization} order by seq`)
  const byId = new Map(stored.map((row) => [row.id, row]))
  return rows.flatMap(({ id }) => byId.get(id) ?? [])
}

/** Like `seedPeople`, with names of the test's choice. */
export async function seedNamedPeople<Name extends string>(
  place: { organization: string; edition?: string },
  people: Record<Name, Partial<UserRow>>,
): Promise<Record<Name, UserRow>> {
  const rows = await seedPeople(place, Object.values(people))
  return Object.fromEntries(Object.keys(people).map((name, index) => [name, rows[index]])) as Record<Name, UserRow>
}

export const seedSuppression = (user: UserRow, channel: 'email' | 'sms', reason: SuppressionReason): Promise<void> =>
  write(
    insert(suppressions, {
      organization_id: user.organization_id,
      channel,
      address: (channel === 'email' ? user.email : user.phone_number) ?? '',
      reason,
      created_at: seededAt,
    }),
  )

export interface Scene extends Place {
  person: UserRow
  other: UserRow
}

export async function seedScene(person: Partial<UserRow> = {}, name?: string): Promise<Scene> {
  const organisation = await givenOrganization(name)
  const edition = await seedEdition(organisation, { enabled_languages: ['en', 'da', 'se', 'nl', 'pl'] })
  const place = { organization: organisation.id, edition: edition.id }
  const [one, other] = await seedPeople(place, [{ locale: 'en', ...person }, { locale: 'en' }])
  if (!one || !other) throw new Error('nobody is there')
  return { ...place, person: one, other }
}

/** Seeds another edition of the organisation, which knows the person if one is given. Returns its id. */
export async function seedSibling({ organization }: Pick<Place, 'organization'>, user?: string): Promise<string> {
  const { id } = await seedEdition({ id: organization })
  if (user !== undefined) await write(...insertEditionCustomers([buildBareMembership(id, user)]))
  return id
}
