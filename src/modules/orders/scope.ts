import { eq, type SQL, sql } from 'drizzle-orm'
import { orders } from '../../db/schema/sales/orders.ts'
import { users } from '../../db/schema/users.ts'
import type { SearchScope } from '../../db/search.ts'
import {
  getActingReach,
  inList,
  listReachedOrganizations,
  seesOrganization,
  buildVisibility,
  isVisibleTo,
  isVisibleIn,
} from '../../db/visibility.ts'
import { type Caller, getReach } from '../../domain/accounts/access.ts'
import type { OrderFilters } from './contract.ts'

export const orderVisibility = buildVisibility(sql`${orders.organization_id}`, sql`${orders.edition_id}`)

/** The orders of a list that the caller sees, before its other filters. */
export interface ListedOrders {
  /** A condition on orders. */
  where: SQL
  /** A condition on the caller, without columns. */
  isVisible: SQL
  /** The editions of the list; null for an organization, and for all that the caller reaches. */
  editionIds: readonly string[] | null
  ownMarks: SearchScope | null
  /** A condition on customers that the caller sees as their organization knows them; null where there are none. */
  customers: SQL | null
  customerMarks: SearchScope | null
  /** The editions whose knowledge of customers the caller sees. */
  customerEditionIds: readonly string[]
}

const inEditions = (ids: readonly string[]): SQL =>
  ids.length === 1 ? eq(orders.edition_id, ids[0] ?? '') : inList(sql`${orders.edition_id}`, ids)

function listOwnEditions(caller: Caller, organizationId: string | undefined): string[] {
  const reach = getReach(caller)
  const grants = reach.all ? [] : reach.editions.filter((grant) => grant.organization_id === organizationId)
  return [...new Set(grants.flatMap(({ edition_id }) => edition_id ?? []))]
}

function listEdition(caller: Caller, editionId: string, organizationId: string | undefined): ListedOrders {
  const reach = getReach(caller)
  const grant = reach.all ? undefined : reach.editions.find(({ edition_id }) => edition_id === editionId)
  const isVisible = sql`${isVisibleIn(caller, orderVisibility, { edition_id: editionId })}
    and exists (select 1 from editions where id = ${editionId}
      and ${organizationId === undefined ? sql`1` : sql`organization_id = ${organizationId}`})`
  return {
    where: sql`${inEditions([editionId])} and ${isVisible}`,
    isVisible,
    editionIds: [editionId],
    ownMarks: { editions: [editionId] },
    customers: grant
      ? null
      : sql`${users.organization_id} = (select organization_id from editions where id = ${editionId})`,
    customerMarks: { editionId },
    customerEditionIds: grant ? listOwnEditions(caller, grant.organization_id) : [],
  }
}

function listOrganization(caller: Caller, organizationId: string): ListedOrders {
  const marks = { organizations: [organizationId] }
  if (seesOrganization(caller, organizationId))
    return {
      where: eq(orders.organization_id, organizationId),
      isVisible: sql`1`,
      editionIds: null,
      ownMarks: marks,
      customers: eq(users.organization_id, organizationId),
      customerMarks: marks,
      customerEditionIds: [],
    }
  const editionIds = listOwnEditions(caller, organizationId)
  return {
    where: inEditions(editionIds),
    isVisible: editionIds.length > 0 ? sql`1` : sql`0`,
    editionIds,
    ownMarks: { editions: editionIds },
    customers: null,
    customerMarks: null,
    customerEditionIds: editionIds,
  }
}

function listReached(caller: Caller): ListedOrders {
  const shared = { where: isVisibleTo(caller, orderVisibility), editionIds: null }
  const reach = getActingReach(caller)
  if (reach.all)
    return {
      ...shared,
      isVisible: sql`1`,
      ownMarks: null,
      customers: sql`1`,
      customerMarks: null,
      customerEditionIds: [],
    }
  const organizations = listReachedOrganizations(caller) ?? []
  return {
    ...shared,
    isVisible: organizations.length > 0 ? sql`1` : sql`0`,
    ownMarks: { organizations },
    customers: reach.organizations.length > 0 ? inList(sql`${users.organization_id}`, reach.organizations) : null,
    customerMarks: { organizations: reach.organizations },
    customerEditionIds: [...new Set(reach.editions.flatMap(({ edition_id }) => edition_id ?? []))],
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
