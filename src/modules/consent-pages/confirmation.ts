import { retryLostRaces } from '../../db/commit.ts'
import type { JobCtx } from '../../context.ts'
import { mintPreferencesToken, readConfirmationToken } from '../../domain/consents/consent-tokens.ts'
import { stateOf } from '../../domain/consents/consents.ts'
import { type Language, languages } from '../../domain/languages.ts'
import { findVersion, type PersonAnswer, answersOfPerson } from '../consents/index.ts'
import type { Confirmable } from './page.ts'
import { findPerson, type LinkedPerson } from './person.ts'
import { commitAnswers, decide, type Visit } from './record.ts'
import { wordingIn } from './shown.ts'

const confirmationSource = 'confirmation_link'

/** An answer that waits for its confirmation, or has it by this very link. */
interface FoundAnswer {
  person: LinkedPerson
  answer: PersonAnswer & { before: NonNullable<PersonAnswer['before']> }
  is_confirmed: boolean
}

/** Null for a link that confirms nothing: forged, expired, answered otherwise since, or of an inactive consent. */
async function findAnswer(job: JobCtx, token: string): Promise<FoundAnswer | null> {
  const target = readConfirmationToken(job.config.linkSigningKey, token)
  const person = target && (await findPerson(job, target))
  if (!target || !person) return null
  const [answer] = await answersOfPerson(job, person, [target.consent_id])
  const before = answer?.before
  if (!answer || !before) return null
  const { definition, edition } = answer
  const state = stateOf(before, job.now())
  const is_confirmed = state === 'given' && before.number === target.number + 1 && before.method === 'double_opt_in'
  const isWaiting = state === 'pending' && before.number === target.number
  const isAsked = definition.is_active && !edition?.is_archived
  if (!is_confirmed && !(isWaiting && isAsked)) return null
  return { person, answer: { ...answer, before }, is_confirmed }
}

/** The content of the page, in the language of the message unless another is requested. */
async function confirmableOf(
  job: JobCtx,
  { person, answer, is_confirmed }: FoundAnswer,
  asked: Language | null,
): Promise<Confirmable | null> {
  const { definition, edition, before } = answer
  const version = await findVersion(job, before)
  if (!version) return null
  const language = asked ?? languages.find((one) => one === before.language) ?? 'en'
  const wording = wordingIn({ ...version, name: definition.name }, language, edition?.default_language ?? 'en')
  const token = mintPreferencesToken(job.config.linkSigningKey, {
    ...person,
    user_id: person.id,
    made_at: job.now(),
  })
  return {
    language,
    organization_name: person.organization_name,
    consent: wording,
    is_confirmed,
    preferences: `../${token}`,
  }
}

export async function confirmationOf(job: JobCtx, token: string, asked: Language | null): Promise<Confirmable | null> {
  const found = await findAnswer(job, token)
  return found && confirmableOf(job, found, asked)
}

/** Gives the pending consent, to the wording that the person was shown. Doing it again changes nothing. */
export async function confirm(
  job: JobCtx,
  token: string,
  { asked, visit }: { asked: Language | null; visit: Visit },
): Promise<Confirmable | null> {
  await retryLostRaces(async () => {
    const found = await findAnswer(job, token)
    if (!found || found.is_confirmed) return
    const { person, answer } = found
    const { before, definition } = answer
    const shown = { ...definition, wording_version: before.consent_version, content_hash: before.content_hash }
    const outcome = await decide(
      job,
      person,
      { ...answer, definition: shown },
      {
        status: 'given',
        at: job.now(),
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
  return confirmationOf(job, token, asked)
}
