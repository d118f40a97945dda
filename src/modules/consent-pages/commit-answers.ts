import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { abortUnless } from '../../db/commit.ts'
import { recordLastSeen } from '../../db/customers.ts'
import type { Statement } from '../../db/database.ts'
import { listChanges } from '../../domain/audit.ts'
import { LostRace } from '../../domain/errors.ts'
import { recordAudit } from '../audit-log/index.ts'
import {
  answerRaces,
  type AnswerRequest,
  buildAnswerAnnouncements,
  buildAnswerStatements,
  buildReturnStatements,
  decideAnswerRecords,
  type DecidedAnswer,
  type PersonAnswer,
} from '../consents/index.ts'
import { takeBackUnsubscription } from '../suppressions/index.ts'
import { commitAnnounced } from '../webhooks/index.ts'
import type { LinkedPerson } from './person.ts'

/** The request with which a person answers. */
export interface Visit {
  request_id: string
  /** The evidence of an answer: the user agent and a prefix of the IP address. */
  evidence: Readonly<Record<string, string>>
}

export const decidePersonAnswer = (
  job: JobCtx,
  person: LinkedPerson,
  { definition, email, before }: PersonAnswer,
  request: AnswerRequest,
): Promise<DecidedAnswer> => decideAnswerRecords(job, { definition, user: { id: person.id, email }, before }, request)

/**
 * Somebody who agrees to marketing through the channel of the link resubscribes the address that the link was sent to.
 */
function liftSuppression(
  person: LinkedPerson,
  answers: readonly PersonAnswer[],
  decisions: readonly DecidedAnswer[],
): Statement[] {
  const isResubscribed = decisions.some(({ records, definition }) => {
    const consent = answers.find((answer) => answer.definition.id === definition.id)?.definition
    const isMarketing = consent?.type === 'marketing' && consent.channels.includes(person.channel)
    return isMarketing && records.at(-1)?.status === 'given'
  })
  return isResubscribed ? [takeBackUnsubscription(person)] : []
}

/** The page gives consents for the address of its link. Another address of the person is asked by e-mail. */
const buildReturns = (
  job: JobCtx,
  person: LinkedPerson,
  answers: readonly PersonAnswer[],
  decisions: readonly DecidedAnswer[],
): Promise<Statement[]> =>
  buildReturnStatements(
    job,
    person.organization_id,
    decisions.flatMap(({ records, definition: { id } }) => {
      const answer = answers.find(({ definition }) => definition.id === id)
      const record = records.at(-1)
      const isAsked = record?.status === 'given' && answer?.address !== person.address
      return answer && isAsked ? [{ ...answer, record, at: record.occurred_at }] : []
    }),
  )

/** The person is the actor of the audit entries, without an access token. */
function buildAuditEntries(
  job: JobCtx,
  person: LinkedPerson,
  decisions: readonly DecidedAnswer[],
  visit: Visit,
): Statement[] {
  return decisions.map(({ definition, before, records }) =>
    recordAudit(
      {
        caller: { id: person.id, credential: { id: null } },
        requestId: visit.request_id,
        now: job.now(),
        id: job.newId('audit_entry'),
      },
      {
        action: records.at(-1)?.status === 'given' ? 'giveConsent' : 'withdrawConsent',
        organization_id: person.organization_id,
        edition_id: definition.edition_id,
        resource_type: 'user',
        resource_id: person.id,
        changes: listChanges(
          { [`consents.${definition.key}`]: before?.status ?? 'none' },
          { [`consents.${definition.key}`]: records.at(-1)?.status ?? null },
        ),
      },
    ),
  )
}

/** Builds guards that abort the commit when the person was erased or an edition archived meanwhile. */
const buildGuards = (person: LinkedPerson, decisions: readonly DecidedAnswer[]): Statement[] => [
  abortUnless(sql`exists (select 1 from users where id = ${person.id} and erased_at is null)`),
  ...decisions.flatMap(({ definition, records }) =>
    definition.edition_id !== null && records.at(-1)?.status === 'given'
      ? [abortUnless(sql`exists (select 1 from editions where id = ${definition.edition_id} and is_archived = 0)`)]
      : [],
  ),
]

const races = {
  ...answerRaces,
  'users.organization_id, users.email': () => new LostRace('another request created the customer'),
}

/**
 * Commits all answers with their events. `preparation` comes first, such as what creates the person. Throws LostRace when
 * one of the consents was answered meanwhile.
 */
export async function commitAnswers(
  job: JobCtx,
  { person, visit, preparation = [] }: { person: LinkedPerson; visit: Visit; preparation?: readonly Statement[] },
  answers: readonly PersonAnswer[],
  decisions: readonly DecidedAnswer[],
): Promise<void> {
  const statements = [
    ...preparation,
    ...buildGuards(person, decisions),
    ...buildAnswerStatements(decisions),
    ...liftSuppression(person, answers, decisions),
    ...(await buildReturns(job, person, answers, decisions)),
    ...buildAuditEntries(job, person, decisions, visit),
    ...recordLastSeen([{ user_id: person.id, at: job.now() }]),
  ]
  await commitAnnounced(job, statements, decisions.flatMap(buildAnswerAnnouncements), races)
}
