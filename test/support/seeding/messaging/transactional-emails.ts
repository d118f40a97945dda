import { transactionalEmails } from '../../../../src/db/schema/transactional-emails.ts'
import { insertAll } from '../../../../src/db/write.ts'
import { freshId, next, type Place, seededTimes, write } from '../rows.ts'

/** Seeds e-mails to a customer that were sent, each about a consent. Some have the same time. */
export async function seedEmailsTo(
  { organization, edition }: Place,
  user: string,
  count: number,
  columns: Partial<typeof transactionalEmails.$inferInsert> = {},
): Promise<void> {
  const rows = Array.from({ length: count }, () => ({
    id: freshId('transactional_email'),
    organization_id: organization,
    edition_id: edition,
    user_id: user,
    kind: 'consent_confirmation' as const,
    consent_record_id: freshId('consent_record'),
    confirmation: {} as never,
    language: 'en' as const,
    recipient: 'customer@example.test',
    status: 'sent' as const,
    ...seededTimes(next()),
    ...columns,
  }))
  await write(...insertAll(transactionalEmails, rows))
}
