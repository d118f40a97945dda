import type { Schema } from '../api'
import { locale } from '../words'

export type LanguageCode = Schema['EditionDetail']['default_language']
export type CurrencyCode = Schema['SmsPrice']['currency']

/** The language of a code of the API, which writes Swedish as `se`. */
const tags: Record<LanguageCode, string> = { en: 'en', da: 'da', se: 'sv', nl: 'nl', pl: 'pl' }
export const languageCodes = Object.keys(tags) as LanguageCode[]

const currencies: Record<CurrencyCode, null> = {
  dkk: null,
  eur: null,
  gbp: null,
  nok: null,
  pln: null,
  sek: null,
  usd: null,
}
export const currencyCodes = Object.keys(currencies) as CurrencyCode[]

const languageNames = new Intl.DisplayNames(locale, { type: 'language' })
const currencyNames = new Intl.DisplayNames(locale, { type: 'currency' })

const capitalize = (text: string): string => text.charAt(0).toLocaleUpperCase(locale) + text.slice(1)

/** The name of a language of the API, or of any other tag. */
export const nameLanguage = (code: string): string =>
  capitalize(languageNames.of((tags as Readonly<Record<string, string>>)[code] ?? code) ?? code)
export const nameCurrency = (code: CurrencyCode): string =>
  `${code.toUpperCase()} · ${currencyNames.of(code.toUpperCase()) ?? code}`

/** The options of a `Select`. */
export const languageOptions = languageCodes.map((value) => ({ value, label: nameLanguage(value) }))
export const currencyOptions = currencyCodes.map((value) => ({ value, label: nameCurrency(value) }))
