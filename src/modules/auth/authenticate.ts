import { eq, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { prepare } from '../../db/prepare.ts'
import { accessTokens, accounts } from '../../db/schema/accounts.ts'
import { decodeAs, fromFlag, fromJson, type RowOf, select, buildSelectList } from '../../db/select.ts'
import { update } from '../../db/write.ts'
import {
  type Caller,
  type Grant,
  type MemberRole,
  parseScopes,
  previousSuperuser,
  superuser,
} from '../../domain/accounts/access.ts'
import { isWellFormedToken } from '../../domain/accounts/tokens.ts'
import { refusedTokenIntervalMs } from '../../domain/audit.ts'
import { AppError } from '../../domain/errors.ts'
import { sha256OfShort, toHex } from '../../domain/text/encoding.ts'
import { readSharedTime } from '../../domain/time/instants.ts'
import type { IdentityProvider } from '../../gateways/identity/identity.ts'
import { computeSignInTime } from './sign-in-time.ts'

/** `last_used_at` is written at most once in this time. */
const touchIntervalMs = 300_000

interface Credentials {
  /** The primary database, so that a revoked token is refused everywhere at once. */
  db: Database
  /** The present root token and the previous one. */
  rootTokens: readonly string[]
  identity: IdentityProvider | null
  now: number
  /** As in `JobCtx`. */
  clockOffsetMs?: (() => number) | undefined
  /** Records the use of an expired or revoked token. */
  recordRefused: (use: RefusedUse) => Promise<void>
}

export interface Authenticated {
  caller: Caller
  /** Stores when the token was last used, if that is due. The request does not wait for it. */
  touch: (() => Promise<void>) | null
}

const refusals = {
  missing: 'Send an access token: `Authorization: Bearer <token>`.',
  malformed:
    'This is not an access token. Send the whole token as it was shown when it was created: `Authorization: Bearer ecm_…`.',
  ended: 'This access token has expired, was revoked, or does not exist. Create another one, or sign in again.',
  unknown_identity:
    'This token of the identity provider is not valid here, or no member has its verified e-mail address.',
} as const

/** A token that ended and one that never was get the same answer. */
const createRefusal = (reason: keyof typeof refusals) =>
  new AppError('not_authenticated', refusals[reason], {
    headers: {
      'www-authenticate': `Bearer realm="event-commerce"${reason === 'missing' ? '' : ', error="invalid_token"'}`,
    },
  })

/**
 * True for a row of `access_tokens` if all tokens above it in its chain are valid and the admins who created them for
 * others are still admins.
 * Every use of a token checks this, so revoking a token changes one row, however many tokens it has created.
 */
export const isLineageValid = (now: number | SQL): SQL => sql`(
  (access_tokens.parent_id is null and access_tokens.minter_member_id is null) or not exists (
    with recursive lineage (parent_id, minter_member_id, account_id, is_over) as (
      select access_tokens.parent_id, access_tokens.minter_member_id, access_tokens.account_id, 0
      union all
      select parent.parent_id, parent.minter_member_id, parent.account_id,
        parent.revoked_at is not null or coalesce(parent.expires_at <= ${now}, 0)
      from lineage join access_tokens as parent on parent.id = lineage.parent_id
    )
    select 1 from lineage where is_over or (minter_member_id is not null
      and not exists (select 1 from members where members.id = lineage.minter_member_id
        and (members.account_id = lineage.account_id
          or edition_id is null and role = ${'admin' satisfies MemberRole})))))`

/** The grants of an account, in all organisations or in one. */
const selectGrants = (organization: SQL) =>
  fromJson<Grant[]>(sql`(select json_group_array(json_object(
    'organization_id', organization_id, 'edition_id', edition_id, 'role', role))
  from members where members.account_id = accounts.id
    and (${organization} is null or members.organization_id = ${organization}))`)

/** Columns needed to authenticate a token. `request.now` is the time of the request. */
const tokenFields = {
  id: accessTokens.id,
  account_id: accessTokens.account_id,
  organization_id: accessTokens.organization_id,
  scopes: accessTokens.scopes,
  last_used_at: accessTokens.last_used_at,
  expires_at: accessTokens.expires_at,
  revoked_at: accessTokens.revoked_at,
  is_session: accessTokens.is_session,
  signed_in_at: accessTokens.signed_in_at,
  refused_at: accessTokens.refused_at,
  /** False if a token or a membership that created this token is no longer valid. */
  is_lineage_valid: fromFlag(isLineageValid(sql`request.now`)),
  email: accounts.email,
  grants: selectGrants(sql`${accessTokens.organization_id}`),
}

type TokenRow = RowOf<typeof tokenFields>

export const selectToken = prepare(
  decodeAs(
    tokenFields,
    sql<TokenRow>`select ${buildSelectList(tokenFields)} from (select ${sql.placeholder('now')} as now) as request
      cross join ${accessTokens} join ${accounts} on ${accounts.id} = ${accessTokens.account_id}
      where ${accessTokens.token_hash} = ${sql.placeholder('hash')}`,
  ),
)

/** The use of an expired or revoked token. */
export interface RefusedUse {
  token_id: string
  account_id: string
  /** The one organisation that the token is bound to, or null. */
  organization_id: string | null
  reason: 'revoked' | 'expired'
}

async function checkNotEnded(row: TokenRow, { now, recordRefused }: Credentials): Promise<void> {
  const { id, account_id, organization_id, revoked_at, expires_at } = row
  const isExpired = expires_at !== null && expires_at <= now
  if (revoked_at === null && !isExpired && row.is_lineage_valid) return
  if ((row.refused_at ?? 0) <= now - refusedTokenIntervalMs) {
    const reason = revoked_at === null && isExpired ? 'expired' : 'revoked'
    await recordRefused({ token_id: id, account_id, organization_id, reason })
  }
  throw createRefusal('ended')
}

async function authenticateToken(token: string, digest: Uint8Array, credentials: Credentials): Promise<Authenticated> {
  const { db, now } = credentials
  if (!isWellFormedToken(token)) throw createRefusal('malformed')
  const row = await db.first(selectToken({ now, hash: toHex(digest) }))
  if (!row) throw createRefusal('ended')
  await checkNotEnded(row, credentials)
  const caller: Caller = {
    id: row.account_id,
    email: row.email,
    is_superuser: false,
    grants: row.grants,
    scopes: parseScopes(row.scopes),
    credential: {
      kind: row.is_session ? 'session' : 'token',
      id: row.id,
      organization_id: row.organization_id,
      signed_in_at: row.signed_in_at,
    },
  }
  const touch = async () => {
    await db.batch([
      update(accessTokens, { last_used_at: now }, eq(accessTokens.id, row.id)),
      update(accounts, { last_seen_at: now }, eq(accounts.id, row.account_id)),
    ])
  }
  return { caller, touch: (row.last_used_at ?? 0) <= now - touchIntervalMs ? touch : null }
}

async function authenticateIdentity(
  token: string,
  identity: IdentityProvider,
  { db, now, clockOffsetMs }: Credentials,
): Promise<Authenticated> {
  const ctx = { now: () => now, clockOffsetMs }
  const person = await identity.verify(token, readSharedTime(ctx))
  const row = person
    ? await db.first(
        select({ account_id: accounts.id, email: accounts.email, grants: selectGrants(sql`null`) })
          .from(accounts)
          .where(eq(accounts.email, person.email)),
      )
    : undefined
  if (!person || !row) throw createRefusal('unknown_identity')
  return {
    caller: {
      id: row.account_id,
      email: row.email,
      is_superuser: false,
      grants: row.grants,
      scopes: ['read', 'write'],
      credential: {
        kind: 'oidc',
        id: null,
        organization_id: null,
        signed_in_at: computeSignInTime(ctx, person),
      },
    },
    touch: null,
  }
}

/** Compares digests in constant time, so that the time reveals nothing about the secret. */
const isSecret = (digest: Uint8Array<ArrayBuffer>, secret: string): boolean =>
  secret !== '' && crypto.subtle.timingSafeEqual(digest, sha256OfShort(secret))

/** Returns the position of the secret, or -1. All are compared, so that the time does not reveal which one it is. */
const findSecret = (digest: Uint8Array<ArrayBuffer>, secrets: readonly string[]): number =>
  secrets.map((secret) => isSecret(digest, secret)).indexOf(true)

/** True if the token is one of the secrets. */
export const isOneOfSecrets = (token: string, secrets: readonly string[]): boolean =>
  findSecret(sha256OfShort(token), secrets) >= 0

/** The token of an Authorization header, or null. */
export const readBearerToken = (header: string | undefined): string | null =>
  /^Bearer +([^\s]+) *$/i.exec(header ?? '')?.[1] ?? null

/** Finds the caller of an Authorization header, or throws 401. */
export async function authenticate(header: string | undefined, credentials: Credentials): Promise<Authenticated> {
  const token = readBearerToken(header)
  if (token === null) throw createRefusal(header ? 'malformed' : 'missing')
  const digest = sha256OfShort(token)
  const rootPosition = findSecret(digest, credentials.rootTokens)
  if (rootPosition >= 0) return { caller: rootPosition === 0 ? superuser : previousSuperuser, touch: null }
  if (credentials.identity && token.split('.').length === 3)
    return authenticateIdentity(token, credentials.identity, credentials)
  return authenticateToken(token, digest, credentials)
}
