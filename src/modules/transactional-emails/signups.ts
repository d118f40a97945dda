import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import { consents, consentVersions } from '../../db/schema/consents.ts'
import { transactionalEmails } from '../../db/schema/transactional-emails.ts'
import { decodeAs, type RowOf, buildSelectList } from '../../db/select.ts'
import { insertWhere } from '../../db/write.ts'
import { chooseWording } from '../../domain/consents/consents.ts'
import { buildSignupConfirmationUrl, mintSignupToken } from '../../domain/consents/signups.ts'
import { compile, type Compiled } from '../../domain/email/compile.ts'
import { buildConsentConfirmation } from '../../domain/email/messages/consent-confirmation.ts'
import type { Language } from '../../domain/languages.ts'
import { returnIntervalMs } from '../../domain/messaging/transactional-emails.ts'
import { type HashedAddress, selectHashedSuppression, selectUnsubscribedAt } from '../suppressions/index.ts'
import type { OrganizationClaim } from './claim.ts'
import { returnRequest } from './confirmations.ts'
import { buildNewEmail } from './email-state.ts'
import type { Frame } from './frame.ts'

interface Signup {
  request_id: string
  organization_id: string
  edition_id: string | null
  recipient: string
  language: Language
}

/** Add this statement after the one that stores the request. It writes no message to a request without an address. */
export const buildSignupEmail = (
  ctx: Pick<JobCtx, 'config' | 'newId' | 'now'>,
  { request_id, ...signup }: Signup,
): Statement =>
  insertWhere(
    transactionalEmails,
    { ...signup, ...buildNewEmail(ctx), kind: 'signup_confirmation', signup_request_id: request_id },
    sql`exists (select 1 from signup_requests where id = ${request_id} and address is not null)`,
  )

/**
 * True for an address that may be asked to confirm: it is not suppressed, or it unsubscribed and was not asked within
 * `returnIntervalMs` since.
 */
export function canAskAddress(hashedAddress: HashedAddress, now: number): SQL {
  const { organization_id, address } = hashedAddress
  const suppressedAt = selectHashedSuppression('created_at', hashedAddress)
  const wasAsked = sql`exists (select 1 ${returnRequest(organization_id, address, now, suppressedAt)})`
  return sql`case coalesce(${selectHashedSuppression('reason', hashedAddress)}, '')
    when '' then 1 when 'unsubscribed' then not ${wasAsked} else 0 end`
}

/**
 * Deletes the messages of these requests, before the requests are deleted. A message to an address that has unsubscribed
 * stays, because it is the memory that the address was asked.
 */
export const deleteSignupEmails = (requestIds: SQL): Statement =>
  sql`delete from transactional_emails where signup_request_id in (${requestIds})
    and ${selectUnsubscribedAt(sql`transactional_emails.organization_id`, sql`transactional_emails.recipient`)} is null`

/** Deletes messages of sign-ups that no limit looks at any more. */
export const deleteOldSignupEmails = (now: number, limit: number): Statement =>
  sql`delete from transactional_emails where id in (select id from transactional_emails
    indexed by transactional_emails_of_signups
    where kind = 'signup_confirmation' and created_at <= ${now - returnIntervalMs} order by created_at limit ${limit})`

const wordingFields = {
  name: consents.name,
  title: consentVersions.title,
  text: consentVersions.text,
  link_url: consentVersions.link_url,
}

/** Null: the request or its form was deleted, or the request has expired. */
export async function compileSignupEmail(
  { config, db, now }: JobCtx,
  claim: OrganizationClaim,
  { organization_name, edition_name }: Frame,
): Promise<Compiled | null> {
  const { language, signup_request_id: requestId } = claim
  if (requestId === null) return null
  const wordings = await db.all(
    decodeAs(
      wordingFields,
      sql<RowOf<typeof wordingFields>>`select ${buildSelectList(wordingFields)}
        from signup_requests cross join json_each(signup_requests.consents) as shown
          join consents on consents.id = shown.value ->> 'id'
          join consent_versions on consent_versions.consent_id = consents.id
            and consent_versions.version = shown.value ->> 'version'
        where signup_requests.id = ${requestId} and signup_requests.expires_at > ${now()}
          and exists (select 1 from signup_forms where signup_forms.id = signup_requests.form_id)
        order by shown.key`,
    ),
  )
  if (wordings.length === 0) return null
  const message = buildConsentConfirmation({
    language,
    organisation: organization_name,
    wordings: wordings.map((row) => {
      const { title, text, link_url } = chooseWording(row, language, language)
      return { title, text, link_url: link_url || null }
    }),
    url: buildSignupConfirmationUrl(config.publicUrl, mintSignupToken(config.linkSigningKey, requestId)),
  })
  return compile(message, language, {
    defaultLanguage: language,
    title: edition_name ?? organization_name,
    sender: organization_name,
  })
}
