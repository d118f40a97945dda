import type { FooterData } from '../blocks/blocks.ts'
import { escapeHtml, escapeLiquid } from '../escape.ts'
import { cleanRichText } from '../blocks/rich-text.ts'
import { light } from '../blocks/theme.ts'
import { type TextReader, wordsOf } from './words.ts'

export const plainFooter: FooterData = { text: {} }

/** The sender, the organiser's text, and the link to unsubscribe, if there is one. */
export function footerOf(data: FooterData, reader: TextReader, sender: string): { html: string; text: string } {
  const own = cleanRichText(wordsOf(data.text, reader))
  const withSender = (data.show_sender ?? true) && sender !== ''
  const withUnsubscribe = data.show_unsubscribe ?? true
  const word = reader.phrases.unsubscribe
  const unless = (inside: string) => `{% unless links.unsubscribe == blank %}${inside}{% endunless %}`
  const link = `<a href="{{ links.unsubscribe }}" target="_blank" style="color:${light.muted};text-decoration:underline">${escapeHtml(word)}</a>`
  const html = [
    own.html,
    withSender ? `<div>${escapeHtml(sender)}</div>` : '',
    withUnsubscribe ? unless(`<div style="padding-top:6px">${link}</div>`) : '',
  ].join('')
  const text = [
    own.text,
    withSender ? `${own.text ? '\n' : ''}${escapeLiquid(sender)}` : '',
    withUnsubscribe ? unless(`\n${escapeLiquid(word)}: {{ links.unsubscribe }}`) : '',
  ].join('')
  return { html, text: text.trim() }
}
