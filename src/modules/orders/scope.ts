import { eq, type SQL, sql } from 'drizzle-orm'
import { inList } from '../../db/conditions.ts'
import { inEditions } from '../../db/customers.ts'
import { users } from '../../db/schema/customers.ts'
import { orders } from '../../db/schema/orders.ts'
import type { SearchScope } from '../../db/search.ts'
import {
  getActingReach,
  listReachedOrganizations,
  seesOrganization,
  buildVisibility,
  isVisibleTo,
  isVisibleIn,
} from '../../db/visibility.ts'
import { type Caller, getReach } from '../../domain/accounts/access.ts'
import type { OrderQuery } from './contract.ts'

export const orderVisibility = buildVisibility(sql`${orders.organization_id}`, sql`${orders.edition_id}`)

/** The orders that a list may contain before its other filters, and the customers who may be searched for them. */
export interface OrderScope {
  /** A condition on `orders`. */
  condition: SQL
  /** The part of the condition that concerns the caller only. It reads no column of `orders`. */
  callerCondition: SQL
  /** Null when the list is not limited to editions. */
  editionIds: readonly string[] | null
  orderSearch: SearchScope | null
  /** A condition on the `users` that the caller sees as the organization knows them; null when there are none. */
  customers: SQL | null
  customerSearch: SearchScope | null
  /** The editions through which the caller sees customers. */
  customerEditionIds: readonly string[]
}

function listGrantedEditions(caller: Caller, organizationId: string | undefined): string[] {
  const reach = getReach(caller)
  const grants = reach.all ? [] : reach.editions.filter((grant) => grant.organization_id === organizationId)
  return [...new Set(grants.flatMap(({ edition_id }) => edition_id ?? []))]
}

function scopeToEdition(caller: Caller, editionId: string, organizationId: string | undefined): OrderScope {
  const reach = getReach(caller)
  const grant = reach.all ? undefined : reach.editions.find(({ edition_id }) => edition_id === editionId)
  const callerCondition = sql`${isVisibleIn(caller, orderVisibility, { edition_id: editionId })}
    and exists (select 1 from editions where id = ${editionId}
      and ${organizationId === undefined ? sql`1` : sql`organization_id = ${organizationId}`})`
  return {
    condition: sql`${inEditions(sql`${orders.edition_id}`, [editionId])} and ${callerCondition}`,
    callerCondition,
    editionIds: [editionId],
    orderSearch: { editions: [editionId] },
    customers: grant
      ? null
      : sql`${users.organization_id} = (select organization_id from editions where id = ${editionId})`,
    customerSearch: { editionId },
    customerEditionIds: grant ? listGrantedEditions(caller, grant.organization_id) : [],
  }
}

function scopeToOrganization(caller: Caller, organizationId: string): OrderScope {
  const search = { organizations: [organizationId] }
  if (seesOrganization(caller, organizationId))
    return {
      condition: eq(orders.organization_id, organizationId),
      callerCondition: sql`1`,
      editionIds: null,
      orderSearch: search,
      customers: eq(users.organization_id, organizationId),
      customerSearch: search,
      customerEditionIds: [],
    }
  const editionIds = listGrantedEditions(caller, organizationId)
  return {
    condition: inEditions(sql`${orders.edition_id}`, editionIds),
    callerCondition: editionIds.length > 0 ? sql`1` : sql`0`,
    editionIds,
    orderSearch: { editions: editionIds },
    customers: null,
    customerSearch: null,
    customerEditionIds: editionIds,
  }
}

function scopeToReach(caller: Caller): OrderScope {
  const commonFields = { condition: isVisibleTo(caller, orderVisibility), editionIds: null }
  const reach = getActingReach(caller)
  if (reach.all)
    return {
      ...commonFields,
      callerCondition: sql`1`,
      orderSearch: null,
      customers: sql`1`,
      customerSearch: null,
      customerEditionIds: [],
    }
  const organizations = listReachedOrganizations(caller) ?? []
  return {
    ...commonFields,
    callerCondition: organizations.length > 0 ? sql`1` : sql`0`,
    orderSearch: { organizations },
    customers: reach.organizations.length > 0 ? inList(sql`${users.organization_id}`, reach.organizations) : null,
    customerSearch: { organizations: reach.organizations },
    customerEditionIds: [...new Set(reach.editions.flatMap(({ edition_id }) => edition_id ?? []))],
  }
}

/** Without an edition and an organization, the scope is everything that the caller may see. */
export function chooseOrderScope(
  caller: Caller,
  { edition_id, organization_id }: Pick<OrderQuery, 'edition_id' | 'organization_id'>,
): OrderScope {
  if (edition_id) return scopeToEdition(caller, edition_id, organization_id)
  if (organization_id) return scopeToOrganization(caller, organization_id)
  return scopeToReach(caller)
}
