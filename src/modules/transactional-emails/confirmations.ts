import { type SQL, sql } from 'drizzle-orm'
import type { Ctx, JobCtx } from '../../context.ts'
import { inWords } from '../../db/conditions.ts'
import type { Statement } from '../../db/database.ts'
import { transactionalEmails } from '../../db/schema/transactional-emails.ts'
import { fromFlag, fromJson, selectValues } from '../../db/select.ts'
import { insertWhere } from '../../db/write.ts'
import { buildConfirmationUrl, mintConfirmationToken } from '../../domain/consents/consent-tokens.ts'
import { compile, type Compiled } from '../../domain/email/compile.ts'
import {
  type ConsentWording,
  buildConsentConfirmation,
  type ConfirmationSnapshot,
} from '../../domain/email/messages/consent-confirmation.ts'
import type { Language } from '../../domain/languages.ts'
import {
  confirmationIntervalMs,
  confirmationKinds,
  returnIntervalMs,
} from '../../domain/messaging/transactional-emails.ts'
import { selectUnsubscribedAt } from '../suppressions/index.ts'
import { type CustomerClaim, isPending } from './claim.ts'
import { buildNewEmail, emailStateColumns, type EmailStateRow } from './email-state.ts'
import type { Frame } from './frame.ts'

/** An answer about a consent that the person has to confirm. */
export interface Confirmation {
  organization_id: string
  edition_id: string | null
  user_id: string
  consent_id: string
  /** The pending consent record. */
  record_id: string
  /** Number of the answer among the person's answers to this consent. */
  number: number
  recipient: string
  language: Language
  wording: ConsentWording
}

const wasRequestedRecently = (recordId: string, now: number): SQL =>
  sql`exists (select 1 from transactional_emails as earlier where earlier.consent_record_id = ${recordId}
    and earlier.created_at > ${now - confirmationIntervalMs})`

/** Messages that asked an address since it unsubscribed, of which there is one within `returnIntervalMs`. */
export const returnRequest = (
  organizationId: string,
  recipient: string | SQL,
  now: number,
  unsubscribedAt = selectUnsubscribedAt(organizationId, recipient),
): SQL =>
  sql`from transactional_emails as earlier indexed by transactional_emails_of_confirmed_address
    where earlier.organization_id = ${organizationId} and earlier.recipient = ${recipient}
      and ${inWords(sql`earlier.kind`, confirmationKinds)} and earlier.status <> 'failed'
      and earlier.created_at > ${now - returnIntervalMs} and earlier.created_at >= ${unsubscribedAt}`

/** Finds the message that asked an unsubscribed address to confirm an answer, for which it is not asked again. */
export const findReturnRequest = (
  { db, now }: Pick<Ctx, 'db' | 'now'>,
  organizationId: string,
  recipient: string,
): Promise<{ consent_record_id: string | null; created_at: number } | undefined> =>
  db.first(sql<{
    consent_record_id: string | null
    created_at: number
  }>`select earlier.consent_record_id, earlier.created_at
    ${returnRequest(organizationId, recipient, now())} order by earlier.created_at desc limit 1`)

/** Holds for an address that unsubscribed before `answeredAt` and was not asked since. */
const canReturn = (organizationId: string, recipient: string | SQL, answeredAt: number | SQL, now: number): SQL =>
  sql`(${selectUnsubscribedAt(organizationId, recipient)} < ${answeredAt}
    and not exists (select 1 ${returnRequest(organizationId, recipient, now)}))`

/** Lists which of these addresses a confirmation of an answer can bring back. */
export async function listReturning(
  { db, now }: Pick<Ctx, 'db' | 'now'>,
  organizationId: string,
  answers: readonly { address: string; at: number }[],
): Promise<string[]> {
  const values = JSON.stringify(answers.map(({ address, at }) => [address, at]))
  const isReturning = canReturn(organizationId, sql`answer.value ->> 0`, sql`answer.value ->> 1`, now())
  const rows = await db.all(sql<{ address: string }>`select answer.value ->> 0 as address
    from json_each(${values}) as answer where ${isReturning}`)
  return rows.map(({ address }) => address)
}

/** True within `confirmationIntervalMs` after the last e-mail about this answer. */
export async function isConfirmationRecent(ctx: Pick<Ctx, 'db' | 'now'>, recordId: string): Promise<boolean> {
  const row = await ctx.db.first(selectValues({ is_recent: fromFlag(wasRequestedRecently(recordId, ctx.now())) }))
  return row?.is_recent ?? false
}

type NewEmailCtx = Pick<JobCtx, 'config' | 'newId' | 'now'>

/** Inserts the e-mail unless an unsubscribed address was asked within `returnIntervalMs`. */
function insertConfirmation(ctx: NewEmailCtx, confirmation: Confirmation, condition: SQL): Statement {
  const { record_id, consent_id, number, wording, ...rest } = confirmation
  const snapshot: ConfirmationSnapshot = { consent_id, number, wording }
  const row = {
    ...rest,
    ...buildNewEmail(ctx),
    kind: 'consent_confirmation' as const,
    consent_record_id: record_id,
    confirmation: snapshot,
  }
  const isRepeated = sql`exists (select 1 ${returnRequest(rest.organization_id, rest.recipient, ctx.now())})`
  return insertWhere(transactionalEmails, row, sql`${condition} and not ${isRepeated}`)
}

/**
 * Add this statement to the transaction that records the answer or repeats the request. It writes no e-mail within
 * `confirmationIntervalMs` after the last one about this answer, or within `returnIntervalMs` after one to an
 * unsubscribed address. Call `enqueueEmails` afterwards.
 */
export const buildConfirmationEmail = (ctx: NewEmailCtx, confirmation: Confirmation): Statement =>
  insertConfirmation(ctx, confirmation, sql`not ${wasRequestedRecently(confirmation.record_id, ctx.now())}`)

/**
 * Add this statement to the transaction that records an answer of `answeredAt`. It writes an e-mail only to an address
 * that unsubscribed before the answer, once within `returnIntervalMs`. Call `enqueueEmails` afterwards.
 */
export const buildReturnEmail = (ctx: NewEmailCtx, confirmation: Confirmation, answeredAt: number): Statement => {
  const { organization_id, recipient } = confirmation
  return insertConfirmation(ctx, confirmation, canReturn(organization_id, recipient, answeredAt, ctx.now()))
}

const stateNames = Object.keys(emailStateColumns)

/** Selects the latest e-mail that asked to confirm an answer, or null. */
export const selectConfirmationEmail = (recordId: SQL): SQL<EmailStateRow | null> =>
  fromJson(sql`(select json_object(${sql.join(
    stateNames.map((name) => sql.raw(`'${name}', letter.${name}`)),
    sql`, `,
  )}) from transactional_emails letter indexed by transactional_emails_of_consent_record
    where letter.consent_record_id = ${recordId} order by letter.created_at desc limit 1)`)

/** Holds while an e-mail that asks to confirm the answer waits for the provider. */
export const isConfirmationWaiting = (recordId: SQL): SQL =>
  sql`exists (select 1 from transactional_emails letter indexed by transactional_emails_of_consent_record
    where letter.consent_record_id = ${recordId} and ${isPending} and letter.waiting_since is not null)`

export async function compileConfirmation(
  { config }: JobCtx,
  claim: CustomerClaim & { confirmation: ConfirmationSnapshot },
  { organization_name, edition_name }: Frame,
): Promise<Compiled> {
  const { organization_id, user_id, recipient } = claim
  const { consent_id, number, wording } = claim.confirmation
  const target = { user_id, consent_id, number, organization_id, channel: 'email' as const, address: recipient }
  const token = mintConfirmationToken(config.linkSigningKey, target)
  const { language } = claim
  const message = buildConsentConfirmation({
    language,
    organisation: organization_name,
    wordings: [wording],
    url: buildConfirmationUrl(config.publicUrl, token),
  })
  return compile(message, language, {
    defaultLanguage: language,
    title: edition_name ?? organization_name,
    sender: organization_name,
  })
}
