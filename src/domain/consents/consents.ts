import { type Language, languages, type TranslatedDict } from '../languages.ts'
import { lifecycle } from '../lifecycle.ts'
import { dayMs } from '../time/instants.ts'

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
export const maxAnswerSourceLength = 64

/** A pending answer can be confirmed for this long. */
const confirmationMs = 7 * dayMs

/**
 * The states of a person's answer to a definition. `none` is the state before the first answer. `pending` waits for the
 * person's confirmation and does not count as a consent.
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

/** The statuses that a record can have. */
export type AnswerStatus = Exclude<AnswerState, 'none'>
export const answerStatuses = answerStates.filter((state) => state !== 'none') as [AnswerStatus, ...AnswerStatus[]]

/** Statuses of answers that are in effect: they are counted and announced by events. A pending answer is neither. */
export const effectiveStatuses = ['given', 'skipped', 'withdrawn', 'expired'] as const satisfies readonly AnswerStatus[]
export type EffectiveStatus = (typeof effectiveStatuses)[number]
export const isEffective = (status: AnswerStatus): status is EffectiveStatus => status !== 'pending'

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

/** The ways in which a person gives a consent by an act of their own. */
export const personalMethods: readonly AnswerMethod[] = [
  'checkbox',
  'double_opt_in',
  'preference_center',
  'one_click_resubscribe',
]

export const answerActions = ['give', 'skip', 'withdraw'] as const
export type AnswerAction = (typeof answerActions)[number]
export const statusByAction = {
  give: 'given',
  skip: 'skipped',
  withdraw: 'withdrawn',
} as const satisfies Record<AnswerAction, EffectiveStatus>

/** The fields of a person's latest record that decide its state. */
export interface LatestAnswer {
  status: AnswerStatus
  /** The status of the last earlier answer that was not pending. */
  previous_status: EffectiveStatus | null
  consent_version: number
  occurred_at: number
  expires_at: number | null
}

/** The fields of a definition that decide what an answer changes. */
export interface AnswerRules {
  wording_version: number
  reconsent_on_change: boolean
  is_active: boolean
  is_required: boolean
}

/** Gets the state at an instant, to the millisecond. It does not depend on the sweep that records expiries. */
export function getAnswerState(answer: LatestAnswer | null, at: number): AnswerState {
  if (!answer) return 'none'
  const hasEnded = answer.expires_at !== null && answer.expires_at <= at
  if (answer.status === 'given') return hasEnded ? 'expired' : 'given'
  if (answer.status !== 'pending' || !hasEnded) return answer.status
  return getStateAfterRequest(answer)
}

/** A request that was not confirmed in time leaves the earlier answer. Without one the consent is skipped. */
export const getStateAfterRequest = ({ previous_status }: Pick<LatestAnswer, 'previous_status'>): EffectiveStatus =>
  previous_status === 'given' ? 'expired' : (previous_status ?? 'skipped')

const answersEarlierWording = (
  answer: Pick<LatestAnswer, 'consent_version'>,
  rules: Pick<AnswerRules, 'reconsent_on_change' | 'wording_version'>,
): boolean => rules.reconsent_on_change && answer.consent_version < rules.wording_version

/** True if the answer is a consent that counts at an instant. */
export const isCurrentAnswer = (answer: LatestAnswer | null, rules: AnswerRules, at: number): boolean =>
  answer !== null && getAnswerState(answer, at) === 'given' && !answersEarlierWording(answer, rules)

type AnswerRefusal = 'invalid_transition' | 'consent_required' | 'consent_inactive' | 'before_last_answer'

export type AnswerDecision =
  | { kind: 'unchanged' }
  | { kind: 'refused'; reason: AnswerRefusal; state: AnswerState }
  /** The statuses of the records to add. A consent that ended without a record is first recorded as expired. */
  | { kind: 'changed'; statuses: readonly AnswerStatus[] }

/** Decides what an answer changes. */
export function decideAnswer(
  request: {
    status: Exclude<AnswerStatus, 'expired'>
    at: number
    /** True if a consent that is given is asked for again, because it has no effect. */
    asks_again?: boolean
  },
  answer: LatestAnswer | null,
  rules: AnswerRules,
): AnswerDecision {
  const { status, at } = request
  const state = getAnswerState(answer, at)
  const isOutdated =
    (state === 'given' || state === 'pending') && answer !== null && answersEarlierWording(answer, rules)
  const isRenewal = isOutdated || (state === 'given' && request.asks_again === true)
  const isRepeated = status === state || (status === 'pending' && state === 'given')
  if (isRepeated && !isRenewal) return { kind: 'unchanged' }
  const refuse = (reason: AnswerRefusal): AnswerDecision => ({ kind: 'refused', reason, state })
  if (answer !== null && at < answer.occurred_at) return refuse('before_last_answer')
  if (!isRepeated && !answerLifecycle.allows(state, status)) return refuse('invalid_transition')
  if (status !== 'withdrawn' && !rules.is_active) return refuse('consent_inactive')
  if (status === 'skipped' && rules.is_required) return refuse('consent_required')
  const isUnrecorded = answer?.status === 'given' && state === 'expired'
  return { kind: 'changed', statuses: isUnrecorded ? ['expired', status] : [status] }
}

/** Lists the actions that would change something now. Roles are checked elsewhere. */
export const listAnswerActions = (answer: LatestAnswer | null, rules: AnswerRules, at: number): AnswerAction[] =>
  answerActions.filter(
    (action) => decideAnswer({ status: statusByAction[action], at }, answer, rules).kind === 'changed',
  )

/** Returns null for an answer that does not end by itself. */
export function computeAnswerEnd(status: AnswerStatus, at: number, expiresAfterDays: number | null): number | null {
  if (status === 'pending') return at + confirmationMs
  return status === 'given' && expiresAfterDays !== null ? at + expiresAfterDays * dayMs : null
}

/** The fields that people see. Changing one of them makes a new version. */
export interface Wording {
  title: TranslatedDict
  text: TranslatedDict
  link_url: TranslatedDict
  legal_basis: LegalBasis
}

export const wordingFields = ['title', 'text', 'link_url', 'legal_basis'] as const satisfies readonly (keyof Wording)[]

export const listLanguages = (texts: TranslatedDict): Language[] =>
  languages.filter((language) => texts[language]?.trim())

/** Chooses the person's language, else the default language, else the first that the texts have. */
export const chooseLanguage = (
  texts: TranslatedDict,
  personLanguage: Language,
  defaultLanguage: Language,
): Language => {
  const availableLanguages = listLanguages(texts)
  const preferredLanguage = [personLanguage, defaultLanguage].find((language) => availableLanguages.includes(language))
  return preferredLanguage ?? availableLanguages[0] ?? defaultLanguage
}

/** A wording in one language. */
export interface LocalWording {
  title: string
  text: string
  link_url: string
  /** The language of the text. */
  language: Language
}

/** Chooses the language by the text. Title and link fall back to another language when they lack it. */
export function chooseWording(
  row: { title: TranslatedDict; text: TranslatedDict; link_url: TranslatedDict; name: string },
  personLanguage: Language,
  defaultLanguage: Language,
): LocalWording {
  const language = chooseLanguage(row.text, personLanguage, defaultLanguage)
  const getText = (texts: TranslatedDict): string => texts[language] ?? texts[listLanguages(texts)[0] ?? language] ?? ''
  return {
    language,
    title: getText(row.title) || row.name,
    text: row.text[language] ?? '',
    link_url: getText(row.link_url),
  }
}
