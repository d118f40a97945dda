import type { Block } from './blocks.ts'
import { escapeHtml, textToHtml } from '../escape.ts'
import { networkName } from './networks.ts'
import { orderSummary } from '../messages/order-summary.ts'
import { cleanRichText } from './rich-text.ts'
import { isAddress } from './urls.ts'
import { type TextReader, wordsOf } from '../messages/words.ts'

const linked = (inside: string, url: string | undefined): string =>
  url !== undefined && isAddress(url) ? `<a href="${textToHtml(url.trim())}" target="_blank">${inside}</a>` : inside

function bareBlock(block: Block, reader: TextReader): string {
  switch (block.type) {
    case 'rich_text':
    case 'footer':
      return cleanRichText(wordsOf(block.data.text, reader)).html
    case 'heading': {
      const tag = `h${block.data.level ?? 1}`
      return `<${tag}>${textToHtml(wordsOf(block.data.text, reader))}</${tag}>`
    }
    case 'image': {
      if (!isAddress(block.data.url)) return ''
      const alt = textToHtml(wordsOf(block.data.alt, reader))
      const picture = `<img src="${textToHtml(block.data.url.trim())}" alt="${alt}" style="max-width:100%" />`
      return `<p>${linked(picture, block.data.link)}</p>`
    }
    case 'button':
      return `<p>${linked(textToHtml(wordsOf(block.data.text, reader)), block.data.url)}</p>`
    case 'divider':
      return '<hr />'
    case 'spacer':
      return ''
    case 'social':
      return `<p>${block.data.links
        .map(({ network, url }) => linked(escapeHtml(networkName(network, reader.phrases)), url))
        .join(' ')}</p>`
    case 'order_summary':
      return `<table>${orderSummary(block.data, reader).rows}</table>`
    case 'columns':
      return block.data.columns
        .map((column) => `<div>${column.blocks.map((one) => bareBlock(one, reader)).join('\n')}</div>`)
        .join('\n')
  }
}

/** The content without the frame, for editors that have their own. */
export const bareHtml = (blocks: readonly Block[], reader: TextReader): string =>
  blocks
    .map((block) => bareBlock(block, reader))
    .filter(Boolean)
    .join('\n')
