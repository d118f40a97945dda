import { splitLiquid } from './liquid/liquid.ts'

/** Text for HTML, between tags or in an attribute. A brace becomes an entity, so that no text becomes Liquid. */
export const escapeHtml = (text: string): string => escapeText(text).replaceAll('"', '&quot;').replaceAll("'", '&#39;')

/** Text between tags alone: quotes stay as they are. */
export const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('{', '&#123;')

const opensLiquid = /\{(?=[{%]|$)/

/** Text that Liquid puts out unchanged, with as few tags as possible, because each of them is parsed and run. */
export const escapeLiquid = (text: string): string =>
  opensLiquid.test(text)
    ? text
        .split('endraw')
        .map((part) => (part.includes('{') ? `{% raw %}${part}{% endraw %}` : part))
        .join('endraw')
    : text

/** A text with Liquid for HTML: the Liquid stays, everything else is escaped. */
export const textToHtml = (text: string): string =>
  splitLiquid(text)
    .map((piece) => (piece.isLiquid ? piece.text : escapeHtml(piece.text)))
    .join('')
