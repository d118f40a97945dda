import type { Ctx } from '../../context.ts'
import { updateFileUrls } from '../../domain/email/blocks/images.ts'
import { cleanBlocks, findMessageFaults } from '../../domain/email/check.ts'
import type { CompileOptions, Message } from '../../domain/email/compile.ts'
import { describeRenderError, TooMuchText } from '../../domain/email/liquid/liquid.ts'
import { TooLarge } from '../../domain/email/personalise.ts'
import { type PreviewRequest, findPreviewOverflow, type Preview, renderPreview } from '../../domain/email/preview.ts'
import { type AppError, fieldError, invalid } from '../../domain/errors.ts'
import { chooseConditions, listConditionFaults } from './block-conditions.ts'
import type { PreviewEmailMessageInput } from './message-contract.ts'
import type { MessageDetailRow } from './queries.ts'
import { buildCompileOptions } from './templates.ts'
import { toDomainBlocks } from './update.ts'
import { resolveImages } from './uses/images.ts'

const messageFields = ['blocks', 'subject', 'preheader'] as const
type MessageField = (typeof messageFields)[number]

interface MessagePreview {
  message: Message
  request: PreviewRequest
  options: CompileOptions
  /** Fields of the message that the caller sent. The others are stored. */
  sentFields: readonly MessageField[]
}

/** Blames the text that is too large when the caller sent it, otherwise the values in `context`. */
function createOverflowError({ message, request, options, sentFields }: MessagePreview): AppError {
  const fault = findPreviewOverflow(message, request, options)
  if (!fault)
    return invalid(
      fieldError(
        ['blocks'],
        'template_too_large',
        'The message is too large with these values. Shorten its texts or the values in `context`.',
      ),
    )
  if (sentFields.some((field) => fault.pointer?.startsWith(`#/${field}/`))) return invalid(fault)
  const { code, detail, line, column, attr } = fault
  return invalid({ ...fieldError(['context'], code, `In ${attr}: ${detail}`), ...(line && column && { line, column }) })
}

/** Turns an error of rendering into a refusal. Any other error is returned unchanged. */
function explainRenderError(error: unknown, preview: MessagePreview): unknown {
  if (error instanceof TooMuchText) return createOverflowError(preview)
  if (error instanceof TooLarge) return invalid(fieldError(['blocks'], 'template_too_large', error.message))
  const detail = describeRenderError(error)
  return detail === null ? error : invalid(fieldError(['context'], 'not_renderable', detail))
}

/** The texts that the caller sends are checked as if they were saved. */
export async function previewEmailMessage(
  ctx: Ctx,
  row: MessageDetailRow,
  input: PreviewEmailMessageInput,
): Promise<Preview> {
  const sentBlocks = input.blocks && (await resolveImages(ctx, row, toDomainBlocks(input.blocks))).blocks
  const faults = [
    ...findMessageFaults({ subject: input.subject, preheader: input.preheader, blocks: sentBlocks }),
    ...listConditionFaults(ctx, row, { type: row.type, blocks: sentBlocks }),
  ]
  if (faults.length) throw invalid(...faults)
  const options = buildCompileOptions({
    default_language: row.default_language,
    organization_name: row.organization_name,
    edition_name: row.edition_full_name,
    sender_name: row.email_sender_name,
  })
  const blocks = sentBlocks ? cleanBlocks(sentBlocks) : updateFileUrls(row.blocks, ctx.config.files.url)
  const message = {
    subject: input.subject ?? row.subject,
    preheader: input.preheader ?? row.preheader,
    blocks,
    template: 'modern' as const,
  }
  const language = input.language ?? options.defaultLanguage
  const conditions = await chooseConditions(ctx, row, blocks, input)
  const request = { mode: input.mode, language, type: row.type, values: input.context ?? {}, conditions }
  try {
    return renderPreview(message, request, options)
  } catch (error) {
    const sentFields = messageFields.filter((field) => input[field] !== undefined)
    throw explainRenderError(error, { message, request, options, sentFields })
  }
}
