import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { commit, refuseUnless } from '../../../db/commit.ts'
import { listChangeableEditions, buildContactColumn, isSharedOutside } from '../../../db/customers.ts'
import type { Statement } from '../../../db/database.ts'
import { buildVisibility, isVisibleTo } from '../../../db/visibility.ts'
import {
  type AnswerAction,
  type AnswerDecision,
  answerLifecycle,
  listLanguages,
  statusByAction,
} from '../../../domain/consents/consents.ts'
import { AppError, doesNotExist, type FieldError, fieldError, invalid, sharedCustomer } from '../../../domain/errors.ts'
import { toIso } from '../../../domain/time/instants.ts'
import { openEditions } from '../../editions/index.ts'
import { describeNewEmail } from '../../transactional-emails/index.ts'
import { announceAll } from '../../webhooks/index.ts'
import type { AnswerInput } from '../answer-contract.ts'
import { type AnswerSubject, isRecordHidden, type VisibleRecord } from './answer-queries.ts'
import { buildConfirmationStatements, buildReturnStatements, wasAskedToReturn } from './double-opt-in.ts'
import {
  buildAnswerAnnouncements,
  decideAnswerRecords,
  answerRaces,
  buildAnswerStatements,
  getLatestRecord,
  type RecordRow,
} from './records.ts'

const orderVisibility = buildVisibility(sql`orders.organization_id`, sql`orders.edition_id`)

function checkInput(ctx: Ctx, { answer }: AnswerSubject, action: AnswerAction, input: AnswerInput): void {
  const { language, occurred_at = ctx.now() } = input
  const textLanguages = listLanguages(answer.text)
  const errors: FieldError[] = []
  if (action !== 'withdraw' && !textLanguages.includes(language))
    errors.push(
      fieldError(
        ['language'],
        'text_missing_language',
        `The consent has no text in this language. It has texts in ${textLanguages.join(', ')}.`,
      ),
    )
  if (input.method === 'double_opt_in' && input.occurred_at !== undefined)
    errors.push(
      fieldError(
        ['occurred_at'],
        'not_with_double_opt_in',
        'With `double_opt_in` the person answers when they confirm, so `occurred_at` cannot be set.',
      ),
    )
  if (occurred_at > ctx.now())
    errors.push(fieldError(['occurred_at'], 'in_future', '`occurred_at` must not be in the future.'))
  if (occurred_at < answer.created_at)
    errors.push(
      fieldError(
        ['occurred_at'],
        'before_definition',
        `\`occurred_at\` must be on or after ${toIso(answer.created_at)}, when the consent was created.`,
      ),
    )
  if (errors.length) throw invalid(...errors)
}

interface AnswerContext {
  /** The edition of the order, in which the person was asked. */
  edition_id: string | null
  email: string | null
  wording: { version: number; content_hash: string } | null
}

/** Loads the order of the answer, and the wording at the time of the answer. */
async function loadAnswerContext(ctx: Ctx, subject: AnswerSubject, input: AnswerInput): Promise<AnswerContext> {
  const { answer } = subject
  const { order_id = null, occurred_at } = input
  if (order_id === null && occurred_at === undefined)
    return { edition_id: answer.edition_id, email: subject.email, wording: null }
  const order = sql`(select edition_id from orders where id = ${order_id} and user_id = ${subject.id}
    and ${isVisibleTo(ctx.caller, orderVisibility)})`
  const row = await ctx.db.first(sql<{
    edition_id: string | null
    email: string | null
    version: number | null
    content_hash: string | null
  }>`select orders.edition_id,
      ${buildContactColumn(sql`users`, 'email', sql`coalesce(${answer.edition_id}, orders.edition_id)`)} as email,
      wording.version, wording.content_hash
    from users left join (select ${order} as edition_id) as orders
    left join consent_versions as wording on wording.consent_id = ${answer.id} and wording.version =
      (select max(version) from consent_versions where consent_id = ${answer.id} and created_at <= ${occurred_at ?? ctx.now()})
    where users.id = ${subject.id}`)
  if (order_id !== null && !row?.edition_id) throw doesNotExist('order_id')
  if (order_id !== null && answer.edition_id !== null && row?.edition_id !== answer.edition_id)
    throw doesNotExist('order_id')
  const { version = null, content_hash = null } = row ?? {}
  return {
    edition_id: row?.edition_id ?? answer.edition_id,
    email: row?.email ?? null,
    wording: version === null || content_hash === null ? null : { version, content_hash },
  }
}

const refusalDetails = {
  consent_inactive: 'This consent is not active, so nobody can give or skip it.',
  consent_required: 'This consent is required, so nobody can skip it.',
} as const

function createRefusal(
  decision: Extract<AnswerDecision, { kind: 'refused' }>,
  action: string,
  latestRecord: RecordRow | null,
): AppError {
  const { reason, state } = decision
  if (reason === 'before_last_answer')
    return invalid(
      fieldError(
        ['occurred_at'],
        reason,
        `\`occurred_at\` must be on or after ${toIso(latestRecord?.occurred_at ?? 0)}, when the person last answered.`,
      ),
    )
  if (reason === 'invalid_transition')
    return new AppError(reason, `A consent in status '${state}' has no action '${action}'.`, {
      extra: { current_status: state, allowed_transitions: answerLifecycle.targetsOf(state) },
    })
  return new AppError(reason, refusalDetails[reason])
}

/** An edition role may answer the organisation's consents only for people whom no other edition knows. */
async function guardSharedCustomer(ctx: Ctx, { id, organization_id, answer }: AnswerSubject): Promise<Statement[]> {
  const editions = answer.edition_id === null ? listChangeableEditions(ctx.caller, organization_id) : null
  if (editions === null) return []
  const selectShared = sql`select 1 from users where users.id = ${id} and ${isSharedOutside(sql`users`, editions)}`
  if (await ctx.db.first(selectShared)) throw sharedCustomer()
  return [refuseUnless(sql`not exists (${selectShared})`, 'shared_customer')]
}

const toVisibleRecord = (
  ctx: Ctx,
  subject: AnswerSubject,
  record: RecordRow,
  before: RecordRow | null,
): VisibleRecord => ({
  ...record,
  previous_hash: before?.record_hash ?? null,
  is_hidden: isRecordHidden(ctx, subject.organization_id, record.edition_id),
})

/** True if the person agreed by their own act, such as a checkbox. Staff and other systems only report an answer. */
const isOwnAct = (action: AnswerAction, method: AnswerInput['method']): boolean =>
  action === 'give' && (method === 'checkbox' || method === 'preference_center')

/** Builds the statements of the e-mail that asks the person to confirm the answer. There are none when none is sent. */
async function buildEmailStatements(
  ctx: Ctx,
  { address, answer, organization_id }: AnswerSubject,
  { action, input, record }: { action: AnswerAction; input: AnswerInput; record: RecordRow | null },
): Promise<Statement[]> {
  const { language, method, occurred_at: at = ctx.now() } = input
  if (record === null) return []
  if (method === 'double_opt_in')
    return record.status === 'pending' ? buildConfirmationStatements(ctx, answer, { address, language, record }) : []
  if (!isOwnAct(action, method)) return []
  return buildReturnStatements(ctx, organization_id, [{ definition: answer, address, record, at }])
}

/** Records a person's answer. An answer that repeats the latest one changes nothing. */
export async function answerConsent(
  ctx: Ctx,
  subject: AnswerSubject,
  action: AnswerAction,
  input: AnswerInput,
): Promise<AnswerSubject> {
  const { id, answer, address } = subject
  if (subject.erased_at !== null) throw new AppError('user_erased', 'This customer was erased.')
  checkInput(ctx, subject, action, input)
  const sharedGuard = await guardSharedCustomer(ctx, subject)
  const { edition_id, email, wording } = await loadAnswerContext(ctx, subject, input)
  const definition =
    wording === null ? answer : { ...answer, wording_version: wording.version, content_hash: wording.content_hash }
  const before = answer.record
  const { occurred_at: at = ctx.now(), evidence = null, order_id = null, language, method, source } = input
  const needsConfirmation = method === 'double_opt_in'
  const isBlocked = needsConfirmation && answer.blocked_by === 'unsubscribed'
  const outcome = await decideAnswerRecords(
    ctx,
    { definition, user: { id, email }, before },
    {
      status: needsConfirmation ? 'pending' : statusByAction[action],
      at,
      asks_again: isBlocked && !(await wasAskedToReturn(ctx, before, address)),
      method,
      source,
      language,
      edition_id,
      order_id,
      evidence,
    },
  )
  if (outcome.decision.kind === 'refused') throw createRefusal(outcome.decision, action, before)
  const newRecord = outcome.records.at(-1)
  const confirmation = await buildEmailStatements(ctx, subject, { action, input, record: getLatestRecord(outcome) })
  const newEmail = confirmation.length ? describeNewEmail(ctx) : null
  if (!newRecord) {
    const { confirmation_email, record } = answer
    const shownEmail = record?.is_hidden ? null : (newEmail ?? confirmation_email)
    return commit(ctx, { ...subject, answer: { ...answer, confirmation_email: shownEmail } }, confirmation)
  }
  const record = toVisibleRecord(ctx, subject, newRecord, outcome.records.at(-2) ?? before)
  const statements = [
    ...(action === 'withdraw' ? [] : openEditions(answer.edition_id)),
    ...sharedGuard,
    ...buildAnswerStatements([outcome]),
    ...confirmation,
    ...announceAll(ctx, buildAnswerAnnouncements(outcome)),
  ]
  const confirmation_email = record.is_hidden ? null : newEmail
  return commit(ctx, { ...subject, answer: { ...answer, record, confirmation_email } }, statements, answerRaces)
}

export const giveConsent = (ctx: Ctx, subject: AnswerSubject, input: AnswerInput): Promise<AnswerSubject> =>
  answerConsent(ctx, subject, 'give', input)

export const skipConsent = (ctx: Ctx, subject: AnswerSubject, input: AnswerInput): Promise<AnswerSubject> =>
  answerConsent(ctx, subject, 'skip', input)

export const withdrawConsent = (ctx: Ctx, subject: AnswerSubject, input: AnswerInput): Promise<AnswerSubject> =>
  answerConsent(ctx, subject, 'withdraw', input)
