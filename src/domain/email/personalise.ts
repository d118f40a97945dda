import { utf8 } from '../text/encoding.ts'
import type { TextPieces } from '../text/json-pieces.ts'
import { Budget, maxRenderedLength } from './budget.ts'
import type { Template } from './compile.ts'
import { filtersWhenSent, type Output, type Parsed, parse, render } from './liquid/liquid.ts'
import { maxListItems } from './liquid/liquid-bounds.ts'
import { isSafeAddress } from './blocks/urls.ts'
import { addressNames, type TemplateContext } from './liquid/variables.ts'

export interface Personalised {
  subject: string
  html: string
  text: string
}

/** With the HTML in pieces too, of which most are in the messages of other recipients. */
interface PersonalisedInPieces extends Personalised {
  htmlPieces: TextPieces
}

interface ParsedTemplate {
  subject: Parsed[]
  html: Parsed[]
  text: Parsed[]
}

/** Parsed templates are cached in the isolate: by the object, and by its content for those read anew. */
const byIdentity = new WeakMap<Template, ParsedTemplate>()
const byContent = new Map<string, { template: Template; parsed: ParsedTemplate }>()
const kept = 32

function parsedOf(template: Template): ParsedTemplate {
  const known = byIdentity.get(template)
  if (known) return known
  const same = byContent.get(template.html)
  const parsed =
    same && same.template.subject === template.subject && same.template.text === template.text
      ? same.parsed
      : {
          subject: parse('text', template.subject),
          html: parse('html', template.html),
          text: parse('text', template.text),
        }
  byContent.delete(template.html)
  byContent.set(template.html, { template, parsed })
  for (const oldest of byContent.keys()) {
    if (byContent.size <= kept) break
    byContent.delete(oldest)
  }
  byIdentity.set(template, parsed)
  return parsed
}

/** Links may lead to web pages, mail and telephone numbers only. Lists have at most the length that templates allow. */
export function admitted(context: TemplateContext): TemplateContext {
  const given = context as Record<string, Record<string, unknown>>
  let result = given
  const change = (category: string, values: Record<string, unknown>) => {
    result = { ...result, [category]: { ...result[category], ...values } }
  }
  for (const { category, name } of addressNames) {
    const value = given[category]?.[name]
    if (value !== undefined && value !== null && value !== '' && !isSafeAddress(value)) change(category, { [name]: '' })
  }
  const items: unknown = context.order?.items
  // A preview has values of the caller: loops would go through all keys of an object.
  if (items && !Array.isArray(items)) change('order', { items: [] })
  if (Array.isArray(items) && items.length > maxListItems)
    change('order', {
      items: items.slice(0, maxListItems),
      more_items_count: items.length - maxListItems + Number(context.order?.more_items_count ?? 0),
    })
  return result
}

const maxSubject = 400
const maxSubjectRead = 10 * maxSubject

/** One line without control characters: it becomes part of a mail header. */
const headerText = (text: string): string => {
  const start = text.trimStart().slice(0, maxSubjectRead)
  return [...start.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()].slice(0, maxSubject).join('')
}

/** Of HTML and text together: what is about to go out is kept in a row, and a row of the database has 2 MB. */
const maxMessageBytes = 1_500_000
const mostBytesOfCharacter = 3

export class TooLarge extends Error {
  override name = 'TooLarge'
}

function checkSize(most: number, ...texts: string[]): void {
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  if (characters * mostBytesOfCharacter <= most) return
  if (texts.reduce((sum, text) => sum + utf8(text).length, 0) > most)
    throw new TooLarge(`The message would be larger than ${most} bytes.`)
}

/**
 * The message for one recipient. Throws as soon as the values make more of it than `most` characters, and when it is
 * larger than a message may be.
 */
export function personaliseInPieces(
  template: Template,
  context: TemplateContext,
  most = maxRenderedLength,
): PersonalisedInPieces {
  const parsed = parsedOf(template)
  const values = admitted(context)
  const length = new Budget(most)
  const rendered = (output: Output, of: Parsed[]) => render(output, of, values, { length, filters: filtersWhenSent() })
  const html = rendered('html', parsed.html)
  const { text } = rendered('text', parsed.text)
  const subject = headerText(rendered('text', parsed.subject).text)
  checkSize(Math.min(most, maxMessageBytes), html.text, text)
  return {
    subject,
    html: html.text,
    htmlPieces: html.pieces,
    text: text.replaceAll(/\n{3,}/g, '\n\n'),
  }
}

export function personalise(template: Template, context: TemplateContext, most?: number): Personalised {
  const { subject, html, text } = personaliseInPieces(template, context, most)
  return { subject, html, text }
}
