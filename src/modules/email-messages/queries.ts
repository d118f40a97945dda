import { type SQL, sql } from 'drizzle-orm'
import type { Ctx, JobCtx } from '../../context.ts'
import { paginate } from '../../db/paginate.ts'
import type { emailMessages } from '../../db/schema/messaging/email-messages.ts'
import { inList, type Visibility, visible } from '../../db/visibility.ts'
import { mayAt, type Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import type { Language } from '../../domain/languages.ts'
import { type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import { type EditionSummaryRow, editionSummaryColumns } from '../editions/index.ts'
import { type OrganizationSummaryRow, organizationSummaryColumns } from '../organizations/index.ts'
import type { EmailMessageFilters, EmailMessageOrdering } from './contract.ts'
import { writers } from './message-contract.ts'
import type { Nullable } from '../../domain/nullable.ts'

export type MessageRow = typeof emailMessages.$inferSelect

type TenantColumns = Nullable<OrganizationSummaryRow> & Nullable<EditionSummaryRow>

export type MessageListRow = Omit<MessageRow, 'blocks' | 'organization_id' | 'edition_id'> & TenantColumns
export type MessageDetailRow = Omit<MessageRow, 'organization_id' | 'edition_id'> &
  TenantColumns & { default_language: Language | null; email_sender_name: string | null }

/** Edition roles see the templates of the organisation too, to copy them. All callers see the platform's. */
const messageVisibility: Visibility = {
  inOrganizations: (ids) => inList(sql`email_messages.organization_id`, ids),
  inEditions: (ids) => sql`(${inList(sql`email_messages.edition_id`, ids)} or (email_messages.edition_id is null
    and email_messages.organization_id in (select organization_id from editions where ${inList(sql`editions.id`, ids)})))`,
}

const visibleMessages = (ctx: Ctx): SQL =>
  sql`(email_messages.organization_id is null or ${visible(ctx.caller, messageVisibility)})`

const tenantJoins = sql`left join organizations on organizations.id = email_messages.organization_id
  left join editions on editions.id = email_messages.edition_id`

/** Of an organisation that the caller has a role in: what the platform has is at its hand too. */
function ofOrganization(ctx: Ctx, id: string): SQL {
  const own = sql`organization_id = ${id}`
  const isKnown = ctx.caller.is_superuser || ctx.caller.grants.some((grant) => grant.organization_id === id)
  return isKnown ? sql`(${own} or organization_id is null)` : own
}

export function listMessages(
  ctx: Ctx,
  page: PageRequest,
  ordering: EmailMessageOrdering,
  filters: EmailMessageFilters,
): Promise<Page<MessageListRow>> {
  const { organization_id, edition_id, type, scope } = filters
  return paginate<MessageListRow>(ctx.db, page, {
    from: sql`email_messages`,
    key: sql`id`,
    where: [
      visibleMessages(ctx),
      ...(organization_id ? [ofOrganization(ctx, organization_id)] : []),
      ...(edition_id ? [sql`edition_id = ${edition_id}`] : []),
      ...(type ? [sql`type = ${type}`] : []),
      ...(scope ? [sql`scope = ${scope}`] : []),
    ],
    sort: sortBy(ordering, '-created', { created: sql`created_at`, modified: sql`modified_at`, title: sql`title` }),
    columns: sql`email_messages.id, email_messages.title, email_messages.subject, email_messages.type,
      email_messages.scope, email_messages.template, email_messages.is_locked, email_messages.version,
      email_messages.created_at, email_messages.modified_at, ${organizationSummaryColumns}, ${editionSummaryColumns}`,
    joins: sql`join email_messages on email_messages.id = page.key ${tenantJoins}`,
  })
}

/**
 * A message that the caller sees. Where it stands is for changing it: what belongs to the platform stands nowhere, what
 * belongs to the organisation is for its own roles.
 */
export async function findMessage(
  ctx: Ctx,
  id: string,
): Promise<MessageDetailRow & { tenant: Tenant | null; instead?: string }> {
  const row = await ctx.db.first(sql<MessageDetailRow>`select email_messages.*, ${organizationSummaryColumns},
      ${editionSummaryColumns}, editions.default_language, editions.email_sender_name
    from email_messages ${tenantJoins} where email_messages.id = ${id} and ${visibleMessages(ctx)}`)
  if (!row) throw notFound()
  const { organization_id, edition_id } = row
  if (organization_id === null) return { ...row, tenant: null }
  const tenant = { organization_id, editions: edition_id === null ? [] : [edition_id] }
  // A template of the organisation is nothing that a role in an edition changes, and something that it copies.
  const mayAdopt = edition_id === null && mayAt(ctx.caller, writers, { organization_id, editions: 'any' })
  return { ...row, tenant, ...(mayAdopt ? { instead: adoptInstead('organisation') } : {}) }
}

export const adoptInstead = (owner: 'organisation' | 'platform'): string =>
  `This is a template of the ${owner}: adopt it first, and change or delete the copy of your edition.`

/** As `findMessage`, for reading: a caller who sees a message may read it, whatever the role. */
export const findReadable = async (ctx: Ctx, id: string): Promise<MessageDetailRow & { tenant: null }> => ({
  ...(await findMessage(ctx, id)),
  tenant: null,
})

/** What a sender needs of a message. */
export interface MessageBrief {
  id: string
  title: string
  type: string
  scope: string
  organization_id: string | null
  edition_id: string | null
  subject: string
  blocks_count: number
}

/** True for the messages that an edition may send: its own, its organisation's and the platform's. */
const sendableBy = (edition: { organization_id: string; edition_id: string }): SQL =>
  sql`(email_messages.organization_id is null or email_messages.organization_id = ${edition.organization_id})
    and (email_messages.edition_id is null or email_messages.edition_id = ${edition.edition_id})`

/** The message, if the edition may send it. */
export const sendableMessage = (
  ctx: Pick<JobCtx, 'db'>,
  id: string,
  edition: { organization_id: string; edition_id: string },
): Promise<MessageBrief | undefined> =>
  ctx.db.first(sql<MessageBrief>`select id, title, type, scope, organization_id, edition_id, subject,
      json_array_length(blocks) as blocks_count
    from email_messages where id = ${id} and ${sendableBy(edition)}`)
