import type { Block, ButtonData, HeadingData, ImageData, Padding, SocialData } from './blocks.ts'
import { escapeHtml, textToHtml } from '../escape.ts'
import { networkColours, networkName } from './networks.ts'
import { orderSummary } from '../messages/order-summary.ts'
import { cleanRichText } from './rich-text.ts'
import { gutter, innerWidth, light } from './theme.ts'
import { isAddress } from './urls.ts'
import { type TextReader, wordsOf } from '../messages/words.ts'

/**
 * Keeps what is not ours out of the markup while it is compiled: texts and addresses are put away under marks, and back
 * when the HTML is there. So no text can be misread as markup, and no Liquid is changed on the way.
 */
export class Placeholders {
  readonly #kept: string[] = []

  keep(html: string): string {
    this.#kept.push(html)
    return `ZQ${this.#kept.length - 1}QZ`
  }

  restore(html: string): string {
    return html.replaceAll(/ZQ(\d+)QZ/g, (_, index: string) => this.#kept[Number(index)] ?? '')
  }
}

/** The place of a block: across the card, or in a column of a width. */
interface Spot {
  reader: TextReader
  placeholders: Placeholders
  side: number
  room: number
}

const attributes = (values: Record<string, string | number | undefined>): string =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('')

const padded = (padding: Padding | undefined, side: number, vertical = 10): string =>
  [padding?.top ?? vertical, padding?.right ?? side, padding?.bottom ?? vertical, padding?.left ?? side]
    .map((size) => `${size}px`)
    .join(' ')

/** Colours of the template's own change in dark mode, unless an organiser's colour is in front of or behind them. */
const own = (name: string, data: { color?: string | undefined; background_color?: string | undefined }) =>
  data.color === undefined && data.background_color === undefined ? name : undefined

const safe = (address: string | undefined): string | undefined =>
  address !== undefined && isAddress(address) ? textToHtml(address.trim()) : undefined

const headingSizes = { 1: 28, 2: 22, 3: 18 } as const

function heading(data: HeadingData, { reader, placeholders, side }: Spot): string {
  const text = wordsOf(data.text, reader)
  if (!text) return ''
  const level = data.level ?? 1
  const tag = `h${level}`
  const size = headingSizes[level]
  const style = `margin:0;font-size:${size}px;line-height:1.25;font-weight:700`
  return `<mj-text${attributes({
    'css-class': own('hd', data),
    align: data.align ?? 'left',
    color: data.color ?? light.heading,
    'font-size': `${size}px`,
    'line-height': '1.25',
    padding: padded(data.padding, side),
  })}>${placeholders.keep(`<${tag} style="${style}">${textToHtml(text)}</${tag}>`)}</mj-text>`
}

function image(data: ImageData, { reader, placeholders, side, room }: Spot): string {
  const source = safe(data.url)
  if (source === undefined) return ''
  const link = safe(data.link)
  return `<mj-image${attributes({
    src: placeholders.keep(source),
    alt: placeholders.keep(textToHtml(wordsOf(data.alt, reader))),
    href: link === undefined ? undefined : placeholders.keep(link),
    width: data.width === undefined ? undefined : `${Math.min(data.width, room)}px`,
    align: data.align ?? 'center',
    'border-radius': `${data.border_radius ?? 0}px`,
    padding: padded(data.padding, side),
  })} />`
}

function button(data: ButtonData, { reader, placeholders, side }: Spot): string {
  const text = wordsOf(data.text, reader)
  const link = safe(data.url)
  if (!text || link === undefined) return ''
  return `<mj-button${attributes({
    'css-class': own('bt', { color: data.color ?? data.button_color, background_color: data.background_color }),
    href: placeholders.keep(link),
    align: data.align ?? 'left',
    color: data.color ?? light.buttonText,
    'background-color': data.button_color ?? light.button,
    'border-radius': `${data.border_radius ?? 8}px`,
    width: data.is_full_width ? '100%' : undefined,
    'font-size': '16px',
    'font-weight': '600',
    'inner-padding': '14px 26px',
    padding: padded(data.padding, side, 14),
  })}>${placeholders.keep(textToHtml(text))}</mj-button>`
}

function social(data: SocialData, { reader, placeholders, side }: Spot): string {
  const links = data.links.flatMap(({ network, url }) => {
    const href = safe(url)
    if (href === undefined) return []
    const style = `display:inline-block;margin:4px;padding:7px 14px;border-radius:16px;background:${networkColours[network]};color:#ffffff;font-size:13px;line-height:18px;font-weight:600;text-decoration:none`
    const name = escapeHtml(networkName(network, reader.phrases))
    return [`<a href="${href}" target="_blank" style="${style}">${name}</a>`]
  })
  if (links.length === 0) return ''
  return `<mj-text${attributes({
    align: data.align ?? 'center',
    'line-height': '1.6',
    padding: padded(data.padding, side),
  })}>${placeholders.keep(links.join(' '))}</mj-text>`
}

/** The content of a column; empty for a block without text in this language. */
function component(block: Block, spot: Spot): string {
  const { reader, placeholders, side } = spot
  switch (block.type) {
    case 'rich_text': {
      const { html } = cleanRichText(wordsOf(block.data.text, reader))
      if (!html.trim()) return ''
      const classes = ['rt', own('tx', block.data)].filter(Boolean).join(' ')
      return `<mj-text${attributes({
        'css-class': classes,
        align: block.data.align ?? 'left',
        color: block.data.color ?? light.text,
        'font-size': `${block.data.font_size ?? 16}px`,
        padding: padded(block.data.padding, side),
      })}>${placeholders.keep(html)}</mj-text>`
    }
    case 'heading':
      return heading(block.data, spot)
    case 'image':
      return image(block.data, spot)
    case 'button':
      return button(block.data, spot)
    case 'divider':
      return `<mj-divider${attributes({
        'css-class': own('dv', block.data),
        'border-color': block.data.color ?? light.line,
        'border-width': `${block.data.thickness ?? 1}px`,
        'border-style': block.data.style ?? 'solid',
        width: `${block.data.width ?? 100}%`,
        padding: padded(block.data.padding, side, 16),
      })} />`
    case 'spacer':
      return `<mj-spacer${attributes({ height: `${block.data.height ?? 24}px` })} />`
    case 'social':
      return social(block.data, spot)
    case 'order_summary': {
      const table = placeholders.keep(orderSummary(block.data, reader).rows)
      return `<mj-table${attributes({
        'css-class': own('os', block.data),
        color: light.text,
        'font-size': '15px',
        'line-height': '1.45',
        padding: padded(block.data.padding, side, 12),
      })}>${table}</mj-table>`
    }
    case 'columns':
    case 'footer':
      return ''
  }
}

const section = (block: Block, padding: string, inside: string): string =>
  `<mj-section${attributes({ 'background-color': block.data.background_color, padding })}>${inside}</mj-section>`

function columns(block: Extract<Block, { type: 'columns' }>, reader: TextReader, placeholders: Placeholders): string {
  const { columns: all, padding } = block.data
  const given = all.reduce((sum, column) => sum + (column.width ?? 0), 0)
  const unset = all.filter((column) => column.width === undefined).length
  const rest = unset ? Math.max(0, 100 - given) / unset : 0
  const parts = all.map((column) => {
    const share = column.width ?? rest
    const room = Math.floor((innerWidth * share) / 100)
    const inside = column.blocks.map((one) => component(one, { reader, placeholders, side: 10, room })).join('')
    return `<mj-column${attributes({ width: `${Number(share.toFixed(2))}%` })}>${inside}</mj-column>`
  })
  return section(block, padded(padding, gutter - 10, 0), parts.join(''))
}

/** A block as a section of the card; empty for a block without text. Footers are below the card. */
export function sectionOf(block: Block, reader: TextReader, placeholders: Placeholders): string {
  if (block.type === 'columns') return columns(block, reader, placeholders)
  const inside = component(block, { reader, placeholders, side: gutter, room: innerWidth })
  return inside === '' ? '' : section(block, '0', `<mj-column>${inside}</mj-column>`)
}
