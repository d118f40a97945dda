import type { LanguageCode } from './names'

/** A text for customers by language. */
export type Texts = Readonly<Record<string, string>>

/** Sets the text of a language. An empty one is removed. */
export function setText(texts: Texts, language: LanguageCode, text: string): Texts {
  const { [language]: _, ...others } = texts
  return text === '' ? others : { ...others, [language]: text }
}

const hasText = (texts: Texts, language: string): boolean => (texts[language] ?? '').trim() !== ''

/** The languages in which one of the texts is written, in the order of `languages`. */
export const listTextLanguages = (texts: readonly Texts[], languages: readonly LanguageCode[]): LanguageCode[] =>
  languages.filter((language) => texts.some((one) => hasText(one, language)))

/** True if the text is written in some language and not in this one. */
export const isMissing = (texts: Texts, language: LanguageCode): boolean =>
  !hasText(texts, language) && Object.keys(texts).some((other) => hasText(texts, other))
