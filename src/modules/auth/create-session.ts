import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commitPart, requireOneChange } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { accessTokens, signInCodes, signInLinks } from '../../db/schema/accounts.ts'
import { insert, update } from '../../db/write.ts'
import { tokenScopes } from '../../domain/accounts/access.ts'
import { isSignInCode, maxCodeTries, sessionMs, type SignInMethod } from '../../domain/accounts/sign-in.ts'
import { AppError } from '../../domain/errors.ts'
import { sha256, toHex } from '../../domain/text/encoding.ts'
import { readSharedTime } from '../../domain/time/instants.ts'
import type { IdentityProvider } from '../../gateways/identity/identity.ts'
import { recordForOrganizations } from '../audit-log/index.ts'
import type { CreateSessionInput } from './contract.ts'
import { mintToken } from './mint-token.ts'
import type { AccessTokenRow } from './queries.ts'
import { requireMethod } from './sign-in-methods.ts'
import { computeSignInTime } from './sign-in-time.ts'

export type NewSession = AccessTokenRow & { token: string; email: string }

interface Account {
  id: string
  email: string
}

/** What a sign-in has proved. */
interface SignIn {
  account: Account
  /** Null: the identity provider does not say it. */
  signed_in_at: number | null
  /** They make the secret useless, in the transaction that creates the session. */
  statements: Statement[]
}

const failures: Readonly<Record<SignInMethod, string>> = {
  code: 'This code is wrong, was used, or has expired. Request another one.',
  link: 'This link was used, has expired, or does not exist. Ask for another one.',
  oidc: 'This token of the identity provider is not valid here, or no member has its verified e-mail address.',
  access:
    'Send a code, a link or a token. Cloudflare Access has added no valid `Cf-Access-Jwt-Assertion`, or no member has its e-mail address.',
}

const createFailure = (method: SignInMethod): AppError =>
  new AppError('sign_in_failed', failures[method], {
    headers: { 'www-authenticate': 'Bearer realm="event-commerce"' },
  })

/** Accounts without a role cannot sign in. */
const isMember = sql`exists (select 1 from members where members.account_id = accounts.id)`

/** Counts the try before the code is compared, so that parallel tries are no more than others. */
async function checkCode(ctx: Ctx, id: string, code: string): Promise<SignIn | null> {
  const now = ctx.now()
  const request = await ctx.db.first(sql<{ salt: string; account_id: string | null }>`update sign_in_codes
    set tries = tries + 1 where id = ${id} and tries < ${maxCodeTries} and used_at is null and expires_at > ${now}
    returning salt, account_id`)
  if (!request || !isSignInCode(ctx.config.linkReadingKeys, { id, salt: request.salt }, code)) return null
  const account = await ctx.db.first(
    sql<Account>`select id, email from accounts where id = ${request.account_id} and ${isMember}`,
  )
  if (!account) return null
  const use = update(signInCodes, { used_at: now }, sql`id = ${id} and used_at is null`)
  return { account, signed_in_at: now, statements: [use, requireOneChange()] }
}

async function checkLink(ctx: Ctx, secret: string): Promise<SignIn | null> {
  const now = ctx.now()
  const hash = toHex(await sha256(secret))
  const link = await ctx.db.first(sql<Account & { link_id: string }>`select sign_in_links.id as link_id, accounts.id,
      accounts.email
    from sign_in_links join members on members.id = sign_in_links.member_id join accounts on accounts.id = members.account_id
    where secret_hash = ${hash} and used_at is null and expires_at > ${now}`)
  if (!link) return null
  const { link_id, ...account } = link
  const use = update(signInLinks, { used_at: now }, sql`id = ${link_id} and used_at is null`)
  return { account, signed_in_at: now, statements: [use, requireOneChange()] }
}

/** The person signed in when the provider says so, not when the token was exchanged. */
async function checkIdentity(ctx: Ctx, provider: IdentityProvider | null, token: string): Promise<SignIn | null> {
  const person = (await provider?.verify(token, readSharedTime(ctx))) ?? null
  if (person === null) return null
  const account = await ctx.db.first(
    sql<Account>`select id, email from accounts where email = ${person.email} and ${isMember}`,
  )
  return account ? { account, signed_in_at: computeSignInTime(ctx, person), statements: [] } : null
}

type Proof = { method: 'code'; id: string; code: string } | { method: 'link' | 'oidc' | 'access'; secret: string }

function chooseProof(
  { request_id, code, link, identity_token }: CreateSessionInput,
  assertion: string | undefined,
): Proof {
  if (request_id !== undefined && code !== undefined) return { method: 'code', id: request_id, code }
  if (link !== undefined) return { method: 'link', secret: link }
  if (identity_token !== undefined) return { method: 'oidc', secret: identity_token }
  return { method: 'access', secret: assertion ?? '' }
}

function checkProof(ctx: Ctx, proof: Proof): Promise<SignIn | null> {
  switch (proof.method) {
    case 'code':
      return checkCode(ctx, proof.id, proof.code)
    case 'link':
      return checkLink(ctx, proof.secret)
    case 'oidc':
      return checkIdentity(ctx, ctx.identity.oidc, proof.secret)
    case 'access':
      return checkIdentity(ctx, ctx.identity.access, proof.secret)
  }
}

/** `assertion` is the header of Cloudflare Access, which counts only if the body has no secret. */
export async function createSession(
  ctx: Ctx,
  input: CreateSessionInput,
  assertion: string | undefined,
): Promise<NewSession> {
  const proof = chooseProof(input, assertion)
  requireMethod(ctx.config, proof.method)
  const signIn = await checkProof(ctx, proof)
  if (!signIn) throw createFailure(proof.method)
  const { account, signed_in_at, statements } = signIn
  const { row, token } = await mintToken(ctx, {
    account_id: account.id,
    organization_id: null,
    minter_member_id: null,
    parent_id: null,
    generation: 0,
    name: input.name ?? 'Session',
    scopes: tokenScopes.join(' '),
    expires_at: ctx.now() + sessionMs,
    is_session: true,
    signed_in_at,
  })
  const entry = recordForOrganizations({
    id: ctx.newId('audit_entry'),
    action: 'createSession',
    account_id: account.id,
    actor_id: account.id,
    token_id: null,
    resource_id: row.id,
    changes: [{ field: 'method', before: null, after: proof.method }],
    request_id: ctx.requestId,
    at: ctx.now(),
  })
  await commitPart(ctx, [...statements, insert(accessTokens, row), entry])
  return { ...row, token, email: account.email }
}
