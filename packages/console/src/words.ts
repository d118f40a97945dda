import type { Plural } from './plural'
import type { Words } from './words/en'

export const languages = { en: 'English', da: 'Dansk', sv: 'Svenska', nl: 'Nederlands', pl: 'Polski' } as const
export type Language = keyof typeof languages

const key = 'ecm-language'
const isLanguage = (text: string | null): text is Language => text !== null && Object.hasOwn(languages, text)

function chooseLanguage(): Language {
  const stored = localStorage.getItem(key)
  if (isLanguage(stored)) return stored
  return navigator.languages.map((tag) => tag.slice(0, 2)).find(isLanguage) ?? 'en'
}
export const language = chooseLanguage()

type Group = keyof Words

const files = import.meta.glob<Partial<Words>>('./words/*/*.ts')

const toFileName = (group: Group): string => group.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Loads the texts of a group of pages in the language of the person. Another language and other groups are not loaded. */
export async function loadWords<Name extends Group>(group: Name): Promise<Words[Name]> {
  const load = files[`./words/${language}/${toFileName(group)}.ts`]
  const texts = (await load?.())?.[group]
  if (texts === undefined) throw new Error(`There are no texts of ${group} in ${language}.`)
  return texts
}

/** Texts that all pages share. */
export const words: Pick<Words, 'common' | 'states'> = {
  common: await loadWords('common'),
  states: await loadWords('states'),
}
document.documentElement.lang = language

/** The language with the region of the browser, which decides how dates and numbers are written. */
export const locale = navigator.languages.find((tag) => tag.startsWith(language)) ?? language

export function changeLanguage(to: Language): void {
  localStorage.setItem(key, to)
  location.reload()
}

const rules = new Intl.PluralRules(language)

/** Chooses the form for the number and writes the number into it. */
export const plural = (count: number, forms: Plural): string =>
  (forms[rules.select(count)] ?? forms.other).replace('#', () => formatCount(count))

/** Writes values into a text: `{name}` stands for `values.name`. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place)

export const formatCount = (count: number): string => count.toLocaleString(locale)
/** `share` is between 0 and 1. */
export const formatPercent = (share: number): string =>
  new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }).format(share)
/** `amount` is in units of the currency, such as kroner. */
export const formatMoney = (amount: number, currency: string): string =>
  new Intl.NumberFormat(locale, { style: 'currency', currency: currency.toUpperCase() }).format(amount)
/** `at` is an instant in ISO 8601. */
export const formatTime = (at: string, timeZone?: string): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(new Date(at))
export const formatDate = (at: string, timeZone?: string): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone }).format(new Date(at))
/** Writes how long ago or ahead an instant is, such as "3 minutes ago". */
export function formatAge(at: string, now = Date.now()): string {
  const seconds = Math.round((new Date(at).getTime() - now) / 1000)
  const units = [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
    ['second', 1],
  ] as const
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(Math.round(seconds / size), unit)
}
export const formatBytes = (bytes: number): string => {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const
  const power = bytes === 0 ? 0 : Math.min(3, Math.floor(Math.log10(bytes) / 3))
  const unit = units[power] ?? 'byte'
  const options = { style: 'unit', unit, maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(locale, options).format(bytes / 1000 ** power)
}

/** Writes a length of time in one unit, such as "12 minutes". */
export function formatDuration(seconds: number): string {
  const [unit, size] =
    seconds < 90 ? (['second', 1] as const) : seconds < 5400 ? (['minute', 60] as const) : (['hour', 3600] as const)
  const digits = unit === 'hour' ? 1 : 0
  const options = { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: digits } as const
  return new Intl.NumberFormat(locale, options).format(seconds / size)
}
