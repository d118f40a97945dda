import { and, eq, getTableColumns, or, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { selectAccessKey } from '../../db/images.ts'
import { accessTokens, accounts, members } from '../../db/schema/accounts.ts'
import { fromJson, jsonFlag, select, selectValues } from '../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import {
  type Caller,
  type MemberRole,
  type RoleCode,
  type Tenant,
  organizationManagers,
} from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { maxListedEditions } from './contract.ts'

export type AccessTokenRow = typeof accessTokens.$inferSelect

export const tokenColumns = getTableColumns(accessTokens)

/** The roles that can create and revoke tokens of others. */
export const adminRoles: readonly RoleCode[] = ['OA']

/** The caller's own token, or one bound to an organisation that the caller is an admin of. */
export async function findToken(ctx: Ctx, id: string): Promise<AccessTokenRow & { tenant: Tenant | null }> {
  const { caller } = ctx
  const boundTo = caller.credential.organization_id
  const isOwn = and(
    eq(accessTokens.account_id, caller.id),
    boundTo ? eq(accessTokens.organization_id, boundTo) : undefined,
  )
  const isAdministered = isVisibleTo(
    caller,
    buildVisibility(sql`${accessTokens.organization_id}`, sql`null`),
    adminRoles,
  )
  const row = await ctx.db.first(
    select(tokenColumns)
      .from(accessTokens)
      .where(and(eq(accessTokens.id, id), or(isOwn, isAdministered))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: null }
}

/** The caller's membership as an admin of the organisation that a row of `members` belongs to. */
const selectCreatorMembership = (caller: Caller): SQL<string | null> =>
  sql<string | null>`(select creators.id from members as creators
    where creators.organization_id = ${members.organization_id} and creators.account_id = ${caller.id}
      and creators.edition_id is null and creators.role = ${'admin' satisfies MemberRole})`

const isMember = (ctx: Ctx, id: string, roles: readonly RoleCode[]) =>
  and(eq(members.id, id), isVisibleTo(ctx.caller, buildVisibility(sql`${members.organization_id}`, sql`null`), roles))

/** True if the caller can list the member. */
export const canListMember = async (ctx: Ctx, id: string): Promise<boolean> =>
  (await ctx.db.first(
    select({ id: members.id })
      .from(members)
      .where(isMember(ctx, id, organizationManagers)),
  )) !== undefined

/** A member and their address, for the superuser. */
export const findMember = (ctx: Ctx, id: string) =>
  ctx.db.first(
    select({ organization_id: members.organization_id, email: accounts.email })
      .from(members)
      .innerJoin(accounts, eq(accounts.id, members.account_id))
      .where(isMember(ctx, id, [])),
  )

/** A member for whom the caller may create tokens. */
export const findManagedMember = (ctx: Ctx, id: string) =>
  ctx.db.first(
    select({
      id: members.id,
      account_id: members.account_id,
      organization_id: members.organization_id,
      minter_member_id: selectCreatorMembership(ctx.caller),
    })
      .from(members)
      .where(isMember(ctx, id, adminRoles)),
  )

export type CallingToken = Pick<AccessTokenRow, 'expires_at' | 'generation'>

/** The access token or session of the request, or undefined for other credentials. */
export const findCallingToken = async ({ caller, db }: Ctx): Promise<CallingToken | undefined> => {
  const { expires_at, generation, id } = accessTokens
  if (caller.credential.id === null) return undefined
  return db.first(select({ expires_at, generation }).from(accessTokens).where(eq(id, caller.credential.id)))
}

export interface UserInfoRows {
  account: {
    id: string
    created_at: number
    last_seen_at: number | null
    first_name: string
    last_name: string
  } | null
  token: Pick<
    AccessTokenRow,
    | 'id'
    | 'name'
    | 'prefix'
    | 'scopes'
    | 'organization_id'
    | 'created_at'
    | 'expires_at'
    | 'last_used_at'
    | 'signed_in_at'
    | 'is_session'
  > | null
  organizations: { id: string; name: string; slug: string; avatar_id: string | null; avatar_key: string | null }[]
  editions: { id: string; full_name: string; slug: string; organization_id: string }[]
  editions_count: number
}

/** The caller's account. A token that is bound to an organisation sees only the fields of its membership there. */
function selectAccount({ id, credential }: Caller): SQL {
  if (credential.organization_id !== null)
    return sql`(select json_object('id', id, 'created_at', created_at, 'last_seen_at', null,
        'first_name', first_name, 'last_name', last_name)
      from members where account_id = ${id} and organization_id = ${credential.organization_id}
      order by edition_id is not null, id limit 1)`
  const name = (column: SQL) =>
    sql`coalesce((select ${column} from members where account_id = accounts.id order by id desc limit 1), '')`
  return sql`(select json_object('id', id, 'created_at', created_at, 'last_seen_at', last_seen_at,
      'first_name', ${name(sql`first_name`)}, 'last_name', ${name(sql`last_name`)})
    from accounts where id = ${id})`
}

/** Reads everything for user-info in one statement. */
export async function readUserInfo(ctx: Ctx): Promise<UserInfoRows> {
  const { caller } = ctx
  const organizations = isVisibleTo(caller, {
    inOrganizations: (ids) => sql`organizations.id in (select value from json_each(${JSON.stringify(ids)}))`,
    inEditions: (ids) =>
      sql`organizations.id in (select organization_id from editions where id in (select value from json_each(${JSON.stringify(ids)})))`,
  })
  const editions = isVisibleTo(caller, buildVisibility(sql`organization_id`, sql`id`))
  const fields = {
    account: fromJson<UserInfoRows['account']>(selectAccount(caller)),
    token: fromJson<UserInfoRows['token']>(sql`(select json_object('id', id, 'name', name, 'prefix', prefix,
        'scopes', scopes, 'organization_id', organization_id, 'created_at', created_at, 'expires_at', expires_at,
        'last_used_at', last_used_at, 'signed_in_at', signed_in_at, 'is_session', ${jsonFlag(sql`is_session`)})
      from access_tokens where id = ${caller.credential.id})`),
    organizations: fromJson<UserInfoRows['organizations']>(sql`(select json_group_array(json_object('id', id,
        'name', name, 'slug', slug, 'avatar_id', avatar_file_id, 'avatar_key', ${selectAccessKey(sql`avatar_file_id`)}))
      from (select * from organizations where ${organizations} order by name_key, id limit ${maxListedEditions}))`),
    editions: fromJson<UserInfoRows['editions']>(sql`(select json_group_array(json_object('id', id,
        'full_name', full_name, 'slug', slug, 'organization_id', organization_id))
      from (select * from editions where ${editions} order by created_at desc, id desc limit ${maxListedEditions}))`),
    editions_count: sql<number>`(select count(*) from editions where ${editions})`,
  }
  const row = await ctx.db.first(selectValues(fields))
  return row ?? { account: null, token: null, organizations: [], editions: [], editions_count: 0 }
}
