import type { Ctx } from '../../context.ts'
import { cleanBlocks, findMessageFaults } from '../../domain/email/check.ts'
import type { CompileOptions, Message } from '../../domain/email/compile.ts'
import { blocksShown } from '../../domain/email/blocks/images.ts'
import { describeRenderError, TooMuchText } from '../../domain/email/liquid/liquid.ts'
import { TooLarge } from '../../domain/email/personalise.ts'
import { type PreviewRequest, overflowOfPreview, type Preview, previewOf } from '../../domain/email/preview.ts'
import { type AppError, fieldError, invalid } from '../../domain/errors.ts'
import type { PreviewEmailMessageInput } from './message-contract.ts'
import type { MessageDetailRow } from './queries.ts'
import { resolveImages } from './uses/images.ts'
import { framing } from './templates.ts'
import { asBlocks } from './update.ts'

interface PreviewedMessage {
  message: Message
  asked: PreviewRequest
  options: CompileOptions
  /** The parts of the message that the caller gave. */
  given: readonly string[]
}

/** The refusal of a message that becomes too large. It names the text, or the values when the text is a stored one. */
function overflowRefusal({ message, asked, options, given }: PreviewedMessage): AppError {
  const found = overflowOfPreview(message, asked, options)
  if (!found) return invalid(fieldError(['blocks'], 'template_too_large', 'The message becomes too large.'))
  if (given.some((part) => found.pointer?.startsWith(`#/${part}/`))) return invalid(found)
  const { code, detail, line, column, attr } = found
  return invalid({ ...fieldError(['context'], code, `In ${attr}: ${detail}`), ...(line && column && { line, column }) })
}

/** The refusal of a message that cannot be rendered with these values. Any other error stays as it is. */
function refusalOf(error: unknown, shown: PreviewedMessage): unknown {
  if (error instanceof TooMuchText) return overflowRefusal(shown)
  if (error instanceof TooLarge) return invalid(fieldError(['blocks'], 'template_too_large', error.message))
  const detail = describeRenderError(error)
  return detail === null ? error : invalid(fieldError(['context'], 'not_renderable', detail))
}

/** The message as recipients would see it. Given parts are checked as if they were saved. */
export async function previewMessage(
  ctx: Ctx,
  row: MessageDetailRow,
  input: PreviewEmailMessageInput,
): Promise<Preview> {
  const given = input.blocks && (await resolveImages(ctx, row, asBlocks(input.blocks))).blocks
  const faults = findMessageFaults({ subject: input.subject, blocks: given })
  if (faults.length) throw invalid(...faults)
  const options = framing({
    default_language: row.default_language,
    organization_name: row.organization_name,
    edition_name: row.edition_full_name,
    sender_name: row.email_sender_name,
  })
  const message = {
    subject: input.subject ?? row.subject,
    blocks: given ? cleanBlocks(given) : blocksShown(row.blocks, ctx.config.files.url),
    template: 'modern' as const,
  }
  const language = input.language ?? options.defaultLanguage
  const asked = { mode: input.mode, language, type: row.type, values: input.context ?? {} }
  try {
    return previewOf(message, asked, options)
  } catch (error) {
    const parts = [...(input.blocks ? ['blocks'] : []), ...(input.subject ? ['subject'] : [])]
    throw refusalOf(error, { message, asked, options, given: parts })
  }
}
