import {
  isCurrentAnswer,
  listLanguages,
  type LatestAnswer,
  chooseLanguage,
  getAnswerState,
} from '../../domain/consents/consents.ts'
import type { Language, TranslatedDict } from '../../domain/languages.ts'
import type { PersonAnswer } from '../consents/index.ts'
import type { PageConsent } from './page.ts'
import type { PageStatus } from './words.ts'

/** Legal bases on which the person may change the answer. */
const changeableBases: readonly string[] = ['consent', 'legitimate_interest']

/** Title, text and link, all in the language of the text where they have it. */
export function chooseWording(
  row: { title: TranslatedDict; text: TranslatedDict; link_url: TranslatedDict; name: string },
  asked: Language,
  defaultLanguage: Language,
): Pick<PageConsent, 'title' | 'text' | 'link_url' | 'language'> {
  const language = chooseLanguage(row.text, asked, defaultLanguage)
  const inLanguage = (texts: TranslatedDict): string =>
    texts[language] ?? texts[listLanguages(texts)[0] ?? language] ?? ''
  return {
    language,
    title: inLanguage(row.title) || row.name,
    text: row.text[language] ?? '',
    link_url: inLanguage(row.link_url),
  }
}

/** A request to confirm that expired counts as skipped. */
function getPageStatus(latest: LatestAnswer | null, isCurrent: boolean, now: number): PageStatus {
  const state = getAnswerState(latest, now)
  if (latest?.status === 'pending' && state !== 'pending') return 'skipped'
  return state === 'given' && !isCurrent ? 'outdated' : state
}

/** Null for an inactive consent that is not given: the person can do nothing with it. */
export function toPageConsent(answer: PersonAnswer, language: Language, now: number): PageConsent | null {
  const { definition, edition, before } = answer
  const status = getPageStatus(before, isCurrentAnswer(before, definition, now), now)
  const isOver = !definition.is_active || edition?.is_archived
  if (isOver && status !== 'given') return null
  return {
    ...chooseWording(definition, language, edition?.default_language ?? 'en'),
    id: definition.id,
    edition_name: edition?.name ?? null,
    wording_version: definition.wording_version,
    status,
    since: status === 'none' ? null : (before?.occurred_at ?? null),
    until: before?.expires_at ?? null,
    is_open: changeableBases.includes(definition.legal_basis),
  }
}
