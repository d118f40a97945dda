import type { Template } from '../email/compile.ts'
import { checkTemplate, describeRenderError, maxRenderedSmsLength, splitLiquid } from '../email/liquid/liquid.ts'
import { personalise, TooLarge } from '../email/personalise.ts'
import { sampleContext } from '../email/liquid/variables.ts'
import { fold } from '../text/fold.ts'
import { type FieldError, fieldError } from '../errors.ts'
import { type Language, languages, type TranslatedDict } from '../languages.ts'
import { type SmsSize, smsSize } from './sms-parts.ts'

/** The text before the unsubscribe link, short because each part costs money. */
const wayOut: Record<Language, string> = {
  en: 'Stop',
  da: 'Afmeld',
  se: 'Avsluta',
  nl: 'Stop',
  pl: 'Wypisz',
}

const link = /https?:\/\/[^\s<>"'{}]+/g
const afterLink = /(?<![.,;:!?)\]])[.,;:!?)\]]+$/

const endsWithLink = (text: string): boolean => /https?:\/\//.test(text.split(/\s/).at(-1) ?? '')

/** The text with tracked links, and with an unsubscribe link at the end of a marketing message. */
export function trackableSms(body: string, language: Language, isMarketing = true): Template {
  const links: string[] = []
  const count = (text: string) =>
    text.replaceAll(link, (found) => {
      const tail = afterLink.exec(found)?.[0] ?? ''
      const url = found.slice(0, found.length - tail.length)
      const known = links.indexOf(url)
      const index = known < 0 ? links.push(url) - 1 : known
      return `{{ tracking.links[${index}] }}${tail}`
    })
  const pieces = splitLiquid(body)
  const text = pieces
    // A link that continues with Liquid is different for each recipient.
    .map(({ isLiquid, text: piece }, index) =>
      isLiquid || (pieces[index + 1]?.isLiquid && endsWithLink(piece)) ? piece : count(piece),
    )
    .join('')
  const end = !isMarketing || /links\.unsubscribe/.test(body) ? '' : `\n${wayOut[language]}: {{ links.unsubscribe }}`
  return { subject: '', html: '', text: text.trimEnd() + end, links }
}

/** Sample links, about as long as those that replace them. */
const sampleLink = `https://events.example.com/t/c/${'x'.repeat(46)}`
const samplePreferences = `https://events.example.com/consents/${'x'.repeat(58)}`

/** By language; texts of white space alone have none. */
export type SmsSizes = Partial<Record<Language, SmsSize>>

/** The size of a text with sample values and links, or the fault that prevents sending. */
function measure(body: string, language: Language): SmsSize | FieldError {
  const checked = checkTemplate(body, sampleContext(), { limit: maxRenderedSmsLength })
  if (!checked.ok) {
    const { code, detail, line, column } = checked.fault
    return { ...fieldError(['sms_body', language], code, detail), line, column }
  }
  const template = trackableSms(body, language)
  const tracking = { links: template.links.map(() => sampleLink), pixel: '' }
  const context = {
    ...sampleContext(),
    links: { unsubscribe: sampleLink, preferences: samplePreferences, portal: '' },
    tracking,
  }
  try {
    return smsSize(personalise(template, context, maxRenderedSmsLength).text.trim())
  } catch (error) {
    const detail = error instanceof TooLarge ? error.message : describeRenderError(error)
    if (detail === null) throw error
    return { ...fieldError(['sms_body', language], 'template_too_large', detail), line: 1, column: 1 }
  }
}

/** The sizes of all texts, or all their faults. */
export function measureAll(bodies: TranslatedDict): { sizes: SmsSizes; faults: FieldError[] } {
  const sizes: SmsSizes = {}
  const faults: FieldError[] = []
  for (const language of languages) {
    const body = bodies[language]
    if (body === undefined || body.trim() === '') continue
    const measured = measure(body, language)
    if ('code' in measured) faults.push(measured)
    else sizes[language] = measured
  }
  return { sizes, faults }
}

const maxSenderLength = 11

/** The part of a name that telephones show: plain letters and digits; null when no letter is left. */
export function senderNameOf(name: string): string | null {
  const plain = [...name.normalize('NFC')].map((letter) => {
    const folded = fold(letter)
    return letter === letter.toLowerCase() ? folded : folded.slice(0, 1).toUpperCase() + folded.slice(1)
  })
  const sender = plain
    .join('')
    .replaceAll(/[^A-Za-z0-9 ]/g, '')
    .trim()
    .slice(0, maxSenderLength)
    .trim()
  // Digits alone would be read as a number.
  return /[A-Za-z]/.test(sender) ? sender : null
}
