import type { Ctx } from '../../context.ts'
import type { Block } from '../../domain/email/blocks.ts'
import { cleaned, faultsOf } from '../../domain/email/check.ts'
import { type Preview, previewOf } from '../../domain/email/preview.ts'
import { invalid } from '../../domain/errors.ts'
import type { TranslatedDict } from '../../domain/languages.ts'
import type { PreviewEmailMessageInput } from './message-contract.ts'
import type { MessageDetailRow } from './queries.ts'
import { framing } from './templates.ts'
import { asBlocks } from './update.ts'

/** The message as its recipients would see it; what is handed in is held to what saving would hold it to. */
export function previewMessage(_: Ctx, row: MessageDetailRow, input: PreviewEmailMessageInput): Preview {
  const given = input.blocks && asBlocks(input.blocks)
  const faults = faultsOf({ subject: input.subject, blocks: given })
  if (faults.length) throw invalid(...faults)
  const options = framing({
    default_language: row.default_language,
    organization_name: row.organization_name,
    edition_name: row.edition_full_name,
    sender_name: row.email_sender_name,
  })
  const message = {
    subject: input.subject ?? (JSON.parse(row.subject) as TranslatedDict),
    blocks: given ? cleaned(given) : (JSON.parse(row.blocks) as Block[]),
    template: 'modern' as const,
  }
  const language = input.language ?? options.defaultLanguage
  return previewOf(message, { mode: input.mode, language, values: input.context ?? {} }, options)
}
