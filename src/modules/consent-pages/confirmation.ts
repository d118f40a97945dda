import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { retryLostRaces } from '../../db/commit.ts'
import {
  type ConfirmationTarget,
  mintPreferencesToken,
  readConfirmationToken,
} from '../../domain/consents/consent-tokens.ts'
import { chooseWording, getAnswerState } from '../../domain/consents/consents.ts'
import type { Language } from '../../domain/languages.ts'
import { findVersion, type PersonAnswer, listPersonAnswers } from '../consents/index.ts'
import { findSuppressionReason } from '../suppressions/index.ts'
import { commitAnswers, decidePersonAnswer, type Visit } from './commit-answers.ts'
import type { ConfirmationContent } from './page.ts'
import { findPerson, type LinkedPerson } from './person.ts'

const confirmationSource = 'confirmation_link'

/**
 * An answer that waits for its confirmation, or that this very link has confirmed. A consent that an unsubscribed
 * person gave waits until it is confirmed or the suppression ends.
 */
interface ConfirmableAnswer {
  person: LinkedPerson
  answer: PersonAnswer & { before: NonNullable<PersonAnswer['before']> }
  is_confirmed: boolean
}

/** Finds the number of the linked answer in the person's own chain, which repeats it after a merge. */
async function findRepeatedNumber(
  { db }: JobCtx,
  { id }: LinkedPerson,
  { user_id, consent_id, number }: ConfirmationTarget,
): Promise<number> {
  const copy = await db.first(
    sql<{ number: number }>`select number from consent_records where user_id = ${id} and consent_id = ${consent_id}
      and evidence ->> '$.merged_from.record_id' = (select id from consent_records
        where user_id = ${user_id} and consent_id = ${consent_id} and number = ${number})
      order by number desc limit 1`,
  )
  if (copy) return copy.number
  return user_id === id ? number : 0
}

/** Returns null for a link that is forged or expired, or whose consent is inactive or was answered otherwise since. */
async function findConfirmableAnswer(job: JobCtx, token: string): Promise<ConfirmableAnswer | null> {
  const target = readConfirmationToken(job.config.linkReadingKeys, token)
  const person = target && (await findPerson(job, target))
  if (!target || !person) return null
  const [answer] = await listPersonAnswers(job, person, [target.consent_id])
  const before = answer?.before
  if (!answer || !before) return null
  const { definition, edition } = answer
  const state = getAnswerState(before, job.now())
  const number = await findRepeatedNumber(job, person, target)
  const isLatest = before.number === number
  const isReturn = state === 'given' && isLatest
  const isBlocked = isReturn && (await findSuppressionReason(job, person)) === 'unsubscribed'
  const isFollowed = before.number === number + 1 && before.method === 'double_opt_in'
  const is_confirmed = (state === 'given' && isFollowed) || (isReturn && !isBlocked)
  const isWaiting = (state === 'pending' && isLatest) || isBlocked
  const isOpen = definition.is_active && !edition?.is_archived
  if (!is_confirmed && !(isWaiting && isOpen)) return null
  return { person, answer: { ...answer, before }, is_confirmed }
}

/** Builds the page in the requested language, or in the language of the message. */
async function buildConfirmation(
  job: JobCtx,
  { person, answer, is_confirmed }: ConfirmableAnswer,
  requestedLanguage: Language | null,
): Promise<ConfirmationContent | null> {
  const { definition, edition, before } = answer
  const version = await findVersion(job, before)
  if (!version) return null
  const language = requestedLanguage ?? before.language
  const wording = chooseWording({ ...version, name: definition.name }, language, edition?.default_language ?? 'en')
  const token = mintPreferencesToken(job.config.linkSigningKey, {
    ...person,
    user_id: person.id,
    made_at: job.now(),
  })
  return {
    language,
    organization_name: person.organization_name,
    consents: [wording],
    is_confirmed,
    preferences: `../${token}`,
  }
}

export async function loadConfirmation(
  job: JobCtx,
  token: string,
  language: Language | null,
): Promise<ConfirmationContent | null> {
  const confirmable = await findConfirmableAnswer(job, token)
  return confirmable && buildConfirmation(job, confirmable, language)
}

/** Gives the pending consent to the wording that the person saw. A second call changes nothing. */
export async function confirmAnswer(
  job: JobCtx,
  token: string,
  { language, visit }: { language: Language | null; visit: Visit },
): Promise<ConfirmationContent | null> {
  await retryLostRaces(async () => {
    const confirmable = await findConfirmableAnswer(job, token)
    if (!confirmable || confirmable.is_confirmed) return
    const { person, answer } = confirmable
    const { before, definition } = answer
    const answeredDefinition = {
      ...definition,
      wording_version: before.consent_version,
      content_hash: before.content_hash,
    }
    const outcome = await decidePersonAnswer(
      job,
      person,
      { ...answer, definition: answeredDefinition },
      {
        status: 'given',
        at: job.now(),
        asks_again: true,
        method: 'double_opt_in',
        source: confirmationSource,
        language: before.language,
        edition_id: before.edition_id,
        order_id: before.order_id,
        evidence: visit.evidence,
      },
    )
    if (outcome.decision.kind === 'changed') await commitAnswers(job, { person, visit }, [answer], [outcome])
  })
  return loadConfirmation(job, token, language)
}
