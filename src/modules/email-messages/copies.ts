import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { emailMessages } from '../../db/schema/email-messages.ts'
import { insert } from '../../db/write.ts'
import { mayAt, managers } from '../../domain/accounts/access.ts'
import { AppError, doesNotExist, editionArchived, fieldError, invalid, permissionDenied } from '../../domain/errors.ts'
import { buildCopyTitle, findTrigger } from '../../domain/messaging/email-messages.ts'
import { buildSortKey } from '../../domain/text/fold.ts'
import { type TargetEdition, openEditions, findReachedEdition, findTypeInUse, assignEmail } from '../editions/index.ts'
import { loadTenant } from './create.ts'
import type { AdoptEmailMessageInput, DuplicateEmailMessageInput } from './message-contract.ts'
import type { MessageDetailRow, MessageRow } from './queries.ts'

interface CopyTarget {
  organization_id: string
  edition_id: string | null
}

type CopiedMessage = Pick<MessageRow, 'title' | 'subject' | 'preheader' | 'type' | 'template' | 'blocks'>

/** The copy is not locked even if its original is. */
function copyMessage(
  ctx: Pick<Ctx, 'newId' | 'now'>,
  source: CopiedMessage,
  target: CopyTarget,
  title: string,
): MessageRow {
  const now = ctx.now()
  return {
    id: ctx.newId('email_message'),
    ...target,
    title,
    title_key: buildSortKey(title),
    subject: source.subject,
    preheader: source.preheader,
    type: source.type,
    scope: target.edition_id === null ? 'template' : 'edition',
    template: source.template,
    is_locked: false,
    blocks: source.blocks,
    version: 1,
    modified_by: null,
    created_at: now,
    modified_at: now,
  }
}

/** Refuses an edition in which the caller may not write messages. */
async function loadTargetEdition(ctx: Ctx, id: string, organizationId: string | null): Promise<TargetEdition> {
  const edition = await findReachedEdition(ctx, id)
  if (!edition || (organizationId !== null && edition.organization_id !== organizationId))
    throw doesNotExist('edition_id')
  if (!mayAt(ctx.caller, managers, { organization_id: edition.organization_id, editions: [id] }))
    throw permissionDenied(managers)
  if (edition.is_archived) throw editionArchived()
  return edition
}

/** An edition with a receipt of another type keeps it: `receipt_online` does not replace `receipt`. */
export async function adoptEmailMessage(
  ctx: Ctx,
  source: MessageDetailRow,
  input: AdoptEmailMessageInput,
): Promise<MessageDetailRow> {
  const edition = await loadTargetEdition(ctx, input.edition_id, source.organization_id)
  if (source.edition_id !== null)
    throw new AppError('email_message_not_template', 'You can only adopt templates. Duplicate this message instead.')
  const target = { organization_id: edition.organization_id, edition_id: edition.edition_id }
  const tenant = await loadTenant(ctx, target.organization_id, target.edition_id)
  const row = copyMessage(ctx, source, target, input.title ?? source.title)
  const kind = findTrigger(row.type)
  const typeInUse = kind === null ? null : await findTypeInUse(ctx, edition.edition_id, kind)
  const isAssigned = kind !== null && (typeInUse === null || typeInUse === row.type)
  return commit(ctx, { ...row, ...tenant }, [
    insert(emailMessages, row),
    ...(isAssigned ? assignEmail(ctx, edition, kind, row.id) : openEditions(edition.edition_id)),
  ])
}

async function findCopyTarget(
  ctx: Ctx,
  source: MessageDetailRow,
  input: DuplicateEmailMessageInput,
): Promise<CopyTarget> {
  const { edition_id = null, organization_id = source.organization_id } = input
  if (source.organization_id !== null && organization_id !== source.organization_id)
    throw doesNotExist('organization_id')
  if (edition_id !== null) {
    const edition = await loadTargetEdition(ctx, edition_id, organization_id)
    return { organization_id: edition.organization_id, edition_id }
  }
  if (organization_id === null)
    throw invalid(
      fieldError(['organization_id'], 'required', 'Name the organisation or the edition that gets the copy.'),
    )
  if (!mayAt(ctx.caller, managers, { organization_id, editions: 'any' })) throw doesNotExist('organization_id')
  if (!mayAt(ctx.caller, managers, { organization_id, editions: [] })) throw permissionDenied(managers)
  return { organization_id, edition_id: null }
}

export async function duplicateEmailMessage(
  ctx: Ctx,
  source: MessageDetailRow,
  input: DuplicateEmailMessageInput,
): Promise<MessageDetailRow> {
  const target = await findCopyTarget(ctx, source, input)
  const tenant = await loadTenant(ctx, target.organization_id, target.edition_id)
  const row = copyMessage(ctx, source, target, input.title ?? buildCopyTitle(source.title))
  return commit(ctx, { ...row, ...tenant }, [...openEditions(row.edition_id), insert(emailMessages, row)])
}
