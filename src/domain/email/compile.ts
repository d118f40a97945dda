import { toBcp47, type Language, type TranslatedDict } from '../languages.ts'
import { Placeholders, sectionOf } from './blocks/block-mjml.ts'
import { textOf } from './blocks/block-text.ts'
import type { Block } from './blocks/blocks.ts'
import { escapeHtml } from './escape.ts'
import { footerOf, plainFooter } from './messages/footer.ts'
import { htmlOf } from './mrml.ts'
import { fonts, gutter, light, styles, width } from './blocks/theme.ts'
import { readerFor } from './liquid/translations.ts'
import { type TextReader, wordsOf } from './messages/words.ts'

/** Part of the key of renditions: another number compiles every message anew. */
export const compilerVersion = 2

/** A message in one language with its Liquid still in it. */
export interface Template {
  subject: string
  html: string
  text: string
  /** The targets of the links of a trackable template. */
  links: readonly string[]
}

/** A template, and the one language that all of it is in: the requested one, or its fallback. */
export interface Compiled extends Template {
  language: Language
}

export interface Message {
  subject: TranslatedDict
  blocks: readonly Block[]
  template: 'modern'
}

export interface CompileOptions {
  /** The fallback for a language in which texts are missing, before English. */
  defaultLanguage: Language
  /** Title of the document, and the line above the card: the edition, or the organisation. */
  title: string
  /** The sender, for the footer. */
  sender: string
}

/** The markup of the whole message, without its texts. */
export function mjmlOf(
  message: Message,
  reader: TextReader,
  options: CompileOptions,
  placeholders: Placeholders,
): string {
  const title = placeholders.keep(escapeHtml(options.title))
  const body = message.blocks.map((block) => sectionOf(block, reader, placeholders)).join('')
  const footers = message.blocks.filter((block) => block.type === 'footer').map(({ data }) => data)
  const small = 'font-size="13px" line-height="1.6"'
  const feet = (footers.length ? footers : [plainFooter]).map((data) => {
    const { html } = footerOf(data, reader, options.sender)
    return `<mj-section padding="0"><mj-column><mj-text css-class="rt mu" align="center" color="${light.muted}" ${small} padding="4px ${gutter}px">${placeholders.keep(html)}</mj-text></mj-column></mj-section>`
  })
  return `<mjml lang="${toBcp47(reader.language)}" dir="ltr"><mj-head><mj-title>${title}</mj-title><mj-raw><meta name="color-scheme" content="light dark" /><meta name="supported-color-schemes" content="light dark" /></mj-raw><mj-attributes><mj-all font-family="${fonts}" /><mj-text font-size="16px" line-height="1.6" /><mj-section padding="0" /></mj-attributes><mj-style>${styles}</mj-style></mj-head><mj-body css-class="page" background-color="${light.page}" width="${width}px"><mj-section padding="24px 0 12px"><mj-column><mj-text css-class="mu" align="center" color="${light.muted}" font-size="14px" font-weight="600" padding="0 ${gutter}px">${title}</mj-text></mj-column></mj-section><mj-wrapper css-class="card" background-color="${light.card}" border-radius="14px" padding="20px 0">${body || emptyCard}</mj-wrapper><mj-section padding="12px 0 0"><mj-column><mj-spacer height="4px" /></mj-column></mj-section>${feet.join('')}<mj-section padding="0"><mj-column><mj-spacer height="24px" /></mj-column></mj-section></mj-body></mjml>`
}

const emptyCard = '<mj-section padding="0"><mj-column><mj-spacer height="24px" /></mj-column></mj-section>'

export function compile(message: Message, language: Language, options: CompileOptions): Compiled {
  const reader = readerFor(message, language, options.defaultLanguage)
  const placeholders = new Placeholders()
  const html = placeholders.restore(htmlOf(mjmlOf(message, reader, options, placeholders)))
  const footers = message.blocks.filter((block) => block.type === 'footer').map(({ data }) => data)
  const feet = (footers.length ? footers : [plainFooter]).map((data) => footerOf(data, reader, options.sender).text)
  const parts = message.blocks.map((block) => textOf(block, reader))
  return {
    subject: wordsOf(message.subject, reader),
    html,
    text: `${[...parts, ...feet].filter(Boolean).join('\n\n')}\n`,
    links: [],
    language: reader.language,
  }
}
