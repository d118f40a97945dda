import type { Ctx } from '../../context.ts'
import { campaignsSending, countApprovedCampaigns } from '../../db/campaign-approvals.ts'
import { commit } from '../../db/commit.ts'
import { requireShowable } from '../../db/images.ts'
import { editions } from '../../db/schema/editions.ts'
import { pickChanges, isEmpty, updateVersion } from '../../db/write.ts'
import { warnAboutLostApprovals } from '../../domain/campaigns/approval.ts'
import { formatEditionName, endsBeforeStart, isClosedTo, decidePublishedAt } from '../../domain/editions/editions.ts'
import { editionArchived, type FieldError } from '../../domain/errors.ts'
import { editionFieldsByTrigger, triggerKinds } from '../../domain/messaging/email-messages.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import type { UpdateEditionInput } from './contract.ts'
import { checkLanguages, createPeriodError, requireEventName } from './create.ts'
import { writeTrigger } from './emails.ts'
import { checkPublishable } from './health/health.ts'
import type { EditionDetailRow, EditionRow } from './queries.ts'
import { checkReferences } from './references.ts'

type EditionChanges = Partial<EditionRow>

/** True if the full name may change. The event may have got another name while the edition was archived. */
const mayRename = ({ name, is_archived }: EditionChanges): boolean => name !== undefined || is_archived === false

/** The columns that change. A field that the body leaves out is undefined. */
function listChanges(row: EditionDetailRow, input: UpdateEditionInput, now: number): EditionChanges {
  const { start_date, end_date, is_draft, is_archived, ...others } = input
  const requestedChanges: EditionChanges = {
    ...others,
    start_at: start_date,
    end_at: end_date,
    is_draft,
    published_at: is_draft === undefined ? undefined : decidePublishedAt(row, is_draft, now),
    is_archived,
  }
  const changes = pickChanges<EditionRow>(row, requestedChanges)
  if (isEmpty(changes)) return changes
  const { name = row.name } = changes
  const full_name = mayRename(changes) ? formatEditionName(row.event_name, name) : row.full_name
  const search = buildSearchText(full_name, row.slug)
  return { ...changes, name_key: buildSortKey(name), full_name, search, modified_at: now }
}

/** Campaigns show these fields of the edition that sends them. */
const senderFields = [
  'full_name',
  'sms_sender_name',
  'email_sender_name',
  'email_sender_address',
  'email_reply_to',
] as const satisfies readonly (keyof EditionRow)[]

/** Notes who changes the sender. Campaigns were approved with the earlier one. */
async function changeSender(ctx: Ctx, row: EditionRow, changes: EditionChanges) {
  if (senderFields.every((name) => changes[name] === undefined || changes[name] === row[name]))
    return { columns: {}, warnings: [] }
  return {
    columns: { sender_changed_by: ctx.caller.id, sender_changed_at: ctx.now() },
    warnings: warnAboutLostApprovals(await countApprovedCampaigns(ctx.db, campaignsSending.edition(row.id))),
  }
}

export async function updateEdition(
  ctx: Ctx,
  row: EditionDetailRow,
  input: UpdateEditionInput,
): Promise<EditionDetailRow & { warnings: readonly FieldError[] }> {
  const changes = listChanges(row, input, ctx.now())
  const after = { ...row, ...changes }
  const movesDates = input.start_date !== undefined || input.end_date !== undefined
  if (movesDates && endsBeforeStart(after))
    throw createPeriodError(input.end_date === undefined ? 'start_date' : 'end_date')
  checkLanguages(row, after)
  const image_key = await checkReferences(ctx, row, input)
  if (isClosedTo(row, input)) throw editionArchived()
  if (row.is_draft && !after.is_draft) await checkPublishable(ctx, after)
  if (isEmpty(changes)) return commit(ctx, { ...row, warnings: [] }, [])
  const sender = await changeSender(ctx, row, changes)
  const result = { ...after, image_key, warnings: sender.warnings, version: row.version + 1 }
  const triggerUpdates = triggerKinds.flatMap((kind) => {
    const messageId = input[editionFieldsByTrigger[kind]]
    return messageId === undefined || messageId === row[editionFieldsByTrigger[kind]]
      ? []
      : writeTrigger(ctx, row, kind, messageId)
  })
  return commit(ctx, result, [
    ...(changes.meta_image_id ? [requireShowable(ctx.caller, row, changes.meta_image_id)] : []),
    ...(mayRename(changes) ? [requireEventName(row.event_id, row.event_name)] : []),
    ...updateVersion(editions, row, { ...changes, ...sender.columns }),
    ...triggerUpdates,
  ])
}
