import type { Ctx } from '../../../context.ts'
import { addAfterCommit } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { AppError, fieldError, invalid } from '../../../domain/errors.ts'
import type { Language, TranslatedDict } from '../../../domain/languages.ts'
import { suppressionReasonOf } from '../../suppressions/index.ts'
import { confirmationStatements, isConfirmationRecent, enqueueEmails } from '../../transactional-emails/index.ts'
import type { AnswerRow } from './answer-queries.ts'
import type { RecordRow } from './records.ts'

interface ConfirmationRequest {
  /** The address that the edition of the consent, or the organisation, has. */
  email: string | null
  language: Language
  /** The pending answer. */
  record: RecordRow
}

/** The address to which the request goes; refuses one that takes no messages. */
async function recipientOf(ctx: Ctx, organizationId: string, email: string | null): Promise<string> {
  if (email === null) throw new AppError('email_missing', 'This customer has no e-mail address.')
  const place = { organization_id: organizationId, channel: 'email' as const, address: email }
  const reason = await suppressionReasonOf(ctx, place)
  if (reason !== null)
    throw new AppError('address_suppressed', 'No message goes to this address.', { extra: { reason } })
  return email
}

/**
 * Statements that ask the person to confirm a pending answer, for the transaction that records it. None where they were
 * asked within the hour.
 */
export async function confirmationRequest(
  ctx: Ctx,
  definition: AnswerRow,
  asked: ConfirmationRequest,
): Promise<Statement[]> {
  const { record, language } = asked
  if (ctx.config.linkSigningKey === '')
    throw invalid(fieldError(['method'], 'links_not_configured', 'This service has no key for the links of messages.'))
  const recipient = await recipientOf(ctx, record.organization_id, asked.email)
  if (await isConfirmationRecent(ctx, record.id)) return []
  const wordingIn = (texts: TranslatedDict) => texts[language] ?? ''
  const { organization_id, edition_id, user_id, consent_id, number } = record
  const statements = confirmationStatements(ctx, {
    organization_id,
    edition_id,
    user_id,
    consent_id,
    record_id: record.id,
    number,
    recipient,
    language,
    wording: {
      title: wordingIn(definition.title) || definition.name,
      text: wordingIn(definition.text),
      link_url: wordingIn(definition.link_url) || null,
    },
  })
  return statements.map((statement) => addAfterCommit(statement, () => enqueueEmails(ctx)))
}
