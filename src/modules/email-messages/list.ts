import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildConditions, equals, type FilterTable } from '../../db/filters.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { editions } from '../../db/schema/editions.ts'
import { emailMessages } from '../../db/schema/email-messages.ts'
import { organizations } from '../../db/schema/organizations.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { EmailMessageQuery } from './contract.ts'
import { messageFields, type MessageListRow, visibleMessages } from './queries.ts'

const buildFilters = (ctx: Ctx): FilterTable<EmailMessageQuery> => ({
  organization_id: (id) => belongsToOrganization(ctx, id),
  edition_id: equals(emailMessages.edition_id),
  type: equals(emailMessages.type),
  scope: equals(emailMessages.scope),
})

/** Includes the messages of the platform when the caller has a role in the organisation. */
function belongsToOrganization({ caller }: Ctx, id: string): SQL {
  const isOrganizations = sql`organization_id = ${id}`
  const hasRole = caller.is_superuser || caller.grants.some((grant) => grant.organization_id === id)
  return hasRole ? sql`(${isOrganizations} or organization_id is null)` : isOrganizations
}

const sortColumns = {
  created: sql`${emailMessages.created_at}`,
  modified: sql`${emailMessages.modified_at}`,
  title: sql`${emailMessages.title_key}`,
}

export const listEmailMessages = (
  ctx: Ctx,
  page: PageRequest,
  query: EmailMessageQuery,
): Promise<Page<MessageListRow>> =>
  paginate(ctx.db, page, {
    from: sql`${emailMessages}`,
    where: [visibleMessages(ctx), ...buildConditions(buildFilters(ctx), query)],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${emailMessages.id}`,
    columns: messageFields,
    joins: sql`join ${emailMessages} on ${emailMessages.id} = page.id
      left join ${organizations} on ${organizations.id} = ${emailMessages.organization_id}
      left join ${editions} on ${editions.id} = ${emailMessages.edition_id}`,
  })
