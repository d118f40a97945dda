import { eq, type SQL, sql } from 'drizzle-orm'
import { orders } from '../../db/schema/sales/orders.ts'
import type { SearchScope } from '../../db/search.ts'
import { inList, seesOrganization, visibilityOf, visible, visibleIn } from '../../db/visibility.ts'
import { type Caller, reachOf } from '../../domain/accounts/access.ts'
import { invalid, parameterError } from '../../domain/errors.ts'
import type { OrderFilters } from './contract.ts'

export const orderVisibility = visibilityOf(sql`${orders.organization_id}`, sql`${orders.edition_id}`)

/** The orders of a list that the caller sees, before its other filters. */
export interface ListedOrders {
  /** A condition on orders. */
  where: SQL
  /** A condition on the caller, without columns. */
  isVisible: SQL
  /** The editions of the list; null for an organization, and where a customer alone limits the list. */
  editionIds: readonly string[] | null
  /** A value. */
  organizationId: SQL
  ownMarks: SearchScope | null
  /** The editions whose knowledge of customers the caller sees; null where the caller sees what the organization knows. */
  customerEditionIds: readonly string[] | null
  customerMarks: SearchScope | null
}

const inEditions = (ids: readonly string[]): SQL =>
  ids.length === 1 ? eq(orders.edition_id, ids[0] ?? '') : inList(sql`${orders.edition_id}`, ids)

function listOwnEditions(caller: Caller, organizationId: string | undefined): string[] {
  const reach = reachOf(caller)
  const grants = reach.all ? [] : reach.editions.filter((grant) => grant.organization_id === organizationId)
  return [...new Set(grants.flatMap(({ edition_id }) => edition_id ?? []))]
}

function listEdition(caller: Caller, editionId: string, organizationId: string | undefined): ListedOrders {
  const reach = reachOf(caller)
  const grant = reach.all ? undefined : reach.editions.find(({ edition_id }) => edition_id === editionId)
  const isVisible = sql`${visibleIn(caller, orderVisibility, { edition_id: editionId })}
    and exists (select 1 from editions where id = ${editionId}
      and ${organizationId === undefined ? sql`1` : sql`organization_id = ${organizationId}`})`
  return {
    where: sql`${inEditions([editionId])} and ${isVisible}`,
    isVisible,
    editionIds: [editionId],
    organizationId: sql`(select organization_id from editions where id = ${editionId})`,
    ownMarks: { editions: [editionId] },
    customerEditionIds: grant ? listOwnEditions(caller, grant.organization_id) : null,
    customerMarks: { editionId },
  }
}

function listOrganization(caller: Caller, organizationId: string): ListedOrders {
  const marks = { organizations: [organizationId] }
  const shared = { organizationId: sql`${organizationId}`, customerMarks: marks }
  if (seesOrganization(caller, organizationId))
    return {
      ...shared,
      where: eq(orders.organization_id, organizationId),
      isVisible: sql`1`,
      editionIds: null,
      ownMarks: marks,
      customerEditionIds: null,
    }
  const editionIds = listOwnEditions(caller, organizationId)
  return {
    ...shared,
    where: inEditions(editionIds),
    isVisible: editionIds.length > 0 ? sql`1` : sql`0`,
    editionIds,
    ownMarks: { editions: editionIds },
    customerEditionIds: editionIds,
  }
}

/** Throws `required_filter` (400) where no filter limits the list. */
export function chooseListedOrders(caller: Caller, filters: OrderFilters): ListedOrders {
  const { edition_id, organization_id, customer_id } = filters
  if (edition_id) return listEdition(caller, edition_id, organization_id)
  if (organization_id) return listOrganization(caller, organization_id)
  if (!customer_id)
    throw invalid(
      parameterError(null, 'required_filter', 'Give at least one of edition_id, organization_id, customer_id.'),
    )
  return {
    where: visible(caller, orderVisibility),
    isVisible: sql`1`,
    editionIds: null,
    organizationId: sql`null`,
    ownMarks: null,
    customerEditionIds: null,
    customerMarks: null,
  }
}
