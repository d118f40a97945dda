import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { listChanges } from '../../domain/audit.ts'
import { abortUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import type { AskedAnswer } from '../consents/index.ts'
import { auditStatement } from '../audit-log/index.ts'
import {
  answerAnnouncements,
  type DecidedAnswer,
  answered,
  answerRaces,
  answerStatements,
  type PersonAnswer,
} from '../consents/index.ts'
import { takeBackUnsubscription } from '../suppressions/index.ts'
import { commitAnnounced } from '../webhooks/index.ts'
import type { LinkedPerson } from './person.ts'

/** The request with which a person answers. */
export interface Visit {
  request_id: string
  /** Evidence of an answer: the network and the program, not the whole IP address. */
  evidence: Readonly<Record<string, string>>
}

export const decide = (
  job: JobCtx,
  person: LinkedPerson,
  { definition, email, before }: PersonAnswer,
  asked: AskedAnswer,
): Promise<DecidedAnswer> => answered(job, { definition, user: { id: person.id, email }, before }, asked)

/** A person who agrees to marketing through the channel of the link resubscribes the address that it was sent to. */
function liftedSuppression(
  person: LinkedPerson,
  answers: readonly PersonAnswer[],
  made: readonly DecidedAnswer[],
): Statement[] {
  const isResubscribed = made.some(({ records, definition }) => {
    const whole = answers.find((one) => one.definition.id === definition.id)?.definition
    const isMarketing = whole?.type === 'marketing' && whole.channels.includes(person.channel)
    return isMarketing && records.at(-1)?.status === 'given'
  })
  return isResubscribed ? [takeBackUnsubscription(person)] : []
}

/** In the audit log the person is the actor, without a token. */
function auditEntries(job: JobCtx, person: LinkedPerson, made: readonly DecidedAnswer[], visit: Visit): Statement[] {
  return made.map(({ definition, before, records }) =>
    auditStatement(
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

/** Abort the transaction for a person who was erased meanwhile, or an edition that was archived. */
const guards = (person: LinkedPerson, made: readonly DecidedAnswer[]): Statement[] => [
  abortUnless(sql`exists (select 1 from users where id = ${person.id} and erased_at is null)`),
  ...made.flatMap(({ definition, records }) =>
    definition.edition_id !== null && records.at(-1)?.status === 'given'
      ? [abortUnless(sql`exists (select 1 from editions where id = ${definition.edition_id} and is_archived = 0)`)]
      : [],
  ),
]

/** Commits all answers with their announcements. Throws LostRace when one of the consents was answered meanwhile. */
export async function commitAnswers(
  job: JobCtx,
  { person, visit }: { person: LinkedPerson; visit: Visit },
  answers: readonly PersonAnswer[],
  made: readonly DecidedAnswer[],
): Promise<void> {
  const statements = [
    ...guards(person, made),
    ...answerStatements(made),
    ...liftedSuppression(person, answers, made),
    ...auditEntries(job, person, made, visit),
  ]
  await commitAnnounced(job, statements, made.flatMap(answerAnnouncements), answerRaces)
}
