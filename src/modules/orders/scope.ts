import { eq, type SQL, sql } from 'drizzle-orm'
import { customersSeenBy } from '../../db/customer-visibility.ts'
import { orders } from '../../db/schema/sales/orders.ts'
import { users } from '../../db/schema/users.ts'
import type { SearchScope } from '../../db/search.ts'
import { shortIds } from '../../db/short-ids.ts'
import {
  actingReach,
  inList,
  organizationsReached,
  seesOrganization,
  visibilityOf,
  visible,
  visibleIn,
} from '../../db/visibility.ts'
import { type Caller, reachOf } from '../../domain/accounts/access.ts'
import type { OrderFilters } from './contract.ts'

export const orderVisibility = visibilityOf(sql`${orders.organization_id}`, sql`${orders.edition_id}`)

/** The orders of a list that the caller sees, before its other filters. */
export interface ListedOrders {
  /** A condition on orders. */
  where: SQL
  /** A condition on the caller, without columns. */
  isVisible: SQL
  /** The editions of the list; null for an organization, and for all that the caller reaches. */
  editionIds: readonly string[] | null
  /** A condition on customers whose orders the list may have. */
  customers: SQL
  ownMarks: SearchScope | null
  customerMarks: SearchScope | null
}

const inEditions = (ids: readonly string[]): SQL =>
  ids.length === 1 ? eq(orders.edition_id, ids[0] ?? '') : inList(sql`${orders.edition_id}`, ids)

const areCustomersOf = (editionIds: readonly string[]): SQL =>
  sql`exists (select 1 from edition_customers where user_seq = ${users.seq}
    and ${inList(sql`edition_short_id`, shortIds(editionIds))})`

/** Edition roles are answered from the customers of their editions alone. */
const areSeenCustomersOf = (caller: Caller, editionIds: readonly string[]): SQL =>
  customersSeenBy(caller).isWhole ? sql`1` : areCustomersOf(editionIds)

function listEdition(caller: Caller, editionId: string, organizationId: string | undefined): ListedOrders {
  const isVisible = sql`${visibleIn(caller, orderVisibility, { edition_id: editionId })}
    and exists (select 1 from editions where id = ${editionId}
      and ${organizationId === undefined ? sql`1` : sql`organization_id = ${organizationId}`})`
  return {
    where: sql`${inEditions([editionId])} and ${isVisible}`,
    isVisible,
    editionIds: [editionId],
    customers: sql`${users.organization_id} = (select organization_id from editions where id = ${editionId})
      and ${areSeenCustomersOf(caller, [editionId])}`,
    ownMarks: { editions: [editionId] },
    customerMarks: { editionId },
  }
}

function listOrganization(caller: Caller, organizationId: string): ListedOrders {
  const marks = { organizations: [organizationId] }
  const customers = eq(users.organization_id, organizationId)
  if (seesOrganization(caller, organizationId))
    return {
      where: eq(orders.organization_id, organizationId),
      isVisible: sql`1`,
      editionIds: null,
      customers,
      ownMarks: marks,
      customerMarks: marks,
    }
  const reach = reachOf(caller)
  const grants = reach.all ? [] : reach.editions.filter((grant) => grant.organization_id === organizationId)
  const editionIds = [...new Set(grants.flatMap(({ edition_id }) => edition_id ?? []))]
  return {
    where: inEditions(editionIds),
    isVisible: editionIds.length > 0 ? sql`1` : sql`0`,
    editionIds,
    customers: sql`${customers} and ${areSeenCustomersOf(caller, editionIds)}`,
    ownMarks: { editions: editionIds },
    customerMarks: marks,
  }
}

function listReached(caller: Caller): ListedOrders {
  const shared = { where: visible(caller, orderVisibility), editionIds: null }
  const reach = actingReach(caller)
  if (reach.all) return { ...shared, isVisible: sql`1`, customers: sql`1`, ownMarks: null, customerMarks: null }
  const organizations = organizationsReached(caller) ?? []
  const editionIds = reach.editions.flatMap(({ edition_id }) => edition_id ?? [])
  return {
    ...shared,
    isVisible: organizations.length > 0 ? sql`1` : sql`0`,
    customers: sql`(${inList(sql`${users.organization_id}`, reach.organizations)} or ${areCustomersOf(editionIds)})`,
    ownMarks: { organizations },
    customerMarks: { organizations },
  }
}

/** The orders of an edition, of an organization, or without either, of all that the caller reaches. */
export function chooseListedOrders(
  caller: Caller,
  { edition_id, organization_id }: Pick<OrderFilters, 'edition_id' | 'organization_id'>,
): ListedOrders {
  if (edition_id) return listEdition(caller, edition_id, organization_id)
  if (organization_id) return listOrganization(caller, organization_id)
  return listReached(caller)
}
