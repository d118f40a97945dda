import { members } from '../../../src/db/schema/accounts.ts'
import { events } from '../../../src/db/schema/editions.ts'
import { organizations } from '../../../src/db/schema/organizations.ts'
import { insertAll } from '../../../src/db/write.ts'
import { buildSearchText, buildSortKey } from '../../../src/domain/text/fold.ts'
import { create } from '../api.ts'
import { freshId, next, seededAt, unique, write } from './rows.ts'

export interface Organization {
  id: string
  name: string
  slug: string
}

export interface Event {
  id: string
  name: string
}

export const givenOrganization = (name = `Nordlys ${unique()}`): Promise<Organization> =>
  create('/v1/organizations', { name })

export const givenEvent = (organization: { id: string }, name = 'Nordlys Festival'): Promise<Event> =>
  create('/v1/events', { organization_id: organization.id, name })

/** Seeds organisations in which the account is an admin, for lists. */
export async function seedOrganizations(account: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, () => {
    const number = next()
    const id = freshId('organization')
    // Pairs share a name and a time, so their key decides their order.
    const name = `Many ${Math.floor(number / 2)}`
    const at = seededAt + Math.floor(number / 3) * 1000
    const keys = { name_key: buildSortKey(name), search: buildSearchText(name) }
    return { id, name, ...keys, slug: `many-${number}`, created_at: at, modified_at: at }
  })
  const memberships = rows.map((row) => ({
    id: freshId('member'),
    organization_id: row.id,
    edition_id: null,
    account_id: account,
    role: 'admin' as const,
    first_name: '',
    last_name: '',
    created_at: seededAt,
  }))
  await write(...insertAll(organizations, rows), ...insertAll(members, memberships))
}

/** Seeds events of an organisation, and returns their ids. */
export async function seedEvents(organization: string, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => {
    const number = next()
    const name = `Event ${Math.floor(number / 2)}`
    const at = seededAt + Math.floor(number / 3) * 1000
    return {
      id: freshId('event'),
      organization_id: organization,
      name,
      name_key: buildSortKey(name),
      search: buildSearchText(name),
      created_at: at,
      modified_at: at,
    }
  })
  await write(...insertAll(events, rows))
  return rows.map(({ id }) => id)
}
