import { eq, type SQL, sql } from 'drizzle-orm'
import type { Ctx, JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import { transactionalEmails } from '../../db/schema/messaging/transactional-emails.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { users } from '../../db/schema/users.ts'
import { fromFlag, select, selectValues } from '../../db/select.ts'
import { insertWhere } from '../../db/write.ts'
import { buildConfirmationUrl, mintConfirmationToken } from '../../domain/consents/consent-tokens.ts'
import { compile, type Compiled } from '../../domain/email/compile.ts'
import {
  type ConsentWording,
  consentConfirmation,
  type KeptConfirmation,
} from '../../domain/email/messages/consent-confirmation.ts'
import type { Language } from '../../domain/languages.ts'
import { confirmationIntervalMs, transactionalEmailLifecycle } from '../../domain/messaging/transactional-emails.ts'
import { isVerifiedSender } from '../sender-domains/index.ts'
import type { EmailClaim } from './claim.ts'

/** An answer that its person has to confirm. */
export interface Confirmation {
  organization_id: string
  edition_id: string | null
  user_id: string
  consent_id: string
  /** Of the pending record, and its number among the person's answers to the consent. */
  record_id: string
  number: number
  recipient: string
  language: Language
  wording: ConsentWording
}

const recentRequest = (recordId: string, now: number): SQL =>
  sql`exists (select 1 from transactional_emails as earlier where earlier.consent_record_id = ${recordId}
    and earlier.created_at > ${now - confirmationIntervalMs})`

/** Whether a message about this answer was written within the interval. */
export async function isConfirmationRecent(ctx: Pick<Ctx, 'db' | 'now'>, recordId: string): Promise<boolean> {
  const row = await ctx.db.first(selectValues({ is_recent: fromFlag(recentRequest(recordId, ctx.now())) }))
  return row?.is_recent ?? false
}

/**
 * The statement that sends the message, for the transaction that records the answer or repeats the request. It sends
 * nothing when the same answer had a message within the interval.
 */
export function confirmationStatements(ctx: Pick<Ctx, 'now' | 'newId'>, confirmation: Confirmation): Statement[] {
  const now = ctx.now()
  const { record_id, consent_id, number, wording, ...rest } = confirmation
  const kept: KeptConfirmation = { consent_id, number, wording }
  const row = {
    ...rest,
    id: ctx.newId('transactional_email'),
    kind: 'consent_confirmation' as const,
    consent_record_id: record_id,
    confirmation: kept,
    status: transactionalEmailLifecycle.initial,
    due_at: now,
    created_at: now,
    modified_at: now,
  }
  return [insertWhere(transactionalEmails, row, sql`not ${recentRequest(record_id, now)}`)]
}

/** The sender and the recipient of a message, from its edition, organisation and customer. */
export interface Frame {
  first_name: string
  last_name: string
  organization_name: string
  edition_name: string | null
  email_sender_name: string | null
  email_sender_address: string | null
  email_reply_to: string | null
  is_sender_verified: boolean
}

export const loadFrame = ({ db }: JobCtx, claim: EmailClaim): Promise<Frame | undefined> =>
  db.first(
    select({
      organization_name: organizations.name,
      edition_name: editions.full_name,
      email_sender_name: editions.email_sender_name,
      email_sender_address: editions.email_sender_address,
      email_reply_to: editions.email_reply_to,
      first_name: users.first_name,
      last_name: users.last_name,
      is_sender_verified: fromFlag(isVerifiedSender(sql`${organizations.id}`, sql`${editions.email_sender_address}`)),
    })
      .from(organizations)
      .innerJoin(users, eq(users.id, claim.user_id))
      .leftJoin(editions, eq(editions.id, claim.edition_id ?? ''))
      .where(eq(organizations.id, claim.organization_id)),
  )

/** The message with its signed link. */
export async function confirmationTemplate(
  { config }: JobCtx,
  claim: EmailClaim & { confirmation: KeptConfirmation },
  { organization_name, edition_name }: Frame,
): Promise<Compiled> {
  const { organization_id, user_id, recipient } = claim
  const { consent_id, number, wording } = claim.confirmation
  const target = { user_id, consent_id, number, organization_id, channel: 'email' as const, address: recipient }
  const token = mintConfirmationToken(config.linkSigningKey, target)
  const { language } = claim
  const message = consentConfirmation({
    language,
    organisation: organization_name,
    wording,
    address: buildConfirmationUrl(config.publicUrl, token),
  })
  return compile(message, language, {
    defaultLanguage: language,
    title: edition_name ?? organization_name,
    sender: organization_name,
  })
}
