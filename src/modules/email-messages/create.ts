import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { editions } from '../../db/schema/editions.ts'
import { emailMessages } from '../../db/schema/email-messages.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select, type Nullable } from '../../db/select.ts'
import { insert } from '../../db/write.ts'
import { findMessageFaults } from '../../domain/email/check.ts'
import { doesNotExist, editionArchived, fieldError, invalid } from '../../domain/errors.ts'
import { findScopeFault } from '../../domain/messaging/email-messages.ts'
import { buildSortKey } from '../../domain/text/fold.ts'
import { type EditionSummaryRow, openEditions } from '../editions/index.ts'
import type { OrganizationSummaryRow } from '../organizations/index.ts'
import type { CreateEmailMessageInput } from './message-contract.ts'
import { type MessageDetailRow, type MessageRow, senderFields, type SenderRow, tenantFields } from './queries.ts'

type MessageTenant = OrganizationSummaryRow & Nullable<EditionSummaryRow> & SenderRow

/** Refuses an archived edition, and one of another organisation. */
export async function loadTenant(ctx: Ctx, organizationId: string, editionId: string | null): Promise<MessageTenant> {
  const row = await ctx.db.first(
    select({ ...tenantFields, ...senderFields, is_archived: editions.is_archived })
      .from(organizations)
      .leftJoin(editions, and(eq(editions.id, editionId ?? ''), eq(editions.organization_id, organizations.id)))
      .where(eq(organizations.id, organizationId)),
  )
  if (!row) throw doesNotExist('organization_id')
  const { is_archived, ...tenant } = row
  if (editionId !== null && tenant.edition_id === null) throw doesNotExist('edition_id')
  if (is_archived) throw editionArchived()
  return tenant
}

export async function createEmailMessage(ctx: Ctx, input: CreateEmailMessageInput): Promise<MessageDetailRow> {
  const { organization_id, edition_id = null, scope } = input
  const fault = findScopeFault(scope, edition_id)
  if (fault === 'edition_missing')
    throw invalid(fieldError(['edition_id'], 'required', '`edition_id` is required for a message of scope `edition`.'))
  if (fault === 'edition_given')
    throw invalid(
      fieldError(
        ['scope'],
        'scope_mismatch',
        'A template of the organisation has no edition: leave out `edition_id`, or use the scope `edition`.',
      ),
    )
  const { subject, preheader } = input
  const faults = findMessageFaults({ subject, preheader })
  if (faults.length) throw invalid(...faults)
  const tenant = await loadTenant(ctx, organization_id, edition_id)
  const now = ctx.now()
  const row: MessageRow = {
    id: ctx.newId('email_message'),
    organization_id,
    edition_id,
    title: input.title,
    title_key: buildSortKey(input.title),
    subject,
    preheader,
    type: input.type,
    scope,
    template: input.template,
    is_locked: false,
    blocks: [],
    version: 1,
    modified_by: null,
    created_at: now,
    modified_at: now,
  }
  return commit(ctx, { ...row, ...tenant }, [...openEditions(edition_id), insert(emailMessages, row)])
}
