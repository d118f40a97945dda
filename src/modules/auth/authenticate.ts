import { eq, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { accessTokens } from '../../db/schema/auth.ts'
import { accounts } from '../../db/schema/organizations.ts'
import { decodeAs, fromFlag, fromJson, type RowOf, select, buildSelectList } from '../../db/select.ts'
import { update } from '../../db/write.ts'
import { type Caller, type Grant, parseScopes, superuser } from '../../domain/accounts/access.ts'
import { sha256OfShort, toHex } from '../../domain/text/encoding.ts'
import { refusedTokenIntervalMs } from '../../domain/audit.ts'
import { AppError } from '../../domain/errors.ts'
import { isWellFormedToken } from '../../domain/accounts/tokens.ts'
import type { IdentityProvider } from '../../gateways/identity/identity.ts'

/** `last_used_at` is written at most this often. */
const touchEveryMs = 300_000

interface Credentials {
  /** On the primary: a token revoked a moment ago is refused everywhere. */
  db: Database
  rootToken: string | null
  identity: IdentityProvider | null
  now: number
  /** Records that a known token was used after its end; called once in a while for each token. */
  recordRefused: (use: RefusedUse) => Promise<void>
}

export interface Authenticated {
  caller: Caller
  /** Records the use of the token when that is due. The request does not wait for it. */
  touch: (() => Promise<void>) | null
}

const refuse = (error?: 'invalid_token') =>
  new AppError('not_authenticated', 'Send a valid access token: Authorization: Bearer <token>.', {
    headers: { 'www-authenticate': `Bearer realm="event-commerce"${error ? `, error="${error}"` : ''}` },
  })

/**
 * True for a row of `access_tokens` whose minters are all valid: no token above it is revoked or expired, and the
 * memberships by which they were minted exist. This is checked at each use, so that revoking changes one row, however many
 * it minted.
 */
export const isLineageValid = (now: number | SQL): SQL => sql`(
  (access_tokens.parent_id is null and access_tokens.minter_member_id is null) or not exists (
    with recursive lineage (parent_id, minter_member_id, is_over) as (
      select access_tokens.parent_id, access_tokens.minter_member_id, 0
      union all
      select above.parent_id, above.minter_member_id,
        above.revoked_at is not null or coalesce(above.expires_at <= ${now}, 0)
      from lineage join access_tokens as above on above.id = lineage.parent_id
    )
    select 1 from lineage where is_over or (minter_member_id is not null
      and not exists (select 1 from members where members.id = lineage.minter_member_id))))`

/** The grants of an account: those in one organisation, or all. */
const grantsIn = (organization: SQL) =>
  fromJson<Grant[]>(sql`(select json_group_array(json_object(
    'organization_id', organization_id, 'edition_id', edition_id, 'role', role))
  from members where members.account_id = accounts.id
    and (${organization} is null or members.organization_id = ${organization}))`)

/** Of a token and its account. They are the same for every request: `asked` has its moment. */
const tokenFields = {
  id: accessTokens.id,
  account_id: accessTokens.account_id,
  organization_id: accessTokens.organization_id,
  scopes: accessTokens.scopes,
  last_used_at: accessTokens.last_used_at,
  expires_at: accessTokens.expires_at,
  revoked_at: accessTokens.revoked_at,
  refused_at: accessTokens.refused_at,
  /** False where a token or a membership that minted the token is not valid any more. */
  is_lineage_valid: fromFlag(isLineageValid(sql`asked.now`)),
  email: accounts.email,
  grants: grantsIn(sql`${accessTokens.organization_id}`),
}

type TokenRow = RowOf<typeof tokenFields>

/** The owner of a token that was used after its end. */
export interface RefusedUse {
  token_id: string
  account_id: string
  /** The one organisation that the token is bound to, or null. */
  organization_id: string | null
  reason: 'revoked' | 'expired'
}

async function refuseEnded(row: TokenRow, { now, recordRefused }: Credentials): Promise<void> {
  const { id, account_id, organization_id, revoked_at, expires_at } = row
  const isExpired = expires_at !== null && expires_at <= now
  if (revoked_at === null && !isExpired && row.is_lineage_valid) return
  if ((row.refused_at ?? 0) <= now - refusedTokenIntervalMs) {
    const reason = revoked_at === null && isExpired ? 'expired' : 'revoked'
    await recordRefused({ token_id: id, account_id, organization_id, reason })
  }
  throw refuse('invalid_token')
}

async function byToken(token: string, digest: Uint8Array, credentials: Credentials): Promise<Authenticated> {
  const { db, now } = credentials
  const row = isWellFormedToken(token)
    ? await db.first(
        decodeAs(
          tokenFields,
          sql<TokenRow>`select ${buildSelectList(tokenFields)} from (select ${now} as now) as asked cross join ${accessTokens}
            join ${accounts} on ${accounts.id} = ${accessTokens.account_id}
            where ${accessTokens.token_hash} = ${toHex(digest)}`,
        ),
      )
    : undefined
  if (!row) throw refuse('invalid_token')
  await refuseEnded(row, credentials)
  const caller: Caller = {
    id: row.account_id,
    email: row.email,
    is_superuser: false,
    grants: row.grants,
    scopes: parseScopes(row.scopes),
    credential: { kind: 'token', id: row.id, organization_id: row.organization_id },
  }
  const touch = async () => {
    await db.batch([
      update(accessTokens, { last_used_at: now }, eq(accessTokens.id, row.id)),
      update(accounts, { last_seen_at: now }, eq(accounts.id, row.account_id)),
    ])
  }
  return { caller, touch: (row.last_used_at ?? 0) <= now - touchEveryMs ? touch : null }
}

async function byIdentity(token: string, identity: IdentityProvider, { db, now }: Credentials): Promise<Authenticated> {
  const email = await identity.verifiedEmail(token, now)
  const row =
    email === null
      ? undefined
      : await db.first(
          select({ account_id: accounts.id, email: accounts.email, grants: grantsIn(sql`null`) })
            .from(accounts)
            .where(eq(accounts.email, email)),
        )
  if (!row) throw refuse('invalid_token')
  return {
    caller: {
      id: row.account_id,
      email: row.email,
      is_superuser: false,
      grants: row.grants,
      scopes: ['read', 'write'],
      credential: { kind: 'oidc', id: null, organization_id: null },
    },
    touch: null,
  }
}

/** Compares digests, so that neither length nor content of the secret shows in the time it takes. */
const isRoot = (digest: Uint8Array<ArrayBuffer>, rootToken: string | null): boolean =>
  !!rootToken && crypto.subtle.timingSafeEqual(digest, sha256OfShort(rootToken))

/** The caller behind an Authorization header, or 401. */
export async function authenticate(header: string | undefined, credentials: Credentials): Promise<Authenticated> {
  const token = /^Bearer +([^\s]+) *$/i.exec(header ?? '')?.[1]
  if (token === undefined) throw refuse(header ? 'invalid_token' : undefined)
  const digest = sha256OfShort(token)
  if (isRoot(digest, credentials.rootToken)) return { caller: superuser, touch: null }
  if (credentials.identity && token.split('.').length === 3) return byIdentity(token, credentials.identity, credentials)
  return byToken(token, digest, credentials)
}
