import { sql } from 'drizzle-orm'
import { accounts, members, accessTokens } from '../../../src/db/schema/accounts.ts'
import { insert, insertAll } from '../../../src/db/write.ts'
import type { MemberRole, TokenScope } from '../../../src/domain/accounts/access.ts'
import { generateToken, tokenPreviewLength } from '../../../src/domain/accounts/tokens.ts'
import { toHex, sha256 } from '../../../src/domain/text/encoding.ts'
import { buildSortKey } from '../../../src/domain/text/fold.ts'
import { create } from '../api.ts'
import { givenOrganization, type Organization } from './organizations.ts'
import { db, freshId, next, randomBytes, seededAt, unique, write } from './rows.ts'

export interface Member {
  id: string
  account_id: string
  email: string
  token: string
}

/** Makes a person with a role in the organisation, or only in `editionId`, and a token. */
export async function givenMember(organization: { id: string }, role: MemberRole, editionId?: string): Promise<Member> {
  const email = `${role}-${unique()}@example.dk`
  const member = await create<{ id: string }>(`/v1/organizations/${organization.id}/members`, {
    email,
    role,
    ...(editionId ? { edition_id: editionId } : {}),
  })
  const { token } = await create<{ token: string }>('/v1/auth/tokens', { name: 'test', member_id: member.id })
  const [account] = await db.all(sql<{ id: string }>`select id from accounts where email = ${email}`)
  return { id: member.id, account_id: account?.id ?? '', email, token }
}

/** Makes an organisation with an admin and the admin's token. */
export async function givenAdmin(): Promise<Organization & { token: string }> {
  const organization = await givenOrganization()
  const { token } = await givenMember(organization, 'admin')
  return { ...organization, token }
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

interface TokenOptions {
  organization?: string | null
  scopes?: readonly TokenScope[]
  expires_at?: number | null
  revoked_at?: number | null
  created_at?: number
  name?: string
}

const tokenRow = (
  account: string,
  hash: string,
  prefix: string,
  { name = `Token ${next()}`, ...options }: TokenOptions,
) => ({
  id: freshId('access_token'),
  account_id: account,
  organization_id: options.organization ?? null,
  name,
  name_key: buildSortKey(name),
  token_hash: hash,
  prefix,
  scopes: (options.scopes ?? ['read', 'write']).join(' '),
  created_at: options.created_at ?? seededAt,
  expires_at: options.expires_at ?? null,
  revoked_at: options.revoked_at ?? null,
  // The token was just used, so a request stores nothing about its use and always costs the same.
  last_used_at: Date.now() + 3_600_000,
})

export async function seedToken(account: string, options: TokenOptions = {}): Promise<{ id: string; token: string }> {
  const token = generateToken(randomBytes)
  const row = tokenRow(account, toHex(await sha256(token)), token.slice(0, tokenPreviewLength), options)
  await write(insert(accessTokens, row))
  return { id: row.id, token }
}

/** Seeds tokens that cannot be used, for lists. */
export const seedTokens = (account: string, count: number, options: TokenOptions = {}): Promise<void> =>
  write(
    ...insertAll(
      accessTokens,
      Array.from({ length: count }, () => tokenRow(account, freshId('request'), 'ecm_0000', options)),
    ),
  )
