import { dayMs } from '../time/instants.ts'
import { type Language, languages, type TranslatedDict } from '../languages.ts'
import { lifecycle } from '../lifecycle.ts'

export const consentTypes = ['marketing', 'terms', 'privacy', 'photo', 'data_sharing', 'custom'] as const

export const legalBases = ['consent', 'contract', 'legitimate_interest', 'legal_obligation'] as const
export type LegalBasis = (typeof legalBases)[number]

export const collectPoints = ['checkout', 'registration', 'user_portal'] as const
export type CollectPoint = (typeof collectPoints)[number]

export const maxConsentKeyLength = 64
export const maxConsentNameLength = 200
export const maxConsentTitleLength = 300
export const maxConsentTextLength = 10_000
export const maxConsentLinkLength = 500
export const maxExpiresAfterDays = 3650
export const maxEvidenceBytes = 2048
export const maxSourceLength = 64

/** How long a pending answer waits for its confirmation. */
const confirmationMs = 7 * dayMs

/**
 * The state of a person's answer to a definition; `none` before the first answer. A pending answer waits for its
 * confirmation and is no consent.
 */
export const answerLifecycle = lifecycle('none', {
  none: ['pending', 'given', 'skipped'],
  pending: ['given', 'skipped', 'withdrawn'],
  given: ['pending', 'withdrawn', 'expired'],
  skipped: ['pending', 'given'],
  withdrawn: ['pending', 'given'],
  expired: ['pending', 'given'],
})
export const answerStates = answerLifecycle.states
export type AnswerState = (typeof answerStates)[number]

/** The statuses of records. */
export type AnswerStatus = Exclude<AnswerState, 'none'>
export const answerStatuses = answerStates.filter((state) => state !== 'none') as [AnswerStatus, ...AnswerStatus[]]

/** Statuses that cause events and are counted: a pending answer is neither announced nor counted. */
export const settledStatuses = ['given', 'skipped', 'withdrawn', 'expired'] as const satisfies readonly AnswerStatus[]
export type SettledStatus = (typeof settledStatuses)[number]
export const isSettled = (status: AnswerStatus): status is SettledStatus => status !== 'pending'

/** The ways in which an answer is given. */
export const answerMethods = [
  'checkbox',
  'double_opt_in',
  'one_click_unsubscribe',
  'one_click_resubscribe',
  'preference_center',
  'admin',
  'api',
  'import',
  'expiry',
] as const
export type AnswerMethod = (typeof answerMethods)[number]

export const answerActions = ['give', 'skip', 'withdraw'] as const
export type AnswerAction = (typeof answerActions)[number]
export const statusOfAction = {
  give: 'given',
  skip: 'skipped',
  withdraw: 'withdrawn',
} as const satisfies Record<AnswerAction, SettledStatus>

/** The latest record of a person, as far as its state depends on it. */
export interface LatestAnswer {
  status: AnswerStatus
  /** Of the last answer before that was not pending. */
  previous_status: SettledStatus | null
  consent_version: number
  occurred_at: number
  expires_at: number | null
}

/** A definition, as far as answers depend on it. */
export interface AnswerRules {
  wording_version: number
  reconsent_on_change: boolean
  is_active: boolean
  is_required: boolean
}

/** The state at an instant, to the millisecond, whether or not a sweep has recorded that the answer is over. */
export function stateOf(answer: LatestAnswer | null, at: number): AnswerState {
  if (!answer) return 'none'
  const isOver = answer.expires_at !== null && answer.expires_at <= at
  if (answer.status === 'given') return isOver ? 'expired' : 'given'
  if (answer.status !== 'pending' || !isOver) return answer.status
  return stateAfterRequest(answer)
}

/** The state after a request that was not confirmed in time: the earlier answer holds; without one the consent is skipped. */
export const stateAfterRequest = ({ previous_status }: Pick<LatestAnswer, 'previous_status'>): SettledStatus =>
  previous_status === 'given' ? 'expired' : (previous_status ?? 'skipped')

const isOfEarlierWording = (
  answer: Pick<LatestAnswer, 'consent_version'>,
  rules: Pick<AnswerRules, 'reconsent_on_change' | 'wording_version'>,
): boolean => rules.reconsent_on_change && answer.consent_version < rules.wording_version

/** Whether the answer is a consent that counts at this instant. */
export const isCurrentAnswer = (answer: LatestAnswer | null, rules: AnswerRules, at: number): boolean =>
  answer !== null && stateOf(answer, at) === 'given' && !isOfEarlierWording(answer, rules)

type AnswerRefusal = 'invalid_transition' | 'consent_required' | 'consent_inactive' | 'before_last_answer'

export type AnswerDecision =
  | { kind: 'unchanged' }
  | { kind: 'refused'; reason: AnswerRefusal; state: AnswerState }
  /** The records to add, in their order: a consent that was over without a record of it is recorded as expired first. */
  | { kind: 'changed'; statuses: readonly AnswerStatus[] }

/** The effect of an answer that is given at an instant. */
export function decideAnswer(
  asked: { status: Exclude<AnswerStatus, 'expired'>; at: number },
  answer: LatestAnswer | null,
  rules: AnswerRules,
): AnswerDecision {
  const { status, at } = asked
  const state = stateOf(answer, at)
  const isRenewal = (state === 'given' || state === 'pending') && answer !== null && isOfEarlierWording(answer, rules)
  const isRepeated = status === state || (status === 'pending' && state === 'given')
  if (isRepeated && !isRenewal) return { kind: 'unchanged' }
  const refused = (reason: AnswerRefusal): AnswerDecision => ({ kind: 'refused', reason, state })
  if (answer !== null && at < answer.occurred_at) return refused('before_last_answer')
  if (!isRepeated && !answerLifecycle.allows(state, status)) return refused('invalid_transition')
  if (status !== 'withdrawn' && !rules.is_active) return refused('consent_inactive')
  if (status === 'skipped' && rules.is_required) return refused('consent_required')
  const isUnrecorded = answer?.status === 'given' && state === 'expired'
  return { kind: 'changed', statuses: isUnrecorded ? ['expired', status] : [status] }
}

/** The possible actions by the state alone; roles are checked elsewhere. */
export const allowedActions = (answer: LatestAnswer | null, rules: AnswerRules, at: number): AnswerAction[] =>
  answerActions.filter(
    (action) => decideAnswer({ status: statusOfAction[action], at }, answer, rules).kind === 'changed',
  )

/** The end of an answer; null for one that does not end by itself. */
export function answerEnd(status: AnswerStatus, at: number, expiresAfterDays: number | null): number | null {
  if (status === 'pending') return at + confirmationMs
  return status === 'given' && expiresAfterDays !== null ? at + expiresAfterDays * dayMs : null
}

/** The fields that people are shown. A change of any of them makes a version. */
export interface Wording {
  title: TranslatedDict
  text: TranslatedDict
  link_url: TranslatedDict
  legal_basis: LegalBasis
}

export const wordingFields = ['title', 'text', 'link_url', 'legal_basis'] as const satisfies readonly (keyof Wording)[]

export const languagesOf = (texts: TranslatedDict): Language[] =>
  languages.filter((language) => texts[language]?.trim())

/** The language in which the wording is shown: that of the person, the default one, else the first that it has. */
export const shownLanguage = (texts: TranslatedDict, asked: Language, defaultLanguage: Language): Language => {
  const known = languagesOf(texts)
  return [asked, defaultLanguage].find((language) => known.includes(language)) ?? known[0] ?? defaultLanguage
}
