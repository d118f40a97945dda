import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { containsFoldedOrDigits } from '../../db/contains.ts'
import { type CustomerView, searchedTexts } from '../../db/customer-visibility.ts'
import type { NoFilters } from '../../db/lists/filters.ts'
import { users } from '../../db/schema/users.ts'
import { shortId, shortIdOf, shortIdOfOrganization, shortIds } from '../../db/short-ids.ts'
import { inList, visibleIn } from '../../db/visibility.ts'
import type { UserFilters } from './contract.ts'

/** Customers are the organisation's; edition roles see those with an order in their editions. */
export const userVisibility = {
  inOrganizations: (ids: readonly string[]) => inList(sql`${users.organization_id}`, ids),
  inEditions: (ids: readonly string[]) =>
    sql`exists (select 1 from edition_customers where user_seq = users.seq and ${inList(sql`edition_short_id`, shortIds(ids))})`,
}

/** What the indexes of an organisation begin with. */
export const organizationOf = sql`users.organization_short_id`

/** As `userVisibility` for lists, which begin with the editions and not with all customers. */
const listVisibility = {
  inOrganizations: (ids: readonly string[]) => inList(organizationOf, shortIds(ids)),
  inEditions: (ids: readonly string[]) =>
    sql`users.seq in (select user_seq from edition_customers where ${inList(sql`edition_short_id`, shortIds(ids))})`,
}

const isOfEditionsOrganization = (id: string): SQL =>
  sql`${organizationOf} = (select ${shortIdOf(sql`organization_id`)} from editions where id = ${id})`

/** The edition's organisation leads to the index of the order that is asked for. */
const joinedEdition = (view: CustomerView, id: string): SQL[] =>
  view.isWhole
    ? [
        isOfEditionsOrganization(id),
        sql`exists (select 1 from edition_customers where user_seq = users.seq and edition_short_id = ${shortId(id)})`,
      ]
    : [listVisibility.inEditions([id])]

function textCondition(view: CustomerView, search: string | undefined): SQL[] {
  if (!search) return []
  const contains = (row: 'users' | 'given') =>
    containsFoldedOrDigits(searchedTexts(row, 'name_folded', 'address_folded', 'phone_digits'), search)
  return [view.matches(contains('users'), contains('given'))]
}

export function conditions(ctx: Ctx, view: CustomerView, filters: UserFilters): SQL[] {
  const { edition_id, organization_id, search, ...unnamed } = filters
  unnamed satisfies NoFilters
  return [
    visibleIn(ctx.caller, listVisibility, { edition_id, organization_id }),
    ...(organization_id ? [sql`${organizationOf} = ${shortIdOfOrganization(organization_id)}`] : []),
    ...(edition_id ? joinedEdition(view, edition_id) : []),
    ...textCondition(view, search),
  ]
}
