export const languages = ['en', 'da', 'se', 'nl', 'pl'] as const
export type Language = (typeof languages)[number]

export const languageLabels: Record<Language, string> = {
  en: 'English',
  da: 'Danish',
  se: 'Swedish',
  nl: 'Dutch',
  pl: 'Polish',
}

/** The name of each language in that language. */
export const languageNames: Readonly<Record<Language, string>> = {
  en: 'English',
  da: 'Dansk',
  se: 'Svenska',
  nl: 'Nederlands',
  pl: 'Polski',
}

/** In this API `se` is Swedish. In BCP 47 Swedish is `sv`, and `se` is Northern Sami. */
export const toBcp47 = (language: Language): string => (language === 'se' ? 'sv' : language)

/**
 * The language of a tag of BCP 47, POSIX or HTTP: `sv-SE` and `sv_SE.UTF-8` are `se`. Null: the service does not support
 * the language.
 */
export function parseLanguage(tag: string): Language | null {
  const primary = tag
    .trim()
    .toLowerCase()
    .split(/[-_.,;@]/)[0]
  return languages.find((language) => language === primary || toBcp47(language) === primary) ?? null
}

export type TranslatedDict = Partial<Record<Language, string>>
