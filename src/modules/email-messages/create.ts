import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { emailMessages } from '../../db/schema/messaging/email-messages.ts'
import { insert } from '../../db/write.ts'
import { faultsOf } from '../../domain/email/check.ts'
import { scopeFault } from '../../domain/messaging/email-messages.ts'
import { doesNotExist, editionArchived, fieldError, invalid } from '../../domain/errors.ts'
import type { Language } from '../../domain/languages.ts'
import { type EditionSummaryRow, editionSummaryColumns, openEditions } from '../editions/index.ts'
import { type OrganizationSummaryRow, organizationSummaryColumns } from '../organizations/index.ts'
import type { CreateEmailMessageInput } from './message-contract.ts'
import type { MessageDetailRow, MessageRow } from './queries.ts'

type MessageTenant = OrganizationSummaryRow & { [Key in keyof EditionSummaryRow]: EditionSummaryRow[Key] | null } & {
  default_language: Language | null
  email_sender_name: string | null
  is_archived: number | null
}

/** The organisation and the edition of a new message. */
export async function tenantOf(ctx: Ctx, organizationId: string, editionId: string | null): Promise<MessageTenant> {
  const tenant = await ctx.db.first(sql<MessageTenant>`select ${organizationSummaryColumns}, ${editionSummaryColumns},
      editions.default_language, editions.email_sender_name, editions.is_archived
    from organizations left join editions on editions.id = ${editionId} and editions.organization_id = organizations.id
    where organizations.id = ${organizationId}`)
  if (!tenant) throw doesNotExist('organization_id')
  if (editionId !== null && tenant.edition_id === null) throw doesNotExist('edition_id')
  if (tenant.is_archived === 1) throw editionArchived()
  return tenant
}

/** A row together with its tenant as the answer shows it. */
export const detailOf = (row: MessageRow, { is_archived: _, ...tenant }: MessageTenant): MessageDetailRow => ({
  ...row,
  ...tenant,
})

export async function createMessage(ctx: Ctx, input: CreateEmailMessageInput): Promise<MessageDetailRow> {
  const { organization_id, edition_id = null, scope } = input
  const fault = scopeFault(scope, edition_id)
  if (fault === 'edition_missing')
    throw invalid(fieldError(['edition_id'], 'required', 'A message of scope `edition` needs its edition.'))
  if (fault === 'edition_given')
    throw invalid(fieldError(['scope'], 'scope_mismatch', 'A template of the organisation has no edition.'))
  const faults = faultsOf({ subject: input.subject })
  if (faults.length) throw invalid(...faults)
  const tenant = await tenantOf(ctx, organization_id, edition_id)
  const now = ctx.now()
  const row: MessageRow = {
    id: ctx.newId('email_message'),
    organization_id,
    edition_id,
    title: input.title,
    subject: JSON.stringify(input.subject),
    type: input.type,
    scope,
    template: input.template,
    is_locked: 0,
    blocks: '[]',
    version: 1,
    created_at: now,
    modified_at: now,
  }
  return commit(ctx, detailOf(row, tenant), [...openEditions(edition_id), insert(emailMessages, row)])
}
