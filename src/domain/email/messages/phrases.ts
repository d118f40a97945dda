import { type Language, languages, toBcp47, type TranslatedDict } from '../../languages.ts'
import type { Network } from '../blocks/blocks.ts'

/** The service's own texts in messages. `%n` is a number, also 1. */
export const phrases = {
  en: {
    item: 'Item',
    quantity: 'Qty',
    amount: 'Amount',
    more: 'Further lines: %n',
    subtotal: 'Subtotal',
    deposit: 'Deposit',
    handling_fee: 'Handling fee',
    service_fee: 'Service fee',
    discount: 'Discount',
    tax: 'Including tax',
    total: 'Total',
    unsubscribe: 'Unsubscribe',
    website: 'Website',
  },
  da: {
    item: 'Vare',
    quantity: 'Antal',
    amount: 'Beløb',
    more: 'Yderligere linjer: %n',
    subtotal: 'Subtotal',
    deposit: 'Depositum',
    handling_fee: 'Håndteringsgebyr',
    service_fee: 'Servicegebyr',
    discount: 'Rabat',
    tax: 'Heraf moms',
    total: 'I alt',
    unsubscribe: 'Afmeld',
    website: 'Hjemmeside',
  },
  se: {
    item: 'Artikel',
    quantity: 'Antal',
    amount: 'Belopp',
    more: 'Ytterligare rader: %n',
    subtotal: 'Delsumma',
    deposit: 'Deposition',
    handling_fee: 'Hanteringsavgift',
    service_fee: 'Serviceavgift',
    discount: 'Rabatt',
    tax: 'Varav moms',
    total: 'Totalt',
    unsubscribe: 'Avsluta prenumerationen',
    website: 'Webbplats',
  },
  nl: {
    item: 'Artikel',
    quantity: 'Aantal',
    amount: 'Bedrag',
    more: 'Overige regels: %n',
    subtotal: 'Subtotaal',
    deposit: 'Borg',
    handling_fee: 'Behandelingskosten',
    service_fee: 'Servicekosten',
    discount: 'Korting',
    tax: 'Inclusief btw',
    total: 'Totaal',
    unsubscribe: 'Afmelden',
    website: 'Website',
  },
  pl: {
    item: 'Pozycja',
    quantity: 'Ilość',
    amount: 'Kwota',
    more: 'Pozostałe pozycje: %n',
    subtotal: 'Suma częściowa',
    deposit: 'Kaucja',
    handling_fee: 'Opłata manipulacyjna',
    service_fee: 'Opłata serwisowa',
    discount: 'Rabat',
    tax: 'W tym podatek',
    total: 'Razem',
    unsubscribe: 'Wypisz się',
    website: 'Strona internetowa',
  },
} as const satisfies Record<Language, Record<string, string>>

export type Phrases = (typeof phrases)[Language]

const networkNames: Record<Exclude<Network, 'website'>, string> = {
  facebook: 'Facebook',
  instagram: 'Instagram',
  x: 'X',
  linkedin: 'LinkedIn',
  youtube: 'YouTube',
  tiktok: 'TikTok',
  spotify: 'Spotify',
}

export const getNetworkName = (network: Network, { website }: Phrases): string =>
  network === 'website' ? website : networkNames[network]

/** The language in which a message is rendered, and the language for texts that are missing in it. */
export interface TextReader {
  language: Language
  defaultLanguage: Language
  phrases: Phrases
}

export const buildReader = (language: Language, defaultLanguage: Language): TextReader => ({
  language,
  defaultLanguage,
  phrases: phrases[language],
})

/** Tries the reader's language, the default language, English, then any other. Null: the text is empty in all. */
export const pickLanguage = (texts: TranslatedDict, { language, defaultLanguage }: TextReader): Language | null =>
  [language, defaultLanguage, 'en' as const, ...languages].find((candidate) => texts[candidate]?.trim()) ?? null

export function readTranslation(texts: TranslatedDict | undefined, reader: TextReader): string {
  const language = texts && pickLanguage(texts, reader)
  return language ? (texts[language] ?? '') : ''
}

/** A date, with the time of day for `minute`, in the format of the language; empty for null. */
export function formatDate(at: number | null, language: Language, timeZone: string, style: 'day' | 'minute'): string {
  if (at === null) return ''
  const time = style === 'minute' ? ({ timeStyle: 'short' } as const) : {}
  return new Intl.DateTimeFormat(toBcp47(language), { dateStyle: 'long', ...time, timeZone }).format(at)
}
