import { isCurrentAnswer, type LatestAnswer, chooseWording, getAnswerState } from '../../domain/consents/consents.ts'
import type { Language } from '../../domain/languages.ts'
import type { PersonAnswer } from '../consents/index.ts'
import type { PageConsent } from './page.ts'
import type { PageStatus } from './words.ts'

/** Legal bases on which the person may change the answer. */
const changeableBases: readonly string[] = ['consent', 'legitimate_interest']

/** A request that was not confirmed in time counts as skipped. */
function getPageStatus(latestAnswer: LatestAnswer | null, isCurrent: boolean, now: number): PageStatus {
  const state = getAnswerState(latestAnswer, now)
  if (latestAnswer?.status === 'pending' && state !== 'pending') return 'skipped'
  return state === 'given' && !isCurrent ? 'outdated' : state
}

/** Returns null for an inactive consent that is not given, because the person can do nothing with it. */
export function toPageConsent(answer: PersonAnswer, language: Language, now: number): PageConsent | null {
  const { definition, edition, before } = answer
  const status = getPageStatus(before, isCurrentAnswer(before, definition, now), now)
  const isClosed = !definition.is_active || edition?.is_archived
  if (isClosed && status !== 'given') return null
  return {
    ...chooseWording(definition, language, edition?.default_language ?? 'en'),
    id: definition.id,
    edition_name: edition?.name ?? null,
    wording_version: definition.wording_version,
    status,
    since: status === 'none' ? null : (before?.occurred_at ?? null),
    until: before?.expires_at ?? null,
    email_waits: answer.email_waits,
    is_changeable: changeableBases.includes(definition.legal_basis),
  }
}
