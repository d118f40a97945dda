import { sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { type Caller, type Grant, superuser, type TokenScope } from '../../domain/access.ts'
import { sha256, toHex, utf8 } from '../../domain/encoding.ts'
import { refusedTokenEveryMs } from '../../domain/audit.ts'
import { AppError } from '../../domain/errors.ts'
import { isWellFormedToken } from '../../domain/tokens.ts'
import type { IdentityProvider } from '../../gateways/identity/identity.ts'
import { isLineageValid } from './lineage.ts'

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

const grantsOf = sql`(select json_group_array(json_object('organization_id', organization_id, 'edition_id', edition_id,
  'role', role)) from members where members.account_id = accounts.id`

interface AccountRow {
  account_id: string
  email: string
  grants: string
}

interface TokenRow extends AccountRow {
  id: string
  organization_id: string | null
  scopes: string
  last_used_at: number | null
  expires_at: number | null
  revoked_at: number | null
  refused_at: number | null
  /** 0 when what minted the token has come to its end. */
  is_standing: number
}

/** Who used a token after its end. */
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
  if (revoked_at === null && !isExpired && row.is_standing) return
  if ((row.refused_at ?? 0) <= now - refusedTokenEveryMs) {
    const reason = revoked_at === null && isExpired ? 'expired' : 'revoked'
    await recordRefused({ token_id: id, account_id, organization_id, reason })
  }
  throw refuse('invalid_token')
}

async function byToken(token: string, credentials: Credentials): Promise<Authenticated> {
  const { db, now } = credentials
  const row = isWellFormedToken(token)
    ? await db.first(sql<TokenRow>`select access_tokens.id, account_id, access_tokens.organization_id, scopes,
        last_used_at, expires_at, revoked_at, refused_at, ${isLineageValid(now)} as is_standing, email, ${grantsOf} and (access_tokens.organization_id is null
        or members.organization_id = access_tokens.organization_id)) as grants
      from access_tokens join accounts on accounts.id = account_id
      where token_hash = ${toHex(await sha256(token))}`)
    : undefined
  if (!row) throw refuse('invalid_token')
  await refuseEnded(row, credentials)
  const caller: Caller = {
    id: row.account_id,
    email: row.email,
    is_superuser: false,
    grants: JSON.parse(row.grants) as Grant[],
    scopes: row.scopes.split(' ') as TokenScope[],
    credential: { kind: 'token', id: row.id, organization_id: row.organization_id },
  }
  const touch = async () => {
    await db.batch([
      sql`update access_tokens set last_used_at = ${now} where id = ${row.id}`,
      sql`update accounts set last_seen_at = ${now} where id = ${row.account_id}`,
    ])
  }
  return { caller, touch: (row.last_used_at ?? 0) <= now - touchEveryMs ? touch : null }
}

async function byIdentity(token: string, identity: IdentityProvider, { db, now }: Credentials): Promise<Authenticated> {
  const email = await identity.verifiedEmail(token, now)
  const row =
    email === null
      ? undefined
      : await db.first(sql<AccountRow>`select id as account_id, email, ${grantsOf}) as grants
          from accounts where email = ${email}`)
  if (!row) throw refuse('invalid_token')
  return {
    caller: {
      id: row.account_id,
      email: row.email,
      is_superuser: false,
      grants: JSON.parse(row.grants) as Grant[],
      scopes: ['read', 'write'],
      credential: { kind: 'oidc', id: null, organization_id: null },
    },
    touch: null,
  }
}

/** Compares digests, so that neither length nor content of the secret shows in the time it takes. */
async function isRoot(token: string, rootToken: string | null): Promise<boolean> {
  if (!rootToken) return false
  const [given, expected] = await Promise.all([sha256(utf8(token)), sha256(utf8(rootToken))])
  return crypto.subtle.timingSafeEqual(given, expected)
}

/** The caller behind an Authorization header, or 401. */
export async function authenticate(header: string | undefined, credentials: Credentials): Promise<Authenticated> {
  const token = /^Bearer +([^\s]+) *$/i.exec(header ?? '')?.[1]
  if (token === undefined) throw refuse(header ? 'invalid_token' : undefined)
  if (await isRoot(token, credentials.rootToken)) return { caller: superuser, touch: null }
  if (credentials.identity && token.split('.').length === 3) return byIdentity(token, credentials.identity, credentials)
  return byToken(token, credentials)
}
