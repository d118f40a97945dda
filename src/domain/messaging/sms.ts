import type { Contact } from '../accounts/users.ts'
import type { Template } from '../email/compile.ts'
import { checkTemplate, describeRenderError, maxRenderedSmsLength, splitLiquid } from '../email/liquid/liquid.ts'
import { buildCustomerValues, buildSampleContext, type TemplateContext } from '../email/liquid/variables.ts'
import { personalise, TooLarge } from '../email/personalise.ts'
import { type FieldError, fieldError } from '../errors.ts'
import { type Language, languages, type TranslatedDict } from '../languages.ts'
import { fold } from '../text/fold.ts'
import { listUcs2Characters, type SmsSize, measureSms } from './sms-parts.ts'

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
      const existingIndex = links.indexOf(url)
      const index = existingIndex < 0 ? links.push(url) - 1 : existingIndex
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

/** The size of each text by language. A blank text has none. */
export type SmsSizes = Partial<Record<Language, SmsSize & { ucs2_characters: string[] }>>

/** Sample values that the texts of a campaign are measured with. The links are as long as those that are sent. */
export interface SmsFrame {
  is_marketing: boolean
  /** Builds the values of the campaign in a language. */
  buildValues: (language: Language) => TemplateContext
  buildClickUrl: (link: number) => string
}

/** Prepares a text to be written for one customer after another. Without a customer it has sample values. */
function prepareSms(body: string, language: Language, frame: SmsFrame): (customer?: Contact) => string {
  const template = buildTrackableSms(body, language, frame.is_marketing)
  const tracking = { links: template.links.map((_, index) => frame.buildClickUrl(index)), pixel: '' }
  const context = { ...buildSampleContext(language), ...frame.buildValues(language), tracking }
  return (customer) => {
    const values = customer ? { ...context, customer: buildCustomerValues(customer, language) } : context
    return personalise(template, values, maxRenderedSmsLength).text.trim()
  }
}

const writeSms = (body: string, language: Language, frame: SmsFrame): string => prepareSms(body, language, frame)()

const describeFault = (error: unknown): string | null =>
  error instanceof TooLarge ? error.message : describeRenderError(error)

const listWritten = (bodies: TranslatedDict): { language: Language; body: string }[] =>
  languages.flatMap((language) => {
    const body = bodies[language]
    return body === undefined || body.trim() === '' ? [] : [{ language, body }]
  })

/** Measures all texts. One that becomes too long with the values of the campaign has no size. */
export function measureTexts(bodies: TranslatedDict, frame: SmsFrame): SmsSizes {
  const sizes: SmsSizes = {}
  for (const { language, body } of listWritten(bodies)) {
    try {
      const text = writeSms(body, language, frame)
      sizes[language] = { ...measureSms(text), ucs2_characters: listUcs2Characters(text) }
    } catch (error) {
      if (describeFault(error) === null) throw error
    }
  }
  return sizes
}

/** Prepares the count of the parts that a customer gets. A text that becomes too long is not sent and has none. */
export function preparePartCount(body: string, language: Language, frame: SmsFrame): (customer: Contact) => number {
  const write = prepareSms(body, language, frame)
  const count = (customer?: Contact): number => {
    try {
      return measureSms(write(customer)).parts
    } catch (error) {
      if (describeFault(error) === null) throw error
      return 0
    }
  }
  // Most texts are the same for all customers, and writing one takes longer than everything else.
  if (body.includes('customer')) return count
  const parts = count()
  return () => parts
}

const sampleFrame: SmsFrame = { is_marketing: false, buildValues: () => ({}), buildClickUrl: () => '' }

/** Finds the fault that prevents a text from being sent. */
function findTextFault(body: string, language: Language): FieldError | null {
  const path = ['sms_body', language]
  const checkResult = checkTemplate(body, buildSampleContext(), { limit: maxRenderedSmsLength })
  if (!checkResult.ok) {
    const { code, detail, line, column } = checkResult.fault
    return { ...fieldError(path, code, detail), line, column }
  }
  try {
    writeSms(body, language, sampleFrame)
    return null
  } catch (error) {
    const detail = describeFault(error)
    if (detail === null) throw error
    return { ...fieldError(path, 'template_too_large', detail), line: 1, column: 1 }
  }
}

/** Finds the faults of all texts. */
export const findSmsFaults = (bodies: TranslatedDict): FieldError[] =>
  listWritten(bodies).flatMap(({ language, body }) => findTextFault(body, language) ?? [])

const maxSenderLength = 11

/** Reduces a name to what phones show as sender: plain letters and digits. Returns null when no letter is left. */
export function toSmsSender(name: string): string | null {
  const plainLetters = [...name.normalize('NFC')].map((letter) => {
    const foldedLetter = fold(letter)
    return letter === letter.toLowerCase()
      ? foldedLetter
      : foldedLetter.slice(0, 1).toUpperCase() + foldedLetter.slice(1)
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
