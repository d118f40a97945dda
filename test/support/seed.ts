import { env } from 'cloudflare:workers'
import { Database, type Statement } from '../../src/db/database.ts'
import { accessTokens } from '../../src/db/schema/auth.ts'
import { accounts, events, members, organizations } from '../../src/db/schema/organizations.ts'
import { editions } from '../../src/db/schema/editions.ts'
import { insert, insertAll } from '../../src/db/write.ts'
import type { MemberRole, TokenScope } from '../../src/domain/accounts/access.ts'
import { sha256, toHex } from '../../src/domain/text/encoding.ts'
import { searchText } from '../../src/domain/text/fold.ts'
import { type IdKind, newId } from '../../src/domain/ids.ts'
import { newMeter } from '../../src/domain/meter.ts'
import { mintToken, shownLength } from '../../src/domain/accounts/tokens.ts'

/** Rows that tests start from, written straight to the database, so that they need no operation of the API. */

export const db = (): Database => new Database(env.DB, newMeter())

export const write = async (...statements: Statement[]): Promise<void> => {
  await db().batch(statements)
}

export const freshId = (kind: IdKind): string => newId(kind, Date.now(), Math.random)

/** An id of the right form that nothing has. */
export const unknownId = (like: string): string => `${like.split('_')[0]}_${newId('request', 1, Math.random).slice(4)}`

let serial = 0
/** A number that was not used before in this file. */
export const next = (): number => ++serial

/** Rows of one test share their time of creation by default, so that orders must be settled by the row's key. */
export const seededAt = Date.UTC(2026, 0, 15, 9)

export async function seedOrganization(name = `Organisation ${next()}`): Promise<{ id: string; event: string }> {
  const id = freshId('organization')
  const event = freshId('event')
  const slug = `organisation-${id.slice(-8).toLowerCase()}-${next()}`
  const times = { created_at: seededAt, modified_at: seededAt }
  await write(
    insert(organizations, { id, name, slug, search: searchText(name), ...times }),
    insert(events, { id: event, organization_id: id, name: `${name} event`, search: searchText(name), ...times }),
  )
  return { id, event }
}

export const editionRow = (organization: { id: string; event: string }, name = `Edition ${next()}`) => ({
  id: freshId('edition'),
  organization_id: organization.id,
  event_id: organization.event,
  name,
  full_name: `${name} of the event`,
  slug: `edition-${next()}`,
  timezone: 'Europe/Copenhagen',
  default_country_code: '+45' as const,
  default_language: 'en' as const,
  enabled_languages: ['en', 'da'] as const,
  tax_type: 'none' as const,
  currency: 'dkk' as const,
  search: searchText(name),
  created_at: seededAt,
  modified_at: seededAt,
})

export async function seedEdition(organization: { id: string; event: string }): Promise<string> {
  const row = editionRow(organization)
  await write(insert(editions, row))
  return row.id
}

export async function seedAccount(email = `person-${next()}@example.test`): Promise<string> {
  const id = freshId('account')
  await write(insert(accounts, { id, email, created_at: seededAt, last_seen_at: null }))
  return id
}

export async function seedMember(
  account: string,
  place: { organization: string; edition?: string | undefined; role: MemberRole },
): Promise<string> {
  const id = freshId('member')
  const { organization, edition = null, role } = place
  await write(
    insert(members, {
      id,
      organization_id: organization,
      edition_id: edition,
      account_id: account,
      role,
      first_name: 'Mette',
      last_name: 'Holm',
      created_at: seededAt,
    }),
  )
  return id
}

export const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length))

interface TokenOptions {
  organization?: string | null
  scopes?: readonly TokenScope[]
  expires_at?: number | null
  revoked_at?: number | null
  created_at?: number
  name?: string
}

const tokenRow = (account: string, hash: string, shown: string, options: TokenOptions) => ({
  id: freshId('access_token'),
  account_id: account,
  organization_id: options.organization ?? null,
  name: options.name ?? `Token ${next()}`,
  token_hash: hash,
  shown,
  scopes: (options.scopes ?? ['read', 'write']).join(' '),
  created_at: options.created_at ?? seededAt,
  expires_at: options.expires_at ?? null,
  revoked_at: options.revoked_at ?? null,
  // Used a moment ago: a request with it has nothing to note, and its cost is always the same.
  last_used_at: Date.now() + 3_600_000,
})

export async function seedToken(account: string, options: TokenOptions = {}): Promise<{ id: string; token: string }> {
  const token = mintToken(randomBytes)
  const row = tokenRow(account, toHex(await sha256(token)), token.slice(0, shownLength), options)
  await write(insert(accessTokens, row))
  return { id: row.id, token }
}

/** Tokens that nobody can use: rows for lists. */
export const seedTokens = (account: string, count: number): Promise<void> =>
  write(
    ...insertAll(
      accessTokens,
      Array.from({ length: count }, () => tokenRow(account, freshId('request'), 'ecm_0000', {})),
    ),
  )

/** Organisations in which the account is an admin: rows for lists. */
export async function seedOrganizations(account: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, () => {
    const number = next()
    const id = freshId('organization')
    // Pairs share a name and a time: their order is settled by the key.
    const name = `Many ${Math.floor(number / 2)}`
    const at = seededAt + Math.floor(number / 3) * 1000
    return { id, name, slug: `many-${number}`, search: searchText(name), created_at: at, modified_at: at }
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

export async function seedMembers(organization: string, count: number): Promise<void> {
  const people = Array.from({ length: count }, () => ({
    id: freshId('account'),
    email: `crowd-${next()}@example.test`,
    created_at: seededAt,
    last_seen_at: null,
  }))
  const roles = ['viewer', 'admin', 'manager'] as const
  const rows = people.map((person, index) => ({
    id: freshId('member'),
    organization_id: organization,
    edition_id: null,
    account_id: person.id,
    role: roles[index % 3] ?? 'viewer',
    first_name: '',
    last_name: '',
    created_at: seededAt + Math.floor(index / 2) * 1000,
  }))
  await write(...insertAll(accounts, people), ...insertAll(members, rows))
}

export const seedEvents = (organization: string, count: number): Promise<void> =>
  write(
    ...insertAll(
      events,
      Array.from({ length: count }, () => {
        const number = next()
        const name = `Event ${Math.floor(number / 2)}`
        const at = seededAt + Math.floor(number / 3) * 1000
        return {
          id: freshId('event'),
          organization_id: organization,
          name,
          search: searchText(name),
          created_at: at,
          modified_at: at,
        }
      }),
    ),
  )

/** A token of a manager of one edition. */
export async function seedManager({ organization, edition }: { organization: string; edition: string }) {
  const account = await seedAccount()
  await seedMember(account, { organization, edition, role: 'manager' })
  return (await seedToken(account)).token
}
