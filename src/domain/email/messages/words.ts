import { type Language, languages, type TranslatedDict } from '../../languages.ts'
import { phrases, type Phrases } from './phrases.ts'

/** The language of a rendering, and its fallbacks where a message is complete in no language. */
export interface TextReader {
  language: Language
  defaultLanguage: Language
  phrases: Phrases
}

export const readerOf = (language: Language, defaultLanguage: Language): TextReader => ({
  language,
  defaultLanguage,
  phrases: phrases[language],
})

/** The language of a text: the recipient's, the default of its message, English, any; null when it has none. */
export const languageFor = (texts: TranslatedDict, { language, defaultLanguage }: TextReader): Language | null =>
  [language, defaultLanguage, 'en' as const, ...languages].find((candidate) => texts[candidate]?.trim()) ?? null

export function wordsOf(texts: TranslatedDict | undefined, reader: TextReader): string {
  const found = texts && languageFor(texts, reader)
  return found ? (texts[found] ?? '') : ''
}
