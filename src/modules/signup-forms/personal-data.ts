import { type SQL, sql } from 'drizzle-orm'
import { inList, inWords } from '../../db/conditions.ts'
import type { Statement } from '../../db/database.ts'
import { signupRequests } from '../../db/schema/signup-forms.ts'
import { transactionalEmails } from '../../db/schema/transactional-emails.ts'
import { remove } from '../../db/write.ts'
import { confirmationKinds } from '../../domain/messaging/transactional-emails.ts'

/** Holds for e-mails of sign-ups to the addresses for which `isTheirs` holds. */
export const isSignupEmail = (organizationId: string, isTheirs: (recipient: SQL) => SQL): SQL =>
  sql`${inWords(sql`transactional_emails.kind`, confirmationKinds)} and transactional_emails.kind = 'signup_confirmation'
    and transactional_emails.organization_id = ${organizationId} and ${isTheirs(sql`transactional_emails.recipient`)}`

/** Builds the statements that delete the sign-ups of these addresses with their e-mails. */
export function eraseSignups(organizationId: string, addresses: ReadonlySet<string>): Statement[] {
  const isTheirs = (column: SQL) => inList(column, [...addresses])
  const emails = isSignupEmail(organizationId, isTheirs)
  return [
    sql`delete from captured_messages where reference in (select id from transactional_emails where ${emails})`,
    remove(transactionalEmails, emails),
    remove(
      signupRequests,
      sql`address is not null and organization_id = ${organizationId} and ${isTheirs(sql`address`)}`,
    ),
  ]
}

/** Builds the section of an export with a customer's sign-ups. `isOwn` holds for their e-mail addresses. */
export const buildSignupSection = (organizationId: string, isOwn: SQL) => ({
  name: 'signups' as const,
  columns: sql`id, form_id, edition_id, address, language, consents as consents_json, evidence as evidence_json,
    confirmed_at, expires_at, created_at`,
  from: sql`signup_requests`,
  where: sql`organization_id = ${organizationId} and address is not null and ${isOwn}`,
  key: sql`id`,
})
