import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { containsFoldedOrDigits } from '../../db/contains.ts'
import { nullable, paginate, type SortKey } from '../../db/paginate.ts'
import type { users } from '../../db/schema/users.ts'
import { inList, visible, visibleIn } from '../../db/visibility.ts'
import type { Place } from '../../domain/access.ts'
import { notFound } from '../../domain/errors.ts'
import { type OrderBy, type Page, type PageRequest, sortBy } from '../../domain/page.ts'

export type UserRow = typeof users.$inferSelect

/** Customers are the organisation's; edition roles see those who bought in their editions. */
export const userStanding = {
  inOrganizations: (ids: readonly string[]) => inList(sql`users.organization_id`, ids),
  inEditions: (ids: readonly string[]) =>
    sql`exists (select 1 from user_editions where user_id = users.id and ${inList(sql`edition_id`, ids)})`,
}

interface UserFilters {
  edition_id?: string | undefined
  organization_id?: string | undefined
  search?: string | undefined
}

function conditions(ctx: Ctx, filters: UserFilters): SQL[] {
  const { edition_id, organization_id, search } = filters
  return [
    visibleIn(ctx.caller, userStanding, filters),
    ...(organization_id ? [sql`users.organization_id = ${organization_id}`] : []),
    // The edition's organisation leads to the index of the order that is asked for.
    ...(edition_id
      ? [
          sql`users.organization_id = (select organization_id from editions where id = ${edition_id})`,
          sql`exists (select 1 from user_editions where user_id = users.id and edition_id = ${edition_id})`,
        ]
      : []),
    ...(search ? [containsFoldedOrDigits(sql`users.search`, search)] : []),
  ]
}

const orders = {
  email: nullable(sql`users.email`, { indexed: true }),
  phone_number: nullable(sql`users.phone_number`, { indexed: true }),
  date_joined: sql`users.created_at`,
  last_seen: nullable(sql`users.last_seen_at`, { indexed: true }),
}

export const listUsers = (
  ctx: Ctx,
  page: PageRequest,
  ordering: readonly OrderBy<keyof typeof orders>[],
  filters: UserFilters,
): Promise<Page<UserRow>> =>
  paginate<UserRow>(ctx.db, page, {
    from: sql`users`,
    key: sql`users.seq`,
    where: conditions(ctx, filters),
    sort: sortBy<keyof typeof orders, SortKey['by']>(ordering, '-date_joined', orders),
    columns: sql`users.*`,
    joins: sql`join users on users.seq = page.key`,
  })

export interface LoadedUser extends UserRow {
  place: Place
  /** Of the edition that the customer joined last, for numbers without a country. */
  country_code: string | null
}

export async function findUser(ctx: Ctx, id: string): Promise<LoadedUser> {
  const row = await ctx.db.first(sql<UserRow & { editions: string; country_code: string | null }>`select users.*,
      (select json_group_array(edition_id) from user_editions where user_id = users.id) as editions,
      (select default_country_code from user_editions join editions on editions.id = edition_id
        where user_id = users.id order by user_editions.created_at desc limit 1) as country_code
    from users where id = ${id} and ${visible(ctx.caller, userStanding)}`)
  if (!row) throw notFound()
  const { editions, ...user } = row
  return { ...user, place: { organization_id: row.organization_id, editions: JSON.parse(editions) as string[] } }
}
