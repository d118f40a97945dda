import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { abortUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { transactionalEmails } from '../../db/schema/transactional-emails.ts'
import { insertAll } from '../../db/write.ts'
import type { Contact } from '../../domain/accounts/users.ts'
import type { Language } from '../../domain/languages.ts'
import { maxTestMessages, testWindowMs } from '../../domain/messaging/test-messages.ts'
import type { OutboundEmail } from '../../gateways/email/email.ts'
import { buildNewEmail, type EmailStateRow } from './email-state.ts'

/** A message that is tested, and the customer whose data it shows. */
export interface TestSource {
  organization_id: string
  edition_id: string | null
  email_message_id: string
  example_user_id: string | null
}

/** A message for one person. `language` is the language of its texts. */
export interface ComposedTest {
  language: Language
  email: Omit<OutboundEmail, 'to' | 'reference'>
}

/** The person whose data a test shows. */
export interface TestReader {
  person: Contact
  /** Says for each condition of blocks whether the person fulfils it. */
  evaluate: (conditions: readonly string[]) => Promise<boolean[]>
}

/** Composes a message in a language for a person. */
export type TestComposer = (language: Language, reader: TestReader) => Promise<ComposedTest>

/** The content of a test in the requested language, and the addresses that get it. */
export interface TestContent extends ComposedTest {
  recipients: readonly string[]
}

export interface TestEmail extends EmailStateRow {
  id: string
  language: Language
  recipient: string
}

/** Selects the test messages of an organisation that its limit counts. */
const selectCounted = (organizationId: string, now: number): SQL =>
  sql`from transactional_emails indexed by transactional_emails_of_tests
    where kind = 'test_message' and organization_id = ${organizationId} and created_at > ${now - testWindowMs}`

export const selectTestTimes = (organizationId: string, now: number): SQL<{ created_at: number }> =>
  sql`select created_at ${selectCounted(organizationId, now)} order by created_at`

/** The content is bound once for all addresses, because one bound value holds it and little more. */
function storeContent({ email }: TestContent, ids: readonly string[]): Statement {
  const content: OutboundEmail = { ...email, to: { name: null, address: '' }, reference: '' }
  return sql`update transactional_emails
    set content = json_set(${JSON.stringify(content)}, '$.to.address', recipient, '$.reference', id)
    where id in (select value from json_each(${JSON.stringify(ids)}))`
}

/**
 * Builds the statements that send test messages. They abort as a lost race when the organisation reaches its limit
 * meanwhile. Call `enqueueEmails` afterwards.
 */
export function planTestEmails(
  ctx: Pick<Ctx, 'config' | 'newId' | 'now' | 'caller'>,
  source: TestSource,
  contents: readonly TestContent[],
): { emails: TestEmail[]; statements: Statement[] } {
  const groups = contents.map((content) => ({
    content,
    rows: content.recipients.map((recipient) => ({
      ...buildNewEmail(ctx),
      ...source,
      kind: 'test_message' as const,
      requested_by: ctx.caller.id,
      language: content.language,
      recipient,
    })),
  }))
  const rows = groups.flatMap((group) => group.rows)
  if (rows.length === 0) return { emails: [], statements: [] }
  const isWithinLimit = sql`(select count(*) ${selectCounted(source.organization_id, ctx.now())}) <= ${maxTestMessages}`
  const contentStatements = groups.map((group) =>
    storeContent(
      group.content,
      group.rows.map(({ id }) => id),
    ),
  )
  return {
    emails: rows,
    statements: [...insertAll(transactionalEmails, rows), abortUnless(isWithinLimit), ...contentStatements],
  }
}
