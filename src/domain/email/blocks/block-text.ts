import { escapeLiquid } from '../escape.ts'
import { renderOrderSummary } from '../messages/order-summary.ts'
import { getNetworkName, type TextReader, readTranslation } from '../messages/phrases.ts'
import type { Block } from './blocks.ts'
import { buildConditionTags } from './conditions.ts'
import { cleanRichText } from './rich-text.ts'
import { isAddress } from './urls.ts'

const joinLines = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

const appendUrl = (text: string, url: string | undefined): string =>
  url !== undefined && isAddress(url) ? `${text}${text ? ': ' : ''}${url.trim()}` : text

/**
 * Plain text in which the Liquid is not rendered yet; empty for a block without text. `conditions` are those of all blocks
 * of the message.
 */
export function renderText(block: Block, reader: TextReader, conditions: readonly string[]): string {
  const text = renderContent(block, reader, conditions)
  const tags = text === '' ? null : buildConditionTags(block, conditions)
  return tags === null ? text : `${tags[0]}${text}${tags[1]}`
}

function renderContent(block: Block, reader: TextReader, conditions: readonly string[]): string {
  switch (block.type) {
    case 'rich_text':
      return cleanRichText(readTranslation(block.data.text, reader)).text
    case 'heading': {
      const text = joinLines(readTranslation(block.data.text, reader))
      return text && (block.data.level ?? 1) === 1 ? `${text}\n${'='.repeat(Math.min(60, text.length))}` : text
    }
    case 'image': {
      if (!isAddress(block.data.url)) return ''
      const alt = joinLines(readTranslation(block.data.alt, reader))
      return block.data.link === undefined ? alt : appendUrl(alt, block.data.link)
    }
    case 'button': {
      const text = joinLines(readTranslation(block.data.text, reader))
      return text ? appendUrl(text, block.data.url) : ''
    }
    case 'divider':
      return '-'.repeat(40)
    case 'social':
      return block.data.links
        .filter(({ url }) => isAddress(url))
        .map(({ network, url }) => appendUrl(escapeLiquid(getNetworkName(network, reader.phrases)), url))
        .join('\n')
    case 'columns':
      return block.data.columns
        .flatMap((column) => column.blocks.map((childBlock) => renderText(childBlock, reader, conditions)))
        .filter(Boolean)
        .join('\n\n')
    case 'order_summary':
      return renderOrderSummary(block.data, reader).text
    case 'spacer':
    case 'footer':
      return ''
  }
}
