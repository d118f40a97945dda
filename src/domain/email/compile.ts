import { toBcp47, type Language, type TranslatedDict } from '../languages.ts'
import { Placeholders, renderCard } from './blocks/block-mjml.ts'
import { renderText } from './blocks/block-text.ts'
import type { Block, FooterData } from './blocks/blocks.ts'
import { listConditions } from './blocks/conditions.ts'
import { cleanRichText } from './blocks/rich-text.ts'
import { buildStyles, fonts, gutter, light, width } from './blocks/theme.ts'
import { escapeHtml, escapeLiquid, textToHtml } from './escape.ts'
import { chooseReader } from './liquid/translations.ts'
import { type TextReader, readTranslation } from './messages/phrases.ts'
import { renderMjml } from './mrml.ts'
import { shorten } from './shorten.ts'

/** Raise it when the compiled output changes: stored renditions are then compiled again. */
export const compilerVersion = 4

/** A message in one language whose Liquid is not rendered yet. */
export interface Template {
  subject: string
  html: string
  text: string
  /** Addresses of the links that are counted; empty unless the template came from `trackable`. */
  links: readonly string[]
}

/** `language` is a fallback where the requested language lacks texts. */
export interface Compiled extends Template {
  language: Language
  /** The conditions of blocks, in the order in which the template numbers them. */
  conditions: readonly string[]
}

export interface Message {
  subject: TranslatedDict
  preheader?: TranslatedDict | undefined
  blocks: readonly Block[]
  template: 'modern'
}

export interface CompileOptions {
  /** Replaces a language in which texts are missing. English comes after it. */
  defaultLanguage: Language
  /** Name of the edition or the organisation: the title of the document and the line above the card. */
  title: string
  /** Name of the sender in the footer. */
  sender: string
}

const ifUnsubscribe = '{% unless links.unsubscribe == blank %}'
const endOfCondition = '{% endunless %}'
const unsubscribeCondition = new RegExp(`${ifUnsubscribe}((?:(?!\\{%).)*)${endOfCondition}`, 'gs')

/**
 * Replaces the footer's condition by its outcome, so that it is not evaluated again for each recipient of a campaign:
 * all of them have a link to unsubscribe, or none has.
 */
export function decideUnsubscribe<T extends Template>(template: T, hasUnsubscribe: boolean): T {
  const decide = (text: string) => text.replaceAll(unsubscribeCondition, hasUnsubscribe ? '$1' : '')
  return { ...template, html: decide(template.html), text: decide(template.text) }
}

/** The organiser's text, the sender, and a link to unsubscribe that is left out for recipients who have none. */
function renderFooter(data: FooterData, reader: TextReader, sender: string): { html: string; text: string } {
  const organiserText = cleanRichText(readTranslation(data.text, reader))
  const hasSender = (data.show_sender ?? true) && sender !== ''
  const hasUnsubscribe = data.show_unsubscribe ?? true
  const { unsubscribe } = reader.phrases
  const ifLink = (content: string) => `${ifUnsubscribe}${content}${endOfCondition}`
  const link = `<a href="{{ links.unsubscribe }}" target="_blank" style="color:${light.muted};text-decoration:underline">${escapeHtml(unsubscribe)}</a>`
  const html = [
    organiserText.html,
    hasSender ? `<div>${escapeHtml(sender)}</div>` : '',
    hasUnsubscribe ? ifLink(`<div style="padding-top:6px">${link}</div>`) : '',
  ].join('')
  const text = [
    organiserText.text,
    hasSender ? `${organiserText.text ? '\n' : ''}${escapeLiquid(sender)}` : '',
    hasUnsubscribe ? ifLink(`\n${escapeLiquid(unsubscribe)}: {{ links.unsubscribe }}`) : '',
  ].join('')
  return { html, text: text.trim() }
}

/** Every message ends with a footer: a message without one gets an empty one, with the sender and the link. */
function renderFooters({ blocks }: Message, reader: TextReader, sender: string): { html: string; text: string }[] {
  const footers = blocks.filter((block) => block.type === 'footer').map(({ data }) => data)
  return (footers.length ? footers : [{ text: {} }]).map((data) => renderFooter(data, reader, sender))
}

/** Invisible characters that fill the line of an inbox, so that it does not show the text of the body after the preheader. */
const preheaderPadding = '&#847;&zwnj;&nbsp;'.repeat(150)

/** Hidden text at the start of the body, which inboxes show after the subject. */
function renderPreheader({ preheader = {} }: Message, reader: TextReader, placeholders: Placeholders): string {
  const text = readTranslation(preheader, reader)
  if (!text) return ''
  return `<mj-preview>${placeholders.add(textToHtml(text) + preheaderPadding)}</mj-preview>`
}

/** Placeholders stand for the texts and addresses of the message. */
export function buildMjml(
  message: Message,
  reader: TextReader,
  options: CompileOptions,
  placeholders: Placeholders,
): string {
  const title = placeholders.add(escapeHtml(options.title))
  const smallFont = 'font-size="13px" line-height="1.6"'
  const footers = renderFooters(message, reader, options.sender).map(
    ({ html }) =>
      `<mj-text css-class="rt mu" align="center" color="${light.muted}" ${smallFont} padding="4px ${gutter}px">${placeholders.add(html)}</mj-text>`,
  )
  return `<mjml lang="${toBcp47(reader.language)}" dir="ltr"><mj-head><mj-title>${title}</mj-title>${renderPreheader(message, reader, placeholders)}<mj-raw><meta name="color-scheme" content="light dark" /><meta name="supported-color-schemes" content="light dark" /></mj-raw><mj-attributes><mj-all font-family="${fonts}" /><mj-text font-size="16px" line-height="1.6" /><mj-section padding="0" /></mj-attributes></mj-head><mj-body css-class="page" background-color="${light.page}" width="${width}px"><mj-section padding="24px 0 12px"><mj-column><mj-text css-class="mu" align="center" color="${light.muted}" font-size="14px" font-weight="600" padding="0 ${gutter}px">${title}</mj-text></mj-column></mj-section>${renderCard(message.blocks, reader, placeholders)}<mj-section padding="16px 0 24px"><mj-column>${footers.join('')}</mj-column></mj-section></mj-body></mjml>`
}

export function compile(message: Message, language: Language, options: CompileOptions): Compiled {
  const reader = chooseReader(message, language, options.defaultLanguage)
  const placeholders = new Placeholders()
  const page = placeholders.restore(shorten(renderMjml(buildMjml(message, reader, options, placeholders))))
  const html = page.replace('</head>', () => `<style>${buildStyles(page)}</style></head>`)
  const footers = renderFooters(message, reader, options.sender).map(({ text }) => text)
  const conditions = listConditions(message.blocks)
  const parts = message.blocks.map((block) => renderText(block, reader, conditions))
  return {
    subject: readTranslation(message.subject, reader),
    html,
    text: `${[...parts, ...footers].filter(Boolean).join('\n\n')}\n`,
    links: [],
    language: reader.language,
    conditions,
  }
}
