import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import { editions } from '../../db/schema/editions.ts'
import { emailMessages } from '../../db/schema/email-messages.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select, type Nullable } from '../../db/select.ts'
import { type Visibility, isVisibleTo } from '../../db/visibility.ts'
import { mayAt, type Tenant, managers } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import type { Language } from '../../domain/languages.ts'
import { type EditionSummaryRow, editionSummaryFields } from '../editions/index.ts'
import { type OrganizationSummaryRow, organizationSummaryFields } from '../organizations/index.ts'

export type MessageRow = typeof emailMessages.$inferSelect

/** Columns of the edition that decide the language and the sender of its messages. */
export interface SenderRow {
  default_language: Language | null
  email_sender_name: string | null
}

type TenantColumns = Nullable<OrganizationSummaryRow> & Nullable<EditionSummaryRow>

export type MessageListRow = Omit<MessageRow, 'blocks' | 'organization_id' | 'edition_id'> & TenantColumns
export type MessageDetailRow = Omit<MessageRow, 'organization_id' | 'edition_id'> & TenantColumns & SenderRow

/** Edition roles see the templates of their organisation too, because they may copy them. */
const messageVisibility: Visibility = {
  inOrganizations: (ids) => inList(sql`email_messages.organization_id`, ids),
  inEditions: (ids) => sql`(${inList(sql`email_messages.edition_id`, ids)} or (email_messages.edition_id is null
    and email_messages.organization_id in (select organization_id from editions where ${inList(sql`editions.id`, ids)})))`,
}

export const visibleMessages = (ctx: Ctx): SQL =>
  sql`(email_messages.organization_id is null or ${isVisibleTo(ctx.caller, messageVisibility)})`

/** Columns of the organisation and the edition of a message. */
export const tenantFields = { ...organizationSummaryFields, ...editionSummaryFields }

export const senderFields = {
  default_language: sql<Language | null>`${editions.default_language}`,
  email_sender_name: editions.email_sender_name,
}

const { blocks, ...messageColumns } = getTableColumns(emailMessages)

/** The columns of the message come last: the joined columns have the same names and are null without an edition. */
export const messageFields = { ...tenantFields, ...messageColumns }

/**
 * Loads the message to change it: `tenant` says whose roles may. A message of the platform has none, because nobody may
 * change it.
 */
export async function findMessage(
  ctx: Ctx,
  id: string,
): Promise<MessageDetailRow & { tenant: Tenant | null; instead?: string }> {
  const row = await ctx.db.first(
    select({ ...messageFields, blocks, ...senderFields })
      .from(emailMessages)
      .leftJoin(organizations, eq(organizations.id, emailMessages.organization_id))
      .leftJoin(editions, eq(editions.id, emailMessages.edition_id))
      .where(and(eq(emailMessages.id, id), visibleMessages(ctx))),
  )
  if (!row) throw notFound()
  const { organization_id, edition_id } = row
  if (organization_id === null) return { ...row, tenant: null }
  const tenant = { organization_id, editions: edition_id === null ? [] : [edition_id] }
  // Roles of an edition may not change a template of the organisation. They may copy it.
  const mayAdopt = edition_id === null && mayAt(ctx.caller, managers, { organization_id, editions: 'any' })
  return { ...row, tenant, ...(mayAdopt ? { instead: explainAdoption('organisation') } : {}) }
}

export const explainAdoption = (owner: 'organisation' | 'platform'): string =>
  `This is a template of the ${owner}: adopt it into your edition, then change or delete the copy.`

/** Loads the message to read it. Whoever sees the message may read it, so no role is checked. */
export const findReadableMessage = async (ctx: Ctx, id: string): Promise<MessageDetailRow & { tenant: null }> => ({
  ...(await findMessage(ctx, id)),
  tenant: null,
})
