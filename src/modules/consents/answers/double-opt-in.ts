import type { Ctx, JobCtx } from '../../../context.ts'
import { addAfterCommit } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { AppError, fieldError, invalid } from '../../../domain/errors.ts'
import type { Language, TranslatedDict } from '../../../domain/languages.ts'
import type { SuppressionReason } from '../../../domain/messaging/suppressions.ts'
import { returnIntervalMs } from '../../../domain/messaging/transactional-emails.ts'
import { toIso } from '../../../domain/time/instants.ts'
import { findSuppressionReason } from '../../suppressions/index.ts'
import {
  buildConfirmationEmail,
  buildReturnEmail,
  type Confirmation,
  findReturnRequest,
  isConfirmationRecent,
  listReturning,
  enqueueEmails,
} from '../../transactional-emails/index.ts'
import type { DefinitionRow } from '../queries.ts'
import type { AnswerRow } from './answer-queries.ts'
import type { RecordRow } from './records.ts'

interface ConfirmationRequest {
  /** The address to which the person gets mail. */
  address: string | null
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
  const recipient = await checkRecipient(ctx, record, request.address)
  if (recipient === null || (await isConfirmationRecent(ctx, record.id))) return []
  const statement = buildConfirmationEmail(ctx, describeConfirmation(definition, record, { recipient, language }))
  return [addAfterCommit(statement, () => enqueueEmails(ctx))]
}

function describeConfirmation(
  definition: DefinitionRow,
  record: RecordRow,
  { recipient, language }: { recipient: string; language: Language },
): Confirmation {
  const getText = (texts: TranslatedDict) => texts[language] ?? ''
  const { organization_id, edition_id, user_id, consent_id, number } = record
  return {
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
  }
}

/** A consent that a person gave by an act of their own. */
export interface GivenAnswer {
  definition: DefinitionRow
  /** The address to which the person gets mail. */
  address: string | null
  /** The latest record, in which the consent is given. */
  record: RecordRow
  /** When the person gave it, maybe again. */
  at: number
}

/** True if a confirmation by e-mail can end the suppression of the person's address. */
const isReturn = ({ definition, address, record }: GivenAnswer): boolean =>
  address !== null &&
  definition.type === 'marketing' &&
  definition.channels.includes('email') &&
  record.status === 'given' &&
  record.consent_version === definition.wording_version

/**
 * Builds the statements that ask people who unsubscribed to confirm marketing by e-mail that they agreed to afterwards.
 * A confirmation lifts the suppression. There are none for other people, and none to an address that was asked within
 * 30 days.
 */
export async function buildReturnStatements(
  ctx: Pick<JobCtx, 'config' | 'db' | 'jobQueue' | 'newId' | 'now'>,
  organizationId: string,
  answers: readonly GivenAnswer[],
): Promise<Statement[]> {
  const returns = ctx.config.linkSigningKey === '' ? [] : answers.filter(isReturn)
  if (returns.length === 0) return []
  const addresses = returns.flatMap(({ address, at }) => (address === null ? [] : [{ address, at }]))
  const returningAddresses = new Set(await listReturning(ctx, organizationId, addresses))
  return returns.flatMap(({ definition, address, record, at }) => {
    if (address === null || !returningAddresses.has(address)) return []
    const confirmation = describeConfirmation(definition, record, { recipient: address, language: record.language })
    return [addAfterCommit(buildReturnEmail(ctx, confirmation, at), () => enqueueEmails(ctx))]
  })
}

/** True when an unsubscribed person was asked by e-mail to confirm this very answer. */
export async function wasAskedToReturn(ctx: Ctx, record: RecordRow | null, email: string | null): Promise<boolean> {
  if (record?.status !== 'given' || email === null) return false
  const request = await findReturnRequest(ctx, record.organization_id, email)
  return request?.consent_record_id === record.id
}
