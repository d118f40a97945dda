export const languages = ['en', 'da', 'se', 'nl', 'pl'] as const
export type Language = (typeof languages)[number]

export const languageLabels: Record<Language, string> = {
  en: 'English',
  da: 'Danish',
  se: 'Swedish',
  nl: 'Dutch',
  pl: 'Polish',
}

/** `se` means Swedish here; everywhere else (Intl, HTML `lang`) Swedish is `sv` and `se` is Northern Sami. */
export const toBcp47 = (language: Language): string => (language === 'se' ? 'sv' : language)

/** The language of a BCP 47 tag (`sv-SE` is `se`), or null when it is none of ours. */
export function parseLanguage(tag: string): Language | null {
  const primary = tag.trim().toLowerCase().split(/[-_]/)[0]
  return languages.find((language) => language === primary || toBcp47(language) === primary) ?? null
}

export type TranslatedDict = Partial<Record<Language, string>>
