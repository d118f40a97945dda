import type { JobCtx } from '../../context.ts'
import { retryLostRaces } from '../../db/commit.ts'
import { readPreferencesToken } from '../../domain/consents/consent-tokens.ts'
import type { Language } from '../../domain/languages.ts'
import { type DecidedAnswer, listPersonAnswers, type PersonAnswer } from '../consents/index.ts'
import { findSuppressionReason } from '../suppressions/index.ts'
import { commitAnswers, decidePersonAnswer, type Visit } from './commit-answers.ts'
import { toPageConsent } from './page-consent.ts'
import { type FormOutcome, type Preferences, type PageConsent, parseShownValue } from './page.ts'
import { findPerson, type LinkedPerson } from './person.ts'

const preferencesSource = 'preferences_page'

/** Returns null for a link that is forged or expired, or was sent to an address that the person no longer has. */
export async function findLinkedPerson(job: JobCtx, token: string): Promise<LinkedPerson | null> {
  const target = readPreferencesToken(job.config.linkReadingKeys, token, job.now())
  return target && findPerson(job, target)
}

const listPageConsents = (answers: readonly PersonAnswer[], language: Language, now: number): PageConsent[] =>
  answers.flatMap((answer) => toPageConsent(answer, language, now) ?? [])

export async function loadPreferences(job: JobCtx, person: LinkedPerson, language: Language): Promise<Preferences> {
  const [answers, suppression] = await Promise.all([listPersonAnswers(job, person), findSuppressionReason(job, person)])
  const { organization_name, address } = person
  return { language, organization_name, address, suppression, consents: listPageConsents(answers, language, job.now()) }
}

/** The submitted form of the page. */
export interface SentForm {
  /** The consents that the page showed, with their state at that time. */
  shownValues: readonly string[]
  /** Ids of the consents that the person gives. */
  givenIds: readonly string[]
}

interface Choice {
  id: string
  isWanted: boolean
}

/**
 * Parses the changes that the person made on the page. Returns null when the page is out of date: the form changes a
 * consent that the page no longer has, or agrees to a wording that has changed since.
 */
function parseChoices({ shownValues, givenIds }: SentForm, consents: readonly PageConsent[]): Choice[] | null {
  const changeable = new Map(
    consents.filter(({ is_changeable }) => is_changeable).map((consent) => [consent.id, consent]),
  )
  const fields = new Map(shownValues.flatMap((value) => parseShownValue(value) ?? []).map((field) => [field.id, field]))
  if (fields.size !== shownValues.length || givenIds.some((id) => !fields.has(id))) return null
  const changedFields = [...fields.values()].filter(({ id, wasGiven }) => wasGiven !== givenIds.includes(id))
  const choices = changedFields.map(({ id, wording_version }): Choice | null => {
    const consent = changeable.get(id)
    const isWanted = givenIds.includes(id)
    const hasSameWording = consent?.wording_version === wording_version
    return consent && (hasSameWording || !isWanted) ? { id, isWanted } : null
  })
  return choices.every((choice) => choice !== null) ? choices : null
}

interface PreferencesRequest {
  person: LinkedPerson
  language: Language
  form: SentForm
  visit: Visit
}

async function trySave(job: JobCtx, { person, language, form, visit }: PreferencesRequest): Promise<FormOutcome> {
  const answers = await listPersonAnswers(job, person)
  const now = job.now()
  const consents = listPageConsents(answers, language, now)
  const choices = parseChoices(form, consents)
  if (!choices) return 'stale'
  const decisions: DecidedAnswer[] = []
  for (const { id, isWanted } of choices) {
    const answer = answers.find(({ definition }) => definition.id === id)
    const consent = consents.find((candidate) => candidate.id === id)
    if (!answer || !consent) return 'stale'
    // The person withdraws a consent that is no longer given: it was answered elsewhere meanwhile.
    if (!isWanted && consent.status !== 'given') continue
    const outcome = await decidePersonAnswer(job, person, answer, {
      status: isWanted ? 'given' : 'withdrawn',
      at: now,
      method: 'checkbox',
      source: preferencesSource,
      language: consent.language,
      edition_id: answer.definition.edition_id,
      evidence: visit.evidence,
    })
    if (outcome.decision.kind === 'refused') return 'stale'
    if (outcome.decision.kind === 'changed') decisions.push(outcome)
  }
  if (decisions.length === 0) return 'unchanged'
  await commitAnswers(job, { person, visit }, answers, decisions)
  return 'saved'
}

/** Saves all changes of the form, or none of them. Submitting the same form again changes nothing. */
export const savePreferences = (job: JobCtx, request: PreferencesRequest): Promise<FormOutcome> =>
  retryLostRaces(() => trySave(job, request))
