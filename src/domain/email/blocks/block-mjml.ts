import { escapeHtml, textToHtml } from '../escape.ts'
import { renderOrderSummary } from '../messages/order-summary.ts'
import { getNetworkName, type TextReader, readTranslation } from '../messages/phrases.ts'
import type { Block, ButtonData, HeadingData, ImageData, Padding, SocialData } from './blocks.ts'
import { buildConditionTags, listConditions } from './conditions.ts'
import { cleanRichText } from './rich-text.ts'
import { gutter, innerWidth, light, networkColours } from './theme.ts'
import { isAddress } from './urls.ts'

/**
 * Replaces texts and addresses by placeholders while MJML is compiled to HTML, so that the compiler can neither read a
 * text as markup nor change its Liquid.
 */
export class Placeholders {
  readonly #texts: string[] = []

  add(html: string): string {
    this.#texts.push(html)
    return `ZQ${this.#texts.length - 1}QZ`
  }

  restore(html: string): string {
    return html.replaceAll(/ZQ(\d+)QZ/g, (_, index: string) => this.#texts[Number(index)] ?? '')
  }
}

interface BlockContext {
  reader: TextReader
  placeholders: Placeholders
  /** The conditions of all blocks of the message. */
  conditions: readonly string[]
  /** Padding to the left and the right, in pixels, unless the block sets its own. */
  sidePadding: number
  /** The widest image that fits, in pixels. */
  maxWidth: number
}

const formatAttributes = (values: Record<string, string | number | undefined>): string =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('')

const formatPadding = (padding: Padding | undefined, side: number, vertical = 10): string =>
  [padding?.top ?? vertical, padding?.right ?? side, padding?.bottom ?? vertical, padding?.left ?? side]
    .map((size) => `${size}px`)
    .join(' ')

/** The class that changes the colours in dark mode; undefined where an organiser chose a colour of the block. */
const pickThemeClass = (name: string, data: { color?: string | undefined; background_color?: string | undefined }) =>
  data.color === undefined && data.background_color === undefined ? name : undefined

const escapeAddress = (address: string | undefined): string | undefined =>
  address !== undefined && isAddress(address) ? textToHtml(address.trim()) : undefined

const headingSizes = { 1: 28, 2: 22, 3: 18 } as const

function renderHeading(data: HeadingData, { reader, placeholders, sidePadding }: BlockContext): string {
  const text = readTranslation(data.text, reader)
  if (!text) return ''
  const level = data.level ?? 1
  const tag = `h${level}`
  const size = headingSizes[level]
  const style = `margin:0;font-size:${size}px;line-height:1.25;font-weight:700`
  return `<mj-text${formatAttributes({
    'css-class': pickThemeClass('hd', data),
    align: data.align ?? 'left',
    color: data.color ?? light.heading,
    'font-size': `${size}px`,
    'line-height': '1.25',
    padding: formatPadding(data.padding, sidePadding),
  })}>${placeholders.add(`<${tag} style="${style}">${textToHtml(text)}</${tag}>`)}</mj-text>`
}

function renderImage(data: ImageData, { reader, placeholders, sidePadding, maxWidth }: BlockContext): string {
  const source = escapeAddress(data.url)
  if (source === undefined) return ''
  const link = escapeAddress(data.link)
  return `<mj-image${formatAttributes({
    src: placeholders.add(source),
    alt: placeholders.add(textToHtml(readTranslation(data.alt, reader))),
    href: link === undefined ? undefined : placeholders.add(link),
    width: data.width === undefined ? undefined : `${Math.min(data.width, maxWidth)}px`,
    align: data.align ?? 'center',
    'border-radius': `${data.border_radius ?? 0}px`,
    padding: formatPadding(data.padding, sidePadding),
  })} />`
}

function renderButton(data: ButtonData, { reader, placeholders, sidePadding }: BlockContext): string {
  const text = readTranslation(data.text, reader)
  const link = escapeAddress(data.url)
  if (!text || link === undefined) return ''
  return `<mj-button${formatAttributes({
    'css-class': pickThemeClass('bt', {
      color: data.color ?? data.button_color,
      background_color: data.background_color,
    }),
    href: placeholders.add(link),
    align: data.align ?? 'left',
    color: data.color ?? light.buttonText,
    'background-color': data.button_color ?? light.button,
    'border-radius': `${data.border_radius ?? 8}px`,
    width: data.is_full_width ? '100%' : undefined,
    'font-size': '16px',
    'font-weight': '600',
    'inner-padding': '14px 26px',
    padding: formatPadding(data.padding, sidePadding, 14),
  })}>${placeholders.add(textToHtml(text))}</mj-button>`
}

function renderSocial(data: SocialData, { reader, placeholders, sidePadding }: BlockContext): string {
  const links = data.links.flatMap(({ network, url }) => {
    const href = escapeAddress(url)
    if (href === undefined) return []
    const style = `display:inline-block;margin:4px;padding:7px 14px;border-radius:16px;background:${networkColours[network]};color:#ffffff;font-size:13px;line-height:18px;font-weight:600;text-decoration:none`
    const name = escapeHtml(getNetworkName(network, reader.phrases))
    return [`<a href="${href}" target="_blank" style="${style}">${name}</a>`]
  })
  if (links.length === 0) return ''
  return `<mj-text${formatAttributes({
    align: data.align ?? 'center',
    'line-height': '1.6',
    padding: formatPadding(data.padding, sidePadding),
  })}>${placeholders.add(links.join(' '))}</mj-text>`
}

/** Puts an element or a section between the Liquid that shows it only to some recipients. */
function wrapInCondition(
  mjml: string,
  block: Block,
  { placeholders, conditions }: Pick<BlockContext, 'placeholders' | 'conditions'>,
): string {
  const tags = mjml === '' ? null : buildConditionTags(block, conditions)
  if (tags === null) return mjml
  const [open, end] = tags.map((tag) => `<mj-raw>${placeholders.add(tag)}</mj-raw>`)
  return `${open}${mjml}${end}`
}

/** An MJML element for a column; empty for a block without text in this language. */
const renderElement = (block: Block, context: BlockContext): string =>
  wrapInCondition(renderContent(block, context), block, context)

function renderContent(block: Block, context: BlockContext): string {
  const { reader, placeholders, sidePadding } = context
  switch (block.type) {
    case 'rich_text': {
      const { html } = cleanRichText(readTranslation(block.data.text, reader))
      if (!html.trim()) return ''
      const classes = ['rt', pickThemeClass('tx', block.data)].filter(Boolean).join(' ')
      return `<mj-text${formatAttributes({
        'css-class': classes,
        align: block.data.align ?? 'left',
        color: block.data.color ?? light.text,
        'font-size': `${block.data.font_size ?? 16}px`,
        padding: formatPadding(block.data.padding, sidePadding),
      })}>${placeholders.add(html)}</mj-text>`
    }
    case 'heading':
      return renderHeading(block.data, context)
    case 'image':
      return renderImage(block.data, context)
    case 'button':
      return renderButton(block.data, context)
    case 'divider':
      return `<mj-divider${formatAttributes({
        'css-class': pickThemeClass('dv', block.data),
        'border-color': block.data.color ?? light.line,
        'border-width': `${block.data.thickness ?? 1}px`,
        'border-style': block.data.style ?? 'solid',
        width: `${block.data.width ?? 100}%`,
        padding: formatPadding(block.data.padding, sidePadding, 16),
      })} />`
    case 'spacer':
      return `<mj-spacer${formatAttributes({ height: `${block.data.height ?? 24}px` })} />`
    case 'social':
      return renderSocial(block.data, context)
    case 'order_summary': {
      const table = placeholders.add(renderOrderSummary(block.data, reader).rows)
      return `<mj-table${formatAttributes({
        'css-class': pickThemeClass('os', block.data),
        color: light.text,
        'font-size': '15px',
        'line-height': '1.45',
        padding: formatPadding(block.data.padding, sidePadding, 12),
      })}>${table}</mj-table>`
    }
    case 'columns':
    case 'footer':
      return ''
  }
}

type SectionContext = Omit<BlockContext, 'sidePadding' | 'maxWidth'>

const sectionWidth = { sidePadding: gutter, maxWidth: innerWidth }

const wrapInSection = (block: Block, padding: string, mjml: string): string =>
  `<mj-section${formatAttributes({ 'background-color': block.data.background_color, padding })}>${mjml}</mj-section>`

function renderColumns(block: Extract<Block, { type: 'columns' }>, context: SectionContext): string {
  const { columns: all, padding } = block.data
  const fixedWidth = all.reduce((sum, column) => sum + (column.width ?? 0), 0)
  const flexibleCount = all.filter((column) => column.width === undefined).length
  const flexibleWidth = flexibleCount ? Math.max(0, 100 - fixedWidth) / flexibleCount : 0
  const parts = all.map((column) => {
    const width = column.width ?? flexibleWidth
    const maxWidth = Math.floor((innerWidth * width) / 100)
    const elements = column.blocks
      .map((childBlock) => renderElement(childBlock, { ...context, sidePadding: 10, maxWidth }))
      .join('')
    return `<mj-column${formatAttributes({ width: `${Number(width.toFixed(2))}%` })}>${elements}</mj-column>`
  })
  return wrapInSection(block, formatPadding(padding, gutter - 10, 0), parts.join(''))
}

/** A section of one block; empty for a block without text, and for a footer, which stands below the card. */
function renderSection(block: Block, context: SectionContext): string {
  if (block.type === 'columns') return renderColumns(block, context)
  const element = renderContent(block, { ...context, ...sectionWidth })
  return element === '' ? '' : wrapInSection(block, '0', `<mj-column>${element}</mj-column>`)
}

const emptySection = '<mj-section><mj-column><mj-spacer height="24px" /></mj-column></mj-section>'

/**
 * The card with the blocks of a message. Blocks that follow each other share a section, because each section takes a
 * kilobyte; columns and blocks with a background have a section of their own.
 */
export function renderCard(blocks: readonly Block[], reader: TextReader, placeholders: Placeholders): string {
  const context: SectionContext = { reader, placeholders, conditions: listConditions(blocks) }
  const card = `css-class="card" background-color="${light.card}" border-radius="14px" padding="20px 0"`
  let sections = ''
  let elements = ''
  const endSection = () => {
    if (elements !== '') sections += `<mj-section><mj-column>${elements}</mj-column></mj-section>`
    elements = ''
  }
  for (const block of blocks) {
    if (block.type === 'columns' || block.data.background_color !== undefined) {
      endSection()
      sections += wrapInCondition(renderSection(block, context), block, context)
    } else elements += renderElement(block, { ...context, ...sectionWidth })
  }
  if (sections === '' && elements !== '') return `<mj-section ${card}><mj-column>${elements}</mj-column></mj-section>`
  endSection()
  return `<mj-wrapper ${card}>${sections || emptySection}</mj-wrapper>`
}
