import {
  isCurrentAnswer,
  languagesOf,
  type LatestAnswer,
  shownLanguage,
  stateOf,
} from '../../domain/consents/consents.ts'
import type { Language, TranslatedDict } from '../../domain/languages.ts'
import type { PersonAnswer } from '../consents/index.ts'
import type { ShownConsent } from './page.ts'
import type { ShownStatus } from './words.ts'

/** Legal bases on which the person may change the answer. */
const openBases: readonly string[] = ['consent', 'legitimate_interest']

/** Title, text and link, all in the language of the text where they have it. */
export function wordingIn(
  row: { title: TranslatedDict; text: TranslatedDict; link_url: TranslatedDict; name: string },
  asked: Language,
  defaultLanguage: Language,
): Pick<ShownConsent, 'title' | 'text' | 'link_url' | 'language'> {
  const language = shownLanguage(row.text, asked, defaultLanguage)
  const inLanguage = (texts: TranslatedDict): string =>
    texts[language] ?? texts[languagesOf(texts)[0] ?? language] ?? ''
  return {
    language,
    title: inLanguage(row.title) || row.name,
    text: row.text[language] ?? '',
    link_url: inLanguage(row.link_url),
  }
}

/** A request to confirm that expired counts as skipped. */
function shownStatusOf(latest: LatestAnswer | null, isCurrent: boolean, now: number): ShownStatus {
  const state = stateOf(latest, now)
  if (latest?.status === 'pending' && state !== 'pending') return 'skipped'
  return state === 'given' && !isCurrent ? 'outdated' : state
}

/** Null for an inactive consent that is not given: the person can do nothing with it. */
export function shownConsent(answer: PersonAnswer, language: Language, now: number): ShownConsent | null {
  const { definition, edition, before } = answer
  const status = shownStatusOf(before, isCurrentAnswer(before, definition, now), now)
  const isOver = !definition.is_active || edition?.is_archived
  if (isOver && status !== 'given') return null
  return {
    ...wordingIn(definition, language, edition?.default_language ?? 'en'),
    id: definition.id,
    edition_name: edition?.name ?? null,
    wording_version: definition.wording_version,
    status,
    since: status === 'none' ? null : (before?.occurred_at ?? null),
    until: before?.expires_at ?? null,
    is_open: openBases.includes(definition.legal_basis),
  }
}
