import type { Block } from './blocks.ts'
import { escapeLiquid } from '../escape.ts'
import { networkName } from './networks.ts'
import { orderSummary } from '../messages/order-summary.ts'
import { cleanRichText } from './rich-text.ts'
import { isAddress } from './urls.ts'
import { type TextReader, wordsOf } from '../messages/words.ts'

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

const linked = (text: string, url: string | undefined): string =>
  url !== undefined && isAddress(url) ? `${text}${text ? ': ' : ''}${url.trim()}` : text

/** A block as plain text with its Liquid; empty for a block without text. */
export function textOf(block: Block, reader: TextReader): string {
  switch (block.type) {
    case 'rich_text':
      return cleanRichText(wordsOf(block.data.text, reader)).text
    case 'heading': {
      const text = oneLine(wordsOf(block.data.text, reader))
      return text && (block.data.level ?? 1) === 1 ? `${text}\n${'='.repeat(Math.min(60, text.length))}` : text
    }
    case 'image': {
      if (!isAddress(block.data.url)) return ''
      const alt = oneLine(wordsOf(block.data.alt, reader))
      return block.data.link === undefined ? alt : linked(alt, block.data.link)
    }
    case 'button': {
      const text = oneLine(wordsOf(block.data.text, reader))
      return text ? linked(text, block.data.url) : ''
    }
    case 'divider':
      return '-'.repeat(40)
    case 'social':
      return block.data.links
        .filter(({ url }) => isAddress(url))
        .map(({ network, url }) => linked(escapeLiquid(networkName(network, reader.phrases)), url))
        .join('\n')
    case 'columns':
      return block.data.columns
        .flatMap((column) => column.blocks.map((one) => textOf(one, reader)))
        .filter(Boolean)
        .join('\n\n')
    case 'order_summary':
      return orderSummary(block.data, reader).text
    case 'spacer':
    case 'footer':
      return ''
  }
}
