import type { Ctx } from '../../context.ts'
import { campaignsSending, countApprovedCampaigns } from '../../db/campaign-approvals.ts'
import { commit } from '../../db/commit.ts'
import { emailMessages } from '../../db/schema/email-messages.ts'
import { pickChanges, isEmpty, updateVersion } from '../../db/write.ts'
import { managers } from '../../domain/accounts/access.ts'
import { warnAboutLostApprovals } from '../../domain/campaigns/approval.ts'
import type { Block } from '../../domain/email/blocks/blocks.ts'
import { cleanBlocks, findMessageFaults } from '../../domain/email/check.ts'
import { AppError, type FieldError, invalid, permissionDenied } from '../../domain/errors.ts'
import { findTrigger } from '../../domain/messaging/email-messages.ts'
import { buildSortKey } from '../../domain/text/fold.ts'
import { openEditions } from '../editions/index.ts'
import { listConditionFaults } from './block-conditions.ts'
import type { BlocksIn } from './block-contract.ts'
import type { UpdateEmailMessageInput } from './message-contract.ts'
import { explainAdoption, type MessageDetailRow, type MessageRow } from './queries.ts'
import { checkCampaignsReach, checkSendable, guardCampaignReach } from './uses/campaign-use.ts'
import { resolveImages } from './uses/images.ts'
import { messageInUse, listUses } from './uses/usage.ts'

/** Nobody can change the platform's messages. Locked messages can be read and copied only. */
export function checkChangeable(row: MessageDetailRow): void {
  if (row.scope === 'platform') throw permissionDenied(managers, [], explainAdoption('platform'))
  if (row.is_locked) throw new AppError('email_message_locked', 'This message is locked. Duplicate it to change it.')
}

/** A missing id becomes an empty string, which `addMissingIds` replaces when the message is stored. */
export const toDomainBlocks = (blocks: BlocksIn): Block[] =>
  blocks.map((block) => {
    const id = block.id ?? ''
    if (block.type !== 'columns') return { ...block, id }
    const columns = block.data.columns.map((column) => ({
      ...column,
      blocks: column.blocks.map((nestedBlock) => ({ ...nestedBlock, id: nestedBlock.id ?? '' })),
    }))
    return { ...block, id, data: { ...block.data, columns } }
  })

function addMissingIds(ctx: Ctx, blocks: readonly Block[]): Block[] {
  return blocks.map((block) => {
    const id = block.id || ctx.newId('email_block')
    if (block.type !== 'columns') return { ...block, id }
    const columns = block.data.columns.map((column) => ({
      ...column,
      blocks: column.blocks.map((nestedBlock) => ({ ...nestedBlock, id: nestedBlock.id || ctx.newId('email_block') })),
    }))
    return { ...block, id, data: { ...block.data, columns } }
  })
}

/** A message that an edition sends by itself, such as its receipt, must stay of a type that fits. */
async function checkType(ctx: Ctx, row: MessageDetailRow, type: string | undefined): Promise<void> {
  if (type === undefined || findTrigger(type) === findTrigger(row.type)) return
  const uses = (await listUses(ctx, row)).filter((use) => use.type !== 'campaign')
  if (uses.length)
    throw messageInUse(
      uses,
      'An edition sends this message by itself, so you cannot change its type. Assign another message to the edition first.',
    )
}

const resolveBlocks = async (ctx: Ctx, row: MessageDetailRow, blocks: BlocksIn | undefined) =>
  blocks ? resolveImages(ctx, row, toDomainBlocks(blocks)) : { blocks: undefined, guards: [] }

export async function updateEmailMessage(
  ctx: Ctx,
  row: MessageDetailRow,
  input: UpdateEmailMessageInput,
): Promise<MessageDetailRow & { warnings: readonly FieldError[] }> {
  checkChangeable(row)
  await checkCampaignsReach(ctx, row)
  const { title, subject, preheader, type, template } = input
  const { blocks, guards } = await resolveBlocks(ctx, row, input.blocks)
  const faults = [
    ...findMessageFaults({ subject, preheader, blocks }),
    ...listConditionFaults(ctx, row, { type: type ?? row.type, blocks }),
  ]
  if (faults.length) throw invalid(...faults)
  await checkType(ctx, row, type)
  const fields: Partial<MessageRow> = {
    ...(title === undefined ? {} : { title, title_key: buildSortKey(title) }),
    ...(subject === undefined ? {} : { subject }),
    ...(preheader === undefined ? {} : { preheader }),
    ...(type === undefined ? {} : { type }),
    ...(template === undefined ? {} : { template }),
    ...(blocks === undefined ? {} : { blocks: addMissingIds(ctx, cleanBlocks(blocks)) }),
  }
  if (isEmpty(pickChanges<MessageRow>(row, fields)))
    return commit(ctx, { ...row, warnings: [] }, openEditions(row.edition_id))
  const changes = { ...fields, modified_by: ctx.caller.id, modified_at: ctx.now() }
  const warnings = warnAboutLostApprovals(await countApprovedCampaigns(ctx.db, campaignsSending.message(row.id)))
  const result = { ...row, ...changes, warnings, version: row.version + 1 }
  const campaignGuards = await checkSendable(ctx, row, result)
  return commit(ctx, result, [
    ...openEditions(row.edition_id),
    ...guardCampaignReach(ctx, row),
    ...campaignGuards,
    ...guards,
    ...updateVersion(emailMessages, row, changes),
  ])
}
