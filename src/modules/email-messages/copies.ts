import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { emailMessages } from '../../db/schema/messaging/email-messages.ts'
import { insert } from '../../db/write.ts'
import { mayAt } from '../../domain/accounts/access.ts'
import { buildCopyTitle, findTrigger } from '../../domain/messaging/email-messages.ts'
import { AppError, doesNotExist, editionArchived, fieldError, invalid, permissionDenied } from '../../domain/errors.ts'
import { type TargetEdition, openEditions, findReachedEdition, findTypeInUse, assignEmail } from '../editions/index.ts'
import { type AdoptEmailMessageInput, type DuplicateEmailMessageInput, writers } from './message-contract.ts'
import { detailOf, tenantOf } from './create.ts'
import type { MessageDetailRow, MessageRow } from './queries.ts'

interface CopyTarget {
  organization_id: string
  edition_id: string | null
}

type CopiedMessage = Pick<MessageRow, 'title' | 'subject' | 'type' | 'template' | 'blocks'>

/** A copy in another tenant. It is unlocked, and its scope follows from the tenant. */
function copyOf(ctx: Pick<Ctx, 'newId' | 'now'>, source: CopiedMessage, target: CopyTarget, title: string): MessageRow {
  const now = ctx.now()
  return {
    id: ctx.newId('email_message'),
    ...target,
    title,
    subject: source.subject,
    type: source.type,
    scope: target.edition_id === null ? 'template' : 'edition',
    template: source.template,
    is_locked: false,
    blocks: source.blocks,
    version: 1,
    created_at: now,
    modified_at: now,
  }
}

/** The edition that a body names, where the caller may write messages in it. */
async function targetEdition(ctx: Ctx, id: string, organizationId: string | null): Promise<TargetEdition> {
  const edition = await findReachedEdition(ctx, id)
  if (!edition || (organizationId !== null && edition.organization_id !== organizationId))
    throw doesNotExist('edition_id')
  if (!mayAt(ctx.caller, writers, { organization_id: edition.organization_id, editions: [id] }))
    throw permissionDenied(writers)
  if (edition.is_archived) throw editionArchived()
  return edition
}

/**
 * Copies a template into an edition. Where the edition sends messages of this type by itself, it sends the copy from now
 * on, unless it already sends one of another type.
 */
export async function adoptMessage(
  ctx: Ctx,
  source: MessageDetailRow,
  input: AdoptEmailMessageInput,
): Promise<MessageDetailRow> {
  const edition = await targetEdition(ctx, input.edition_id, source.organization_id)
  if (source.edition_id !== null)
    throw new AppError('email_message_not_template', 'Only templates are adopted. Duplicate messages of an edition.')
  const target = { organization_id: edition.organization_id, edition_id: edition.edition_id }
  const tenant = await tenantOf(ctx, target.organization_id, target.edition_id)
  const row = copyOf(ctx, source, target, input.title ?? source.title)
  const kind = findTrigger(row.type)
  const inUse = kind === null ? null : await findTypeInUse(ctx, edition.edition_id, kind)
  const isUsed = kind !== null && (inUse === null || inUse === row.type)
  return commit(ctx, detailOf(row, tenant), [
    insert(emailMessages, row),
    ...(isUsed ? assignEmail(ctx, edition, kind, row.id) : openEditions(edition.edition_id)),
  ])
}

async function duplicateTarget(
  ctx: Ctx,
  source: MessageDetailRow,
  input: DuplicateEmailMessageInput,
): Promise<CopyTarget> {
  const { edition_id = null, organization_id = source.organization_id } = input
  if (source.organization_id !== null && organization_id !== source.organization_id)
    throw doesNotExist('organization_id')
  if (edition_id !== null) {
    const edition = await targetEdition(ctx, edition_id, organization_id)
    return { organization_id: edition.organization_id, edition_id }
  }
  if (organization_id === null)
    throw invalid(
      fieldError(['organization_id'], 'required', 'The organisation or the edition that the copy is for is needed.'),
    )
  if (!mayAt(ctx.caller, writers, { organization_id, editions: 'any' })) throw doesNotExist('organization_id')
  if (!mayAt(ctx.caller, writers, { organization_id, editions: [] })) throw permissionDenied(writers)
  return { organization_id, edition_id: null }
}

export async function duplicateMessage(
  ctx: Ctx,
  source: MessageDetailRow,
  input: DuplicateEmailMessageInput,
): Promise<MessageDetailRow> {
  const target = await duplicateTarget(ctx, source, input)
  const tenant = await tenantOf(ctx, target.organization_id, target.edition_id)
  const row = copyOf(ctx, source, target, input.title ?? buildCopyTitle(source.title))
  return commit(ctx, detailOf(row, tenant), [...openEditions(row.edition_id), insert(emailMessages, row)])
}
