import { eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildConditions, contains, equals, type FilterTable } from '../../db/filters.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { accounts, members } from '../../db/schema/accounts.ts'
import { events } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { isVisibleTo } from '../../db/visibility.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { EventQuery, MemberQuery, OrganizationQuery } from './contract.ts'
import {
  type LoadedOrganization,
  eventColumns,
  type EventRow,
  eventVisibility,
  memberColumns,
  type MemberRow,
  organizationColumns,
  type OrganizationRow,
  organizationVisibility,
} from './queries.ts'

const organizationFilters: FilterTable<OrganizationQuery> = { search: contains(organizations.search) }

export const listOrganizations = (
  ctx: Ctx,
  page: PageRequest,
  query: OrganizationQuery,
): Promise<Page<OrganizationRow>> =>
  paginate(ctx.db, page, {
    from: sql`${organizations}`,
    where: [isVisibleTo(ctx.caller, organizationVisibility), ...buildConditions(organizationFilters, query)],
    orderBy: buildOrderBy(query.ordering, '-created', {
      created: sql`${organizations.created_at}`,
      modified: sql`${organizations.modified_at}`,
      name: sql`${organizations.name_key}`,
    }),
    id: sql`${organizations.id}`,
    columns: organizationColumns,
    joins: sql`join ${organizations} on ${organizations.id} = page.id`,
  })

const memberFilters: FilterTable<MemberQuery> = {
  role: equals(members.role),
  edition_id: equals(members.edition_id),
  account_id: equals(members.account_id),
}

export const listOrganizationMembers = (
  ctx: Ctx,
  page: PageRequest,
  query: MemberQuery,
  organization: LoadedOrganization,
): Promise<Page<MemberRow>> =>
  paginate(ctx.db, page, {
    from: sql`${members}`,
    where: [eq(members.organization_id, organization.id), ...buildConditions(memberFilters, query)],
    orderBy: buildOrderBy(query.ordering, 'created', {
      created: sql`${members.created_at}`,
      role: sql`${members.role}`,
    }),
    id: sql`${members.id}`,
    columns: memberColumns,
    joins: sql`join ${members} on ${members.id} = page.id join ${accounts} on ${accounts.id} = ${members.account_id}`,
  })

const eventFilters: FilterTable<EventQuery> = {
  organization_id: equals(events.organization_id),
  search: contains(events.search),
}

export const listEvents = (ctx: Ctx, page: PageRequest, query: EventQuery): Promise<Page<EventRow>> =>
  paginate(ctx.db, page, {
    from: sql`${events}`,
    where: [isVisibleTo(ctx.caller, eventVisibility), ...buildConditions(eventFilters, query)],
    orderBy: buildOrderBy(query.ordering, '-created', {
      created: sql`${events.created_at}`,
      name: sql`${events.name_key}`,
    }),
    id: sql`${events.id}`,
    columns: eventColumns,
    joins: sql`join ${events} on ${events.id} = page.id`,
  })
