import type { Ctx } from '../../../context.ts'
import { addAfterCommit } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { AppError, fieldError, invalid } from '../../../domain/errors.ts'
import type { Language, TranslatedDict } from '../../../domain/languages.ts'
import { findSuppressionReason } from '../../suppressions/index.ts'
import {
  buildConfirmationEmailStatements,
  isConfirmationRecent,
  enqueueEmails,
} from '../../transactional-emails/index.ts'
import type { AnswerRow } from './answer-queries.ts'
import type { RecordRow } from './records.ts'

interface ConfirmationRequest {
  /** The person's address as the consent's edition knows it. */
  email: string | null
  language: Language
  /** The pending answer. */
  record: RecordRow
}

/** Returns the address of the request. Refuses a missing or suppressed one. */
async function checkRecipient(ctx: Ctx, organizationId: string, email: string | null): Promise<string> {
  if (email === null) throw new AppError('email_missing', 'This customer has no e-mail address.')
  const channelAddress = { organization_id: organizationId, channel: 'email' as const, address: email }
  const reason = await findSuppressionReason(ctx, channelAddress)
  if (reason !== null)
    throw new AppError('address_suppressed', 'This e-mail address is suppressed.', { extra: { reason } })
  return email
}

/**
 * Builds the statements that ask the person to confirm a pending answer. There are none when the person was asked
 * within the last hour.
 */
export async function buildConfirmationStatements(
  ctx: Ctx,
  definition: AnswerRow,
  request: ConfirmationRequest,
): Promise<Statement[]> {
  const { record, language } = request
  if (ctx.config.linkSigningKey === '')
    throw invalid(
      fieldError(['method'], 'links_not_configured', 'LINK_SIGNING_KEY is not set, so this service cannot send links.'),
    )
  const recipient = await checkRecipient(ctx, record.organization_id, request.email)
  if (await isConfirmationRecent(ctx, record.id)) return []
  const getText = (texts: TranslatedDict) => texts[language] ?? ''
  const { organization_id, edition_id, user_id, consent_id, number } = record
  const statements = buildConfirmationEmailStatements(ctx, {
    organization_id,
    edition_id,
    user_id,
    consent_id,
    record_id: record.id,
    number,
    recipient,
    language,
    wording: {
      title: getText(definition.title) || definition.name,
      text: getText(definition.text),
      link_url: getText(definition.link_url) || null,
    },
  })
  return statements.map((statement) => addAfterCommit(statement, () => enqueueEmails(ctx)))
}
