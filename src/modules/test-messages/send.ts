import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { abortUnless, commit } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { managers } from '../../domain/accounts/access.ts'
import { describeRenderError } from '../../domain/email/liquid/liquid.ts'
import { TooLarge } from '../../domain/email/personalise.ts'
import {
  type AppError,
  doesNotExist,
  editionArchived,
  fieldError,
  invalid,
  permissionDenied,
} from '../../domain/errors.ts'
import { type Language, parseLanguage } from '../../domain/languages.ts'
import {
  buildSampleContact,
  checkTestLimit,
  markTestSubject,
  maxStoredTestBytes,
  maxTestCharacters,
} from '../../domain/messaging/test-messages.ts'
import { utf8 } from '../../domain/text/encoding.ts'
import type { OutboundEmail } from '../../gateways/email/email.ts'
import { createTestComposer, type LoadedCampaign } from '../campaigns/index.ts'
import { openEditions } from '../editions/index.ts'
import { explainAdoption, listFulfilledConditions, type MessageDetailRow } from '../email-messages/index.ts'
import { buildScope } from '../segments/index.ts'
import {
  type ComposedTest,
  describeNewEmail,
  type EmailStateRow,
  enqueueEmails,
  planTestEmails,
  type TestComposer,
  type TestReader,
} from '../transactional-emails/index.ts'
import type { SendTestMessageInput } from './contract.ts'
import { createMessageComposer } from './message-composer.ts'
import { type ExampleCustomer, loadTestFacts, type TestPlace } from './queries.ts'

interface TestedMessage extends TestPlace {
  email_message_id: string
  default_language: Language
  /** The languages in which recipients get the message. Null: all. */
  languages: ReadonlySet<Language> | null
  /** The edition that conditions of blocks are about, with its time zone; both are null for the organisation. */
  conditionPlace: { edition_id: string | null; edition_timezone: string | null }
  compose: TestComposer
}

/** Samples show all blocks. */
function createReader(
  ctx: Ctx,
  { organization_id, conditionPlace }: TestedMessage,
  example: ExampleCustomer | undefined,
): TestReader {
  if (!example) return { person: buildSampleContact(), evaluate: async (conditions) => conditions.map(() => true) }
  const scope = buildScope({ organization_id, ...conditionPlace }, ctx.now())
  return {
    person: example,
    evaluate: async (conditions) => {
      const fulfilledConditions = await listFulfilledConditions(ctx, scope, example.seq, conditions)
      return conditions.map((condition) => fulfilledConditions.has(condition))
    },
  }
}

export interface TestRow {
  recipient: string
  language: Language
  text_language: Language | null
  subject: string
  state: EmailStateRow
  error_detail: string
}

export interface SentTest {
  rows: TestRow[]
  remaining: number
  /** The addresses to which messages go. */
  recipients: string[]
  languages: readonly Language[]
  user_id: string | null
}

function checkMembers(to: readonly string[], members: ReadonlySet<string>): void {
  const faults = to.flatMap((address, index) =>
    members.has(address)
      ? []
      : [fieldError(['to', index], 'not_a_member', 'No member with a role here has this address.')],
  )
  if (faults.length) throw invalid(...faults)
}

interface LanguageTest {
  language: Language
  /** Null if the message cannot be rendered, for the reason in `error`. */
  content: ComposedTest | null
  error: string
}

async function composeInLanguage(compose: TestComposer, language: Language, reader: TestReader): Promise<LanguageTest> {
  try {
    const content = await compose(language, reader)
    const email = { ...content.email, subject: markTestSubject(content.email.subject) }
    if (utf8(JSON.stringify(email)).length > maxStoredTestBytes)
      throw new TooLarge(`The message would be larger than ${maxStoredTestBytes} bytes.`)
    return { language, content: { ...content, email }, error: '' }
  } catch (error) {
    const detail = error instanceof TooLarge ? error.message : describeRenderError(error)
    if (detail === null) throw error
    return { language, content: null, error: detail.slice(0, 500) }
  }
}

const measure = ({ subject, html, text }: Pick<OutboundEmail, 'subject' | 'html' | 'text'>): number =>
  subject.length + html.length + text.length

const createSizeError = (): AppError =>
  invalid(
    fieldError(['to'], 'template_too_large', 'The message is too large for so many addresses and languages at once.'),
  )

function buildRow(ctx: Ctx, recipient: string, test: LanguageTest, isSuppressed: boolean): TestRow {
  const { language, content, error } = test
  const row = { recipient, language, text_language: content?.language ?? null, subject: content?.email.subject ?? '' }
  const state = describeNewEmail(ctx)
  const fail = (error_code: string, error_detail: string): TestRow => ({
    ...row,
    state: { ...state, status: 'failed', error_code, waiting_reason: null, waiting_since: null, due_at: null },
    error_detail,
  })
  if (isSuppressed) return fail('suppressed', 'This address is suppressed, so nothing is sent to it.')
  if (!content) return fail('render_failed', error)
  return { ...row, state, error_detail: state.waiting_reason ?? '' }
}

/** Chooses the language in which the customer gets the message. */
function chooseLanguage(
  { languages, default_language }: TestedMessage,
  example: ExampleCustomer | undefined,
): Language {
  const language = parseLanguage(example?.locale ?? '')
  return language && languages?.has(language) !== false ? language : default_language
}

/** Aborts when the customer was erased since they were loaded. */
const guardExample = (userId: string): Statement =>
  abortUnless(sql`exists (select 1 from users where id = ${userId} and erased_at is null)`)

/** Sends a message to members. What is sent is what the message says when the operation answers. */
async function sendTest(ctx: Ctx, message: TestedMessage, input: SendTestMessageInput): Promise<SentTest> {
  const { to } = input
  const userId = input.user_id ?? null
  const facts = await loadTestFacts(ctx, message, { addresses: to, userId })
  const { members, suppressions, times, example } = facts
  // Composing stores what it compiles, so this is refused before.
  if (facts.isArchived) throw editionArchived()
  checkMembers(to, members)
  if (userId !== null && !example) throw invalid(...doesNotExist('user_id').errors)
  const languages = input.languages ?? [chooseLanguage(message, example)]
  const recipients = to.filter((address) => !suppressions.has(address))
  const remaining = checkTestLimit(times, recipients.length * languages.length, ctx.now())
  const tests: LanguageTest[] = []
  const reader = createReader(ctx, message, example)
  for (const language of languages) tests.push(await composeInLanguage(message.compose, language, reader))
  const contents = tests.flatMap(({ language, content }) =>
    content ? [{ language, email: content.email, recipients }] : [],
  )
  const characters = contents.reduce((sum, { email }) => sum + measure(email) * recipients.length, 0)
  if (characters > maxTestCharacters) throw createSizeError()
  const { organization_id, edition_id, email_message_id } = message
  const source = { organization_id, edition_id, email_message_id, example_user_id: userId }
  const { emails, statements } = planTestEmails(ctx, source, contents)
  const unsentCount = recipients.length * languages.length - emails.length
  const sentTest: SentTest = {
    rows: to.flatMap((address) => tests.map((test) => buildRow(ctx, address, test, suppressions.has(address)))),
    remaining: remaining + unsentCount,
    recipients: emails.length ? recipients : [],
    languages: contents.map(({ language }) => language),
    user_id: userId,
  }
  const guards = [...openEditions(edition_id), ...(userId === null ? [] : [guardExample(userId)])]
  await commit(ctx, sentTest, emails.length ? [...guards, ...statements] : [])
  if (emails.length) ctx.afterCommit(() => enqueueEmails(ctx))
  return sentTest
}

export async function sendTestMessage(ctx: Ctx, row: MessageDetailRow, input: SendTestMessageInput): Promise<SentTest> {
  const { id: email_message_id, organization_id, edition_id, edition_timezone } = row
  if (organization_id === null) throw permissionDenied(managers, [], explainAdoption('platform'))
  const place = { organization_id, edition_id }
  const compose = await createMessageComposer(ctx, row, place)
  const default_language = row.default_language ?? 'en'
  const conditionPlace = { edition_id, edition_timezone }
  const message = { ...place, email_message_id, default_language, languages: null, conditionPlace, compose }
  return sendTest(ctx, message, input)
}

export async function sendTestCampaign(
  ctx: Ctx,
  campaign: LoadedCampaign,
  input: SendTestMessageInput,
): Promise<SentTest> {
  const { organization_id, edition_id, edition_default_language } = campaign
  const { messageId, languages, conditionPlace, compose } = await createTestComposer(ctx, campaign)
  const message = {
    email_message_id: messageId,
    default_language: edition_default_language,
    languages,
    conditionPlace,
    compose,
  }
  return sendTest(ctx, { organization_id, edition_id, ...message }, input)
}
