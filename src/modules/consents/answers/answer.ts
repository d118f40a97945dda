import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { commit, refuseUnless } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { listChangeableEditions, buildContactColumn, isSharedOutside } from '../../../db/customers.ts'
import { buildVisibility, isVisibleTo } from '../../../db/visibility.ts'
import {
  type AnswerAction,
  type AnswerDecision,
  answerLifecycle,
  languagesOf,
  statusOfAction,
} from '../../../domain/consents/consents.ts'
import { AppError, doesNotExist, type FieldError, fieldError, invalid, sharedCustomer } from '../../../domain/errors.ts'
import { toIso } from '../../../domain/time/instants.ts'
import { openEditions } from '../../editions/index.ts'
import { announceAll } from '../../webhooks/index.ts'
import type { AnswerInput } from '../answer-contract.ts'
import { confirmationRequest } from './double-opt-in.ts'
import { type AnswerSubject, isRecordHidden, type SeenRecord } from './answer-queries.ts'
import { answerAnnouncements, answered, answerRaces, answerStatements, latestOf, type RecordRow } from './records.ts'

const orderVisibility = buildVisibility(sql`orders.organization_id`, sql`orders.edition_id`)

function checkInput(ctx: Ctx, { answer }: AnswerSubject, action: AnswerAction, input: AnswerInput): void {
  const { language, occurred_at = ctx.now() } = input
  const known = languagesOf(answer.text)
  const errors: FieldError[] = []
  if (action !== 'withdraw' && !known.includes(language))
    errors.push(fieldError(['language'], 'text_missing_language', `The wording is in ${known.join(', ')}.`))
  if (input.method === 'double_opt_in' && input.occurred_at !== undefined)
    errors.push(
      fieldError(
        ['occurred_at'],
        'not_with_double_opt_in',
        'The person is asked to confirm now, so the answer has no earlier time.',
      ),
    )
  if (occurred_at > ctx.now()) errors.push(fieldError(['occurred_at'], 'in_future', 'This time has not come yet.'))
  if (occurred_at < answer.created_at)
    errors.push(
      fieldError(['occurred_at'], 'before_definition', `The consent was created at ${toIso(answer.created_at)}.`),
    )
  if (errors.length) throw invalid(...errors)
}

interface AnswerContext {
  /** The edition in which the consent was offered: that of the order. */
  edition_id: string | null
  email: string | null
  wording: { version: number; content_hash: string } | null
}

/** The named order, and the wording at an earlier time, in one statement. Without either nothing is read. */
async function contextOf(ctx: Ctx, subject: AnswerSubject, input: AnswerInput): Promise<AnswerContext> {
  const { answer } = subject
  const { order_id = null, occurred_at } = input
  if (order_id === null && occurred_at === undefined)
    return { edition_id: answer.edition_id, email: subject.email, wording: null }
  const order = sql`(select edition_id from orders where id = ${order_id} and user_id = ${subject.id}
    and ${isVisibleTo(ctx.caller, orderVisibility)})`
  const found = await ctx.db.first(sql<{
    edition_id: string | null
    email: string | null
    version: number | null
    content_hash: string | null
  }>`select shown.edition_id, ${buildContactColumn(sql`users`, 'email', sql`coalesce(${answer.edition_id}, shown.edition_id)`)}
      as email, wording.version, wording.content_hash
    from users left join (select ${order} as edition_id) as shown
    left join consent_versions as wording on wording.consent_id = ${answer.id} and wording.version =
      (select max(version) from consent_versions where consent_id = ${answer.id} and created_at <= ${occurred_at ?? ctx.now()})
    where users.id = ${subject.id}`)
  if (order_id !== null && !found?.edition_id) throw doesNotExist('order_id')
  if (order_id !== null && answer.edition_id !== null && found?.edition_id !== answer.edition_id)
    throw doesNotExist('order_id')
  const { version = null, content_hash = null } = found ?? {}
  return {
    edition_id: found?.edition_id ?? answer.edition_id,
    email: found?.email ?? null,
    wording: version === null || content_hash === null ? null : { version, content_hash },
  }
}

const detailOf = {
  consent_inactive: 'This consent is not active.',
  consent_required: 'This consent is required.',
} as const

function refusalOf(
  decision: Extract<AnswerDecision, { kind: 'refused' }>,
  action: string,
  last: RecordRow | null,
): AppError {
  const { reason, state } = decision
  if (reason === 'before_last_answer')
    return invalid(fieldError(['occurred_at'], reason, `The last answer is of ${toIso(last?.occurred_at ?? 0)}.`))
  if (reason === 'invalid_transition')
    return new AppError(reason, `A consent in status '${state}' has no action '${action}'.`, {
      extra: { current_status: state, allowed_transitions: answerLifecycle.targetsOf(state) },
    })
  return new AppError(reason, detailOf[reason])
}

/** An edition role may answer the organisation's consents only for people of no other edition. */
async function sharedGuard(ctx: Ctx, { id, organization_id, answer }: AnswerSubject): Promise<Statement[]> {
  const editions = answer.edition_id === null ? listChangeableEditions(ctx.caller, organization_id) : null
  if (editions === null) return []
  const shared = sql`select 1 from users where users.id = ${id} and ${isSharedOutside(sql`users`, editions)}`
  if (await ctx.db.first(shared)) throw sharedCustomer()
  return [refuseUnless(sql`not exists (${shared})`, 'shared_customer')]
}

const presentSeen = (ctx: Ctx, subject: AnswerSubject, record: RecordRow, before: RecordRow | null): SeenRecord => ({
  ...record,
  previous_hash: before?.record_hash ?? null,
  is_hidden: isRecordHidden(ctx, subject.organization_id, record.edition_id),
})

/** Records one answer of a person. An answer that repeats the latest one changes nothing. */
export async function answerConsent(
  ctx: Ctx,
  subject: AnswerSubject,
  action: AnswerAction,
  input: AnswerInput,
): Promise<AnswerSubject> {
  const { id, answer } = subject
  if (subject.erased_at !== null) throw new AppError('user_erased', 'This customer was erased.')
  checkInput(ctx, subject, action, input)
  const guard = await sharedGuard(ctx, subject)
  const { edition_id, email, wording } = await contextOf(ctx, subject, input)
  const definition =
    wording === null ? answer : { ...answer, wording_version: wording.version, content_hash: wording.content_hash }
  const before = answer.record
  const { occurred_at: at = ctx.now(), evidence = null, order_id = null, language, method, source } = input
  const isRequest = method === 'double_opt_in'
  const outcome = await answered(
    ctx,
    { definition, user: { id, email }, before },
    {
      status: isRequest ? 'pending' : statusOfAction[action],
      at,
      method,
      source,
      language,
      edition_id,
      order_id,
      evidence,
    },
  )
  if (outcome.decision.kind === 'refused') throw refusalOf(outcome.decision, action, before)
  const last = outcome.records.at(-1)
  const waiting = isRequest ? latestOf(outcome) : null
  const request =
    waiting?.status === 'pending' ? await confirmationRequest(ctx, answer, { email, language, record: waiting }) : []
  if (!last) return commit(ctx, subject, request)
  const record = presentSeen(ctx, subject, last, outcome.records.at(-2) ?? before)
  const statements = [
    ...(action === 'withdraw' ? [] : openEditions(answer.edition_id)),
    ...guard,
    ...answerStatements([outcome]),
    ...request,
    ...announceAll(ctx, answerAnnouncements(outcome)),
  ]
  return commit(ctx, { ...subject, answer: { ...answer, record } }, statements, answerRaces)
}
