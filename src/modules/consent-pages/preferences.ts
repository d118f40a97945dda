import { retryLostRaces } from '../../db/commit.ts'
import type { JobCtx } from '../../context.ts'
import { readPreferencesToken } from '../../domain/consents/consent-tokens.ts'
import type { Language } from '../../domain/languages.ts'
import { type DecidedAnswer, answersOfPerson, type PersonAnswer } from '../consents/index.ts'
import { suppressionReasonOf } from '../suppressions/index.ts'
import { type FormOutcome, type Preferences, type ShownConsent, shownIn } from './page.ts'
import { findPerson, type LinkedPerson } from './person.ts'
import { commitAnswers, decide, type Visit } from './record.ts'
import { shownConsent } from './shown.ts'

const preferencesSource = 'preferences_page'

/** The person of a link; null for a link that is forged, too old, or was sent to an address that is no longer theirs. */
export async function personOfLink(job: JobCtx, token: string): Promise<LinkedPerson | null> {
  const target = readPreferencesToken(job.config.linkSigningKey, token, job.now())
  return target && findPerson(job, target)
}

const shownOf = (answers: readonly PersonAnswer[], language: Language, now: number): ShownConsent[] =>
  answers.flatMap((answer) => shownConsent(answer, language, now) ?? [])

export async function preferencesOf(job: JobCtx, person: LinkedPerson, language: Language): Promise<Preferences> {
  const [answers, suppression] = await Promise.all([answersOfPerson(job, person), suppressionReasonOf(job, person)])
  const { organization_name, address } = person
  return { language, organization_name, address, suppression, consents: shownOf(answers, language, job.now()) }
}

/** The sent form of the page. */
export interface SentForm {
  shown: readonly string[]
  given: readonly string[]
}

interface Choice {
  id: string
  isWanted: boolean
}

/**
 * The changes that the person made on the page. Null when the page has changed since: a form that changes a consent which
 * the page does not have, or that agrees to a wording which has changed, saves nothing.
 */
function choicesIn({ shown, given }: SentForm, consents: readonly ShownConsent[]): Choice[] | null {
  const open = new Map(consents.filter(({ is_open }) => is_open).map((consent) => [consent.id, consent]))
  const sent = new Map(shown.flatMap((value) => shownIn(value) ?? []).map((one) => [one.id, one]))
  if (sent.size !== shown.length || given.some((id) => !sent.has(id))) return null
  const changed = [...sent.values()].filter(({ id, wasGiven }) => wasGiven !== given.includes(id))
  const choices = changed.map(({ id, wording_version }): Choice | null => {
    const consent = open.get(id)
    const isWanted = given.includes(id)
    const isSame = consent?.wording_version === wording_version
    return consent && (isSame || !isWanted) ? { id, isWanted } : null
  })
  return choices.every((choice) => choice !== null) ? choices : null
}

interface PreferencesRequest {
  person: LinkedPerson
  language: Language
  form: SentForm
  visit: Visit
}

async function attempt(job: JobCtx, { person, language, form, visit }: PreferencesRequest): Promise<FormOutcome> {
  const answers = await answersOfPerson(job, person)
  const now = job.now()
  const consents = shownOf(answers, language, now)
  const choices = choicesIn(form, consents)
  if (!choices) return 'stale'
  const made: DecidedAnswer[] = []
  for (const { id, isWanted } of choices) {
    const answer = answers.find(({ definition }) => definition.id === id)
    const consent = consents.find((one) => one.id === id)
    if (!answer || !consent) return 'stale'
    // Not given and not chosen: the consent was answered elsewhere meanwhile.
    if (!isWanted && consent.status !== 'given') continue
    const outcome = await decide(job, person, answer, {
      status: isWanted ? 'given' : 'withdrawn',
      at: now,
      method: 'checkbox',
      source: preferencesSource,
      language: consent.language,
      edition_id: answer.definition.edition_id,
      evidence: visit.evidence,
    })
    if (outcome.decision.kind === 'refused') return 'stale'
    if (outcome.decision.kind === 'changed') made.push(outcome)
  }
  if (made.length === 0) return 'unchanged'
  await commitAnswers(job, { person, visit }, answers, made)
  return 'saved'
}

/** Saves what was changed on the page: all of it, or nothing. Sent again, the same form changes nothing. */
export const savePreferences = (job: JobCtx, request: PreferencesRequest): Promise<FormOutcome> =>
  retryLostRaces(() => attempt(job, request))
