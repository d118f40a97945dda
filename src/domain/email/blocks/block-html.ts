import { escapeHtml, textToHtml } from '../escape.ts'
import { renderOrderSummary } from '../messages/order-summary.ts'
import { getNetworkName, type TextReader, readTranslation } from '../messages/phrases.ts'
import type { Block } from './blocks.ts'
import { cleanRichText } from './rich-text.ts'
import { isAddress } from './urls.ts'

const wrapInLink = (html: string, url: string | undefined): string =>
  url !== undefined && isAddress(url) ? `<a href="${textToHtml(url.trim())}" target="_blank">${html}</a>` : html

function renderBlock(block: Block, reader: TextReader): string {
  switch (block.type) {
    case 'rich_text':
    case 'footer':
      return cleanRichText(readTranslation(block.data.text, reader)).html
    case 'heading': {
      const tag = `h${block.data.level ?? 1}`
      return `<${tag}>${textToHtml(readTranslation(block.data.text, reader))}</${tag}>`
    }
    case 'image': {
      if (!isAddress(block.data.url)) return ''
      const alt = textToHtml(readTranslation(block.data.alt, reader))
      const picture = `<img src="${textToHtml(block.data.url.trim())}" alt="${alt}" style="max-width:100%" />`
      return `<p>${wrapInLink(picture, block.data.link)}</p>`
    }
    case 'button':
      return `<p>${wrapInLink(textToHtml(readTranslation(block.data.text, reader)), block.data.url)}</p>`
    case 'divider':
      return '<hr />'
    case 'spacer':
      return ''
    case 'social':
      return `<p>${block.data.links
        .map(({ network, url }) => wrapInLink(escapeHtml(getNetworkName(network, reader.phrases)), url))
        .join(' ')}</p>`
    case 'order_summary':
      return `<table>${renderOrderSummary(block.data, reader).rows}</table>`
    case 'columns':
      return block.data.columns
        .map((column) => `<div>${column.blocks.map((childBlock) => renderBlock(childBlock, reader)).join('\n')}</div>`)
        .join('\n')
  }
}

/** HTML without the page around it, for editors that show it in a page of their own. */
export const renderContentHtml = (blocks: readonly Block[], reader: TextReader): string =>
  blocks
    .map((block) => renderBlock(block, reader))
    .filter(Boolean)
    .join('\n')
