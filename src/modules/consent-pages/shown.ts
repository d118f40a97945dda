import {
  isCurrentAnswer,
  languagesOf,
  type LatestAnswer,
  shownLanguage,
  stateOf,
} from '../../domain/consents/consents.ts'
import type { Language, TranslatedDict } from '../../domain/languages.ts'
import { asLatest, type PersonAnswer } from '../consents/index.ts'
import type { ShownConsent } from './page.ts'
import type { ShownStatus } from './words.ts'

/** Legal bases on which a person decides; on the others nothing here has a say. */
const openBases: readonly string[] = ['consent', 'legitimate_interest']

const dictOf = (json: string): TranslatedDict => JSON.parse(json) as TranslatedDict

/** Title, text and link in the language of the text, so that what is agreed to is in one language. */
export function wordingIn(
  row: { title: string; text: string; link_url: string; name: string },
  asked: Language,
  defaultLanguage: Language,
): Pick<ShownConsent, 'title' | 'text' | 'link_url' | 'language'> {
  const texts = dictOf(row.text)
  const language = shownLanguage(texts, asked, defaultLanguage)
  const inLanguage = (json: string): string => {
    const dict = dictOf(json)
    return dict[language] ?? dict[languagesOf(dict)[0] ?? language] ?? ''
  }
  return {
    language,
    title: inLanguage(row.title) || row.name,
    text: texts[language] ?? '',
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
  const latest = asLatest(before)
  const standing = shownStatusOf(latest, isCurrentAnswer(latest, definition, now), now)
  const isOver = definition.is_active === 0 || edition?.is_archived === 1
  if (isOver && standing !== 'given') return null
  return {
    ...wordingIn(definition, language, edition?.default_language ?? 'en'),
    id: definition.id,
    edition_name: edition?.name ?? null,
    wording_version: definition.wording_version,
    standing,
    since: standing === 'none' ? null : (before?.occurred_at ?? null),
    until: before?.expires_at ?? null,
    is_open: openBases.includes(definition.legal_basis),
  }
}
