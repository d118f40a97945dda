import { type Language, parseLanguage, languages } from '../../domain/languages.ts'

/** The requested language of a page; null for one that has no texts. */
export function languageIn(asked: string | undefined): Language | null
/** The same, else the person's, else English. */
export function languageIn(asked: string | undefined, locale: string): Language
export function languageIn(asked: string | undefined, locale?: string): Language | null {
  const found = languages.find((one) => one === asked) ?? null
  return locale === undefined ? found : (found ?? parseLanguage(locale) ?? 'en')
}
