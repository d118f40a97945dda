import { piecesOf } from './liquid.ts'

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '{': '&#123;',
}

/** Text for HTML, between tags or in an attribute. A brace becomes an entity, so that no text turns into Liquid. */
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"'{]/g, (found) => entities[found] ?? found)

/** Text between tags alone: quotes stay as they are. */
export const escapeText = (text: string): string => text.replaceAll(/[&<>{]/g, (found) => entities[found] ?? found)

/** Text that Liquid gives out as it is. */
export const escapeLiquid = (text: string): string => text.replaceAll(/\{(?=[{%]|$)/g, '{{ "{" }}')

/** A text with Liquid in it for HTML: the Liquid stays, all else is text. */
export const textToHtml = (text: string): string =>
  piecesOf(text)
    .map((piece) => (piece.isLiquid ? piece.text : escapeHtml(piece.text)))
    .join('')
