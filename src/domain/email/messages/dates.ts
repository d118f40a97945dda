import { toBcp47, type Language } from '../../languages.ts'

/** A day, or a minute of it, in the words of the language; empty for no instant. */
export function dateText(at: number | null, language: Language, timeZone: string, style: 'day' | 'minute'): string {
  if (at === null) return ''
  const time = style === 'minute' ? ({ timeStyle: 'short' } as const) : {}
  return new Intl.DateTimeFormat(toBcp47(language), { dateStyle: 'long', ...time, timeZone }).format(at)
}
