import type { Template } from '../email/compile.ts'
import { checkTemplate, describeRenderError, maxRenderedSmsLength, splitLiquid } from '../email/liquid/liquid.ts'
import { personalise, TooLarge } from '../email/personalise.ts'
import { buildSampleContext } from '../email/liquid/variables.ts'
import { fold } from '../text/fold.ts'
import { type FieldError, fieldError } from '../errors.ts'
import { type Language, languages, type TranslatedDict } from '../languages.ts'
import { type SmsSize, measureSms } from './sms-parts.ts'

/** The text before the unsubscribe link. It is short, because each part of an SMS costs money. */
const unsubscribeWords: Record<Language, string> = {
  en: 'Stop',
  da: 'Afmeld',
  se: 'Avsluta',
  nl: 'Stop',
  pl: 'Wypisz',
}

const link = /https?:\/\/[^\s<>"'{}]+/g
const punctuationAfterLink = /(?<![.,;:!?)\]])[.,;:!?)\]]+$/

const endsWithLink = (text: string): boolean => /https?:\/\//.test(text.split(/\s/).at(-1) ?? '')

/** Replaces links by tracked ones, and adds an unsubscribe link to a marketing message. */
export function buildTrackableSms(body: string, language: Language, isMarketing = true): Template {
  const links: string[] = []
  const replaceLinks = (text: string) =>
    text.replaceAll(link, (match) => {
      const tail = punctuationAfterLink.exec(match)?.[0] ?? ''
      const url = match.slice(0, match.length - tail.length)
      const existing = links.indexOf(url)
      const index = existing < 0 ? links.push(url) - 1 : existing
      return `{{ tracking.links[${index}] }}${tail}`
    })
  const pieces = splitLiquid(body)
  const text = pieces
    // A link that continues with Liquid is different for each recipient.
    .map(({ isLiquid, text: piece }, index) =>
      isLiquid || (pieces[index + 1]?.isLiquid && endsWithLink(piece)) ? piece : replaceLinks(piece),
    )
    .join('')
  const end =
    !isMarketing || /links\.unsubscribe/.test(body) ? '' : `\n${unsubscribeWords[language]}: {{ links.unsubscribe }}`
  return { subject: '', html: '', text: text.trimEnd() + end, links }
}

/** Sample links, about as long as real ones. */
const sampleLink = `https://events.example.com/t/c/${'x'.repeat(46)}`
const samplePreferences = `https://events.example.com/consents/${'x'.repeat(58)}`

/** The size of each text by language. A blank text has none. */
export type SmsSizes = Partial<Record<Language, SmsSize>>

/** Measures a text with sample values and links, or finds the fault that prevents sending. */
function measureText(body: string, language: Language): SmsSize | FieldError {
  const checked = checkTemplate(body, buildSampleContext(), { limit: maxRenderedSmsLength })
  if (!checked.ok) {
    const { code, detail, line, column } = checked.fault
    return { ...fieldError(['sms_body', language], code, detail), line, column }
  }
  const template = buildTrackableSms(body, language)
  const tracking = { links: template.links.map(() => sampleLink), pixel: '' }
  const context = {
    ...buildSampleContext(),
    links: { unsubscribe: sampleLink, preferences: samplePreferences, portal: '' },
    tracking,
  }
  try {
    return measureSms(personalise(template, context, maxRenderedSmsLength).text.trim())
  } catch (error) {
    const detail = error instanceof TooLarge ? error.message : describeRenderError(error)
    if (detail === null) throw error
    return { ...fieldError(['sms_body', language], 'template_too_large', detail), line: 1, column: 1 }
  }
}

/** Measures all texts and collects their faults. */
export function measureTexts(bodies: TranslatedDict): { sizes: SmsSizes; faults: FieldError[] } {
  const sizes: SmsSizes = {}
  const faults: FieldError[] = []
  for (const language of languages) {
    const body = bodies[language]
    if (body === undefined || body.trim() === '') continue
    const measured = measureText(body, language)
    if ('code' in measured) faults.push(measured)
    else sizes[language] = measured
  }
  return { sizes, faults }
}

const maxSenderLength = 11

/** Reduces a name to what phones show as sender: plain letters and digits. Returns null when no letter is left. */
export function toSmsSender(name: string): string | null {
  const plainLetters = [...name.normalize('NFC')].map((letter) => {
    const folded = fold(letter)
    return letter === letter.toLowerCase() ? folded : folded.slice(0, 1).toUpperCase() + folded.slice(1)
  })
  const sender = plainLetters
    .join('')
    .replaceAll(/[^A-Za-z0-9 ]/g, '')
    .trim()
    .slice(0, maxSenderLength)
    .trim()
  // Phones would show digits alone as a phone number.
  return /[A-Za-z]/.test(sender) ? sender : null
}
