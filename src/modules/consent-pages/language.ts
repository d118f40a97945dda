import { type Language, languageOf, languages } from '../../domain/languages.ts'

/** The language that a page is asked for in; null for none of ours. */
export function languageIn(asked: string | undefined): Language | null
/** The same, else the person's, else English. */
export function languageIn(asked: string | undefined, locale: string): Language
export function languageIn(asked: string | undefined, locale?: string): Language | null {
  const found = languages.find((one) => one === asked) ?? null
  return locale === undefined ? found : (found ?? languageOf(locale) ?? 'en')
}
