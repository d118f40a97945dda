import type { Ctx } from '../../context.ts'
import { updateFileUrls } from '../../domain/email/blocks/images.ts'
import { templateVariables } from '../../domain/email/liquid/variables.ts'
import { buildReader, readTranslation } from '../../domain/email/messages/phrases.ts'
import { previewSubject } from '../../domain/email/preview.ts'
import { toIso } from '../../domain/time/instants.ts'
import { presentEditionOrNull } from '../editions/index.ts'
import { presentOrganizationOrNull } from '../organizations/index.ts'
import type { EmailMessageDetailOut, EmailMessageItemOut } from './message-contract.ts'
import type { MessageDetailRow, MessageListRow } from './queries.ts'

export const presentMessageItem = (row: MessageListRow, ctx: Ctx): EmailMessageItemOut => ({
  id: row.id,
  title: row.title,
  type: row.type,
  scope: row.scope,
  template: row.template,
  locked: row.is_locked,
  organization: presentOrganizationOrNull(row, ctx),
  edition: presentEditionOrNull(row),
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})

export function presentMessage(row: MessageDetailRow, ctx: Ctx): EmailMessageDetailOut {
  const { subject, preheader } = row
  const language = row.default_language ?? 'en'
  return {
    ...presentMessageItem(row, ctx),
    subject: previewSubject(readTranslation(subject, buildReader(language, language)), language),
    subject_translations: subject,
    preheader,
    blocks: updateFileUrls(row.blocks, ctx.config.files.url),
  }
}

export const presentVariables = () => ({ categories: templateVariables })
