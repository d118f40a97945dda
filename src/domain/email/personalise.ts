import { utf8 } from '../text/encoding.ts'
import { isSafeAddress } from './blocks/urls.ts'
import type { Template } from './compile.ts'
import { maxListItems } from './liquid/liquid-bounds.ts'
import { maxRenderedLength, type Parsed, parseLiquid, renderLiquid } from './liquid/liquid.ts'
import { addressNames, type TemplateContext } from './liquid/variables.ts'

export interface Personalised {
  subject: string
  html: string
  text: string
}

interface ParsedTemplate {
  subject: Parsed[]
  html: Parsed[]
  text: Parsed[]
}

/** An isolate caches parsed templates by object, and by content for templates that are read from the database again. */
const byIdentity = new WeakMap<Template, ParsedTemplate>()
const byContent = new Map<string, { template: Template; parsedTemplate: ParsedTemplate }>()
const maxCached = 32

function parseTemplate(template: Template): ParsedTemplate {
  const cachedTemplate = byIdentity.get(template)
  if (cachedTemplate) return cachedTemplate
  const cacheEntry = byContent.get(template.html)
  const parsedTemplate =
    cacheEntry && cacheEntry.template.subject === template.subject && cacheEntry.template.text === template.text
      ? cacheEntry.parsedTemplate
      : {
          subject: parseLiquid('text', template.subject),
          html: parseLiquid('html', template.html),
          text: parseLiquid('text', template.text),
        }
  byContent.delete(template.html)
  byContent.set(template.html, { template, parsedTemplate: parsedTemplate })
  for (const oldestHtml of byContent.keys()) {
    if (byContent.size <= maxCached) break
    byContent.delete(oldestHtml)
  }
  byIdentity.set(template, parsedTemplate)
  return parsedTemplate
}

/** Empties links that lead anywhere but to web pages, mail and telephone numbers, and cuts lists to their maximum. */
export function limitValues(context: TemplateContext): TemplateContext {
  const values = context as Record<string, Record<string, unknown>>
  let result = values
  const change = (category: string, changes: Record<string, unknown>) => {
    result = { ...result, [category]: { ...result[category], ...changes } }
  }
  for (const { category, name } of addressNames) {
    const value = values[category]?.[name]
    if (value !== undefined && value !== null && value !== '' && !isSafeAddress(value)) change(category, { [name]: '' })
  }
  const items: unknown = context.order?.items
  // The caller of a preview sends its own values, and a loop would go through all keys of an object.
  if (items && !Array.isArray(items)) change('order', { items: [] })
  if (Array.isArray(items) && items.length > maxListItems)
    change('order', {
      items: items.slice(0, maxListItems),
      more_items_count: items.length - maxListItems + Number(context.order?.more_items_count ?? 0),
    })
  return result
}

const maxSubjectLength = 400
const maxReadSubjectLength = 10 * maxSubjectLength

/** One line without control characters, because it becomes part of a mail header. */
const headerText = (text: string): string => {
  const start = text.trimStart().slice(0, maxReadSubjectLength)
  return [...start.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()].slice(0, maxSubjectLength).join('')
}

/** HTML and text together. A message that is about to be sent is stored in a row, and D1 rows have at most 2 MB. */
const maxMessageBytes = 1_500_000
const maxBytesPerCharacter = 3

export class TooLarge extends Error {
  override name = 'TooLarge'
}

function checkSize(maxBytes: number, ...texts: string[]): void {
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  if (characters * maxBytesPerCharacter <= maxBytes) return
  if (texts.reduce((sum, text) => sum + utf8(text).length, 0) > maxBytes)
    throw new TooLarge(`The message would be larger than ${maxBytes} bytes.`)
}

/**
 * The message for one recipient. Throws `TooMuchText` when the values make more than `limit` characters of one text, and
 * `TooLarge` when the whole message is too large.
 */
export function personalise(template: Template, context: TemplateContext, limit = maxRenderedLength): Personalised {
  const parsedTemplate = parseTemplate(template)
  const values = limitValues(context)
  const html = renderLiquid('html', parsedTemplate.html, values, limit)
  const text = renderLiquid('text', parsedTemplate.text, values, limit)
  const subject = headerText(renderLiquid('text', parsedTemplate.subject, values, limit))
  checkSize(Math.min(limit, maxMessageBytes), html, text)
  return { subject, html, text: text.replaceAll(/\n{3,}/g, '\n\n').replace(/^\n+/, '') }
}
