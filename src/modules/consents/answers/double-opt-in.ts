import type { Ctx } from '../../../context.ts'
import { addAfterCommit } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { AppError, fieldError, invalid } from '../../../domain/errors.ts'
import type { Language, TranslatedDict } from '../../../domain/languages.ts'
import type { SuppressionReason } from '../../../domain/messaging/suppressions.ts'
import { returnIntervalMs } from '../../../domain/messaging/transactional-emails.ts'
import { toIso } from '../../../domain/time/instants.ts'
import { findSuppressionReason } from '../../suppressions/index.ts'
import {
  buildConfirmationEmailStatements,
  findReturnRequest,
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

const createSuppressedError = (detail: string, reason: SuppressionReason) =>
  new AppError('address_suppressed', detail, { extra: { reason } })

/**
 * Returns the address of the request, or null when it was asked to confirm this answer and is not asked again. Refuses a
 * missing address, and one that may not be asked.
 */
async function checkRecipient(
  ctx: Ctx,
  { organization_id, id }: RecordRow,
  email: string | null,
): Promise<string | null> {
  if (email === null) throw new AppError('email_missing', 'This customer has no e-mail address.')
  const reason = await findSuppressionReason(ctx, { organization_id, channel: 'email', address: email })
  if (reason === null) return email
  if (reason !== 'unsubscribed') throw createSuppressedError('This e-mail address is suppressed.', reason)
  const earlier = await findReturnRequest(ctx, organization_id, email)
  if (!earlier) return email
  if (earlier.consent_record_id === id) return null
  const nextRequest = toIso(earlier.created_at + returnIntervalMs)
  const detail = `This e-mail address unsubscribed and was asked since. It can be asked again from ${nextRequest}.`
  throw createSuppressedError(detail, reason)
}

/**
 * Builds the statements that ask the person to confirm a pending answer. There are none when the person was asked
 * within the last hour, or within 30 days after unsubscribing.
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
  const recipient = await checkRecipient(ctx, record, request.email)
  if (recipient === null || (await isConfirmationRecent(ctx, record.id))) return []
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
