import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { emailMessages } from '../../db/schema/messaging/email-messages.ts'
import { pickChanges, isEmpty, updateVersion } from '../../db/write.ts'
import type { Block } from '../../domain/email/blocks/blocks.ts'
import { cleanBlocks, findMessageFaults } from '../../domain/email/check.ts'
import { findTrigger } from '../../domain/messaging/email-messages.ts'
import { AppError, invalid, permissionDenied } from '../../domain/errors.ts'
import { openEditions } from '../editions/index.ts'
import type { BlocksIn } from './block-contract.ts'
import { resolveImages } from './uses/images.ts'
import { checkCampaignsReach, checkSendable, noCampaignBeyond } from './uses/campaign-use.ts'
import { type UpdateEmailMessageInput, writers } from './message-contract.ts'
import { adoptInstead, type MessageDetailRow, type MessageRow } from './queries.ts'
import { inUse, usesOf } from './uses/usage.ts'

/** Nobody can change the platform's messages. Locked messages can be read and copied only. */
export function checkChangeable(row: MessageDetailRow): void {
  if (row.scope === 'platform') throw permissionDenied(writers, [], adoptInstead('platform'))
  if (row.is_locked) throw new AppError('email_message_locked', 'This message is locked. Duplicate it to change it.')
}

/** Blocks with an id each; an empty id is replaced by a new one. */
export const asBlocks = (blocks: BlocksIn): Block[] =>
  blocks.map((block) => {
    const id = block.id ?? ''
    if (block.type !== 'columns') return { ...block, id }
    const columns = block.data.columns.map((column) => ({
      ...column,
      blocks: column.blocks.map((one) => ({ ...one, id: one.id ?? '' })),
    }))
    return { ...block, id, data: { ...block.data, columns } }
  })

function withIds(ctx: Ctx, blocks: readonly Block[]): Block[] {
  return blocks.map((block) => {
    const id = block.id || ctx.newId('email_block')
    if (block.type !== 'columns') return { ...block, id }
    const columns = block.data.columns.map((column) => ({
      ...column,
      blocks: column.blocks.map((one) => ({ ...one, id: one.id || ctx.newId('email_block') })),
    }))
    return { ...block, id, data: { ...block.data, columns } }
  })
}

/** Refuses another type for a message that an edition sends as its receipt. */
async function checkType(ctx: Ctx, row: MessageDetailRow, type: string | undefined): Promise<void> {
  if (type === undefined || findTrigger(type) === findTrigger(row.type)) return
  const uses = (await usesOf(ctx, row)).filter((use) => use.type !== 'campaign')
  if (uses.length) throw inUse(uses, 'An edition sends this message by itself, so its type must stay the same.')
}

const imagesOf = async (ctx: Ctx, row: MessageDetailRow, given: BlocksIn | undefined) =>
  given ? resolveImages(ctx, row, asBlocks(given)) : { blocks: undefined, stands: [] }

export async function updateMessage(
  ctx: Ctx,
  row: MessageDetailRow,
  input: UpdateEmailMessageInput,
): Promise<MessageDetailRow> {
  checkChangeable(row)
  await checkCampaignsReach(ctx, row)
  const { title, subject, type, template } = input
  const { blocks, stands } = await imagesOf(ctx, row, input.blocks)
  const faults = findMessageFaults({ subject, blocks })
  if (faults.length) throw invalid(...faults)
  await checkType(ctx, row, type)
  const asked: Partial<MessageRow> = {
    ...(title === undefined ? {} : { title }),
    ...(subject === undefined ? {} : { subject }),
    ...(type === undefined ? {} : { type }),
    ...(template === undefined ? {} : { template }),
    ...(blocks === undefined ? {} : { blocks: withIds(ctx, cleanBlocks(blocks)) }),
  }
  if (isEmpty(pickChanges<MessageRow>(row, asked))) return commit(ctx, row, openEditions(row.edition_id))
  const changes = { ...asked, modified_at: ctx.now() }
  const result = { ...row, ...changes, version: row.version + 1 }
  const sendable = await checkSendable(ctx, row, result)
  return commit(ctx, result, [
    ...openEditions(row.edition_id),
    ...noCampaignBeyond(ctx, row),
    ...sendable,
    ...stands,
    ...updateVersion(emailMessages, row, changes),
  ])
}
