import { maxParsedLength } from '../../import-cells.ts'
import { parseLanguage, type Language } from '../../../languages.ts'
import { plainWord } from './words.ts'

const names: Readonly<Record<Language, readonly string[]>> = {
  en: ['english', 'engelsk', 'englisch', 'engelska', 'engels', 'angielski', 'eng'],
  da: ['danish', 'dansk', 'danisch', 'danska', 'deens', 'dunski', 'dan', 'dk'],
  se: ['swedish', 'svensk', 'schwedisch', 'svenska', 'zweeds', 'szwedzki', 'swe'],
  nl: [
    'dutch',
    'hollandsk',
    'nederlandsk',
    'niederlandisch',
    'nederlands',
    'nederlandska',
    'niderlandzki',
    'holenderski',
    'nld',
  ],
  pl: ['polish', 'polsk', 'polnisch', 'polska', 'pools', 'polski', 'pol'],
}

/** Languages in files that this API does not support. */
const others = /^(?:de|no|nb|nn|fi|fr|es|it|pt|is|cs|sk|hu|lt|lv|et|uk|ru|ro|tr|ar|zh|ja)(?:[-_]\w+(?:-\w+)*)?$/

/** The language of a cell; `other` for an unsupported one, null for another text. */
export function readLanguage(text: string): Language | 'other' | null {
  if (text.length > maxParsedLength) return null
  const word = plainWord(text).replaceAll(' ', '-')
  const named = (Object.keys(names) as Language[]).find((language) => names[language].includes(word))
  if (named) return named
  const isTag = /^[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*$/.test(word)
  return (isTag ? parseLanguage(word) : null) ?? (others.test(word) ? 'other' : null)
}
