import { Parser } from 'htmlparser2'
import { escapeLiquid, escapeText, textToHtml } from '../escape.ts'
import { splitLiquid } from '../liquid/liquid.ts'
import { cleanStyle } from './styles.ts'
import { completeAddress, isAddress } from './urls.ts'

/** Tags that are removed together with their content. Other tags that are not allowed leave their content. */
const tagsRemovedWithContent = new Set([
  'applet',
  'audio',
  'canvas',
  'embed',
  'frameset',
  'head',
  'iframe',
  'math',
  'noembed',
  'noframes',
  'noscript',
  'object',
  'option',
  'plaintext',
  'script',
  'select',
  'style',
  'svg',
  'template',
  'textarea',
  'title',
  'video',
  'xmp',
])

const allowedAttributes: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    a: ['href', 'title', 'style'],
    b: [],
    blockquote: ['style'],
    br: [],
    code: [],
    del: [],
    div: ['style'],
    em: [],
    h1: ['style'],
    h2: ['style'],
    h3: ['style'],
    h4: ['style'],
    hr: [],
    i: [],
    img: ['src', 'alt', 'width', 'height', 'style'],
    li: ['style'],
    ol: ['start', 'style'],
    p: ['style'],
    pre: [],
    s: [],
    small: [],
    span: ['style'],
    strong: [],
    sub: [],
    sup: [],
    table: ['width', 'style'],
    tbody: [],
    td: ['colspan', 'rowspan', 'style'],
    th: ['colspan', 'rowspan', 'style'],
    thead: [],
    tr: [],
    u: [],
    ul: ['style'],
  }),
)

const voidTags = new Set(['br', 'hr', 'img'])
const paragraphTags = new Set(['blockquote', 'div', 'h1', 'h2', 'h3', 'h4', 'ol', 'p', 'pre', 'table', 'ul'])
const maxNesting = 40
/** Deeper HTML is refused, because closing a tag searches all open ones. */
const maxDepth = 500

/**
 * A number between the first two characters stands for a piece of Liquid while HTML is read. The others mark ends of
 * paragraphs and lines in the plain text.
 */
const [tokenStart, tokenEnd, paragraphEnd, lineEnd] = ['\uE000', '\uE001', '\uE002', '\uE003']
const reservedCharacters = /[\uE000-\uE003]/g
const token = /\uE000(\d+)\uE001/g

const rawTag = /^\{%-?\s*(raw|endraw)\s*-?%\}$/

export interface RichText {
  html: string
  /** The same content as plain text. */
  text: string
  /** Addresses of links and images that were removed, because no message can have them. */
  refusedAddresses: string[]
}

export class TooDeep extends Error {
  override name = 'TooDeep'

  constructor() {
    super(`HTML tags can be nested at most ${maxDepth} deep.`)
  }
}

/** Removing a tag may change how its neighbours close, so the result is read again until it is stable. */
const maxReadings = 6

/** One request checks, cleans and compiles the same text; the cache spares it reading the text three times. */
const cache = new Map<string, RichText>()
const maxCacheLength = 1_000_000
let cacheLength = 0

function cacheRichText(source: string, result: RichText): void {
  if (cache.has(source)) return
  cache.set(source, result)
  cacheLength += source.length + result.html.length + result.text.length
  for (const [oldestSource, { html, text }] of cache) {
    if (cacheLength <= maxCacheLength) break
    cache.delete(oldestSource)
    cacheLength -= oldestSource.length + html.length + text.length
  }
}

/**
 * Removes scripts, event handlers and everything else that is not on the lists of tags, attributes and styles. Liquid
 * between tags and in addresses stays. Throws `TooDeep`.
 */
export function cleanRichText(source: string): RichText {
  const cachedText = cache.get(source)
  if (cachedText) return cachedText
  const firstResult = readRichText(source)
  let [input, result] = [source, firstResult]
  for (let readings = 1; result.html !== input && readings < maxReadings; readings++)
    [input, result] = [result.html, readRichText(result.html)]
  const isStable = result.html === input
  const cleanText = { ...result, refusedAddresses: firstResult.refusedAddresses }
  cacheRichText(source, cleanText)
  if (isStable) cacheRichText(input, result)
  return cleanText
}

/** Replaces tags and outputs of Liquid by tokens, so that the parser of HTML does not see them. */
function hideLiquid(source: string): { markedText: string; restore: (text: string) => string } {
  const liquid: string[] = []
  const markedText = splitLiquid(source)
    .map((piece) => {
      // `layOut` and `escapeText` escape the text between `raw` and `endraw`.
      if (rawTag.test(piece.text)) return ''
      if (!piece.isLiquid) return piece.text.replaceAll(reservedCharacters, '')
      liquid.push(piece.text)
      return `${tokenStart}${liquid.length - 1}${tokenEnd}`
    })
    .join('')
  return { markedText, restore: (text) => text.replaceAll(token, (_, index: string) => liquid[Number(index)] ?? '') }
}

interface OpenTag {
  name: string
  isAllowed: boolean
  /** Null for a tag that is not a link. */
  href: string | null
  /** Index of the first piece of text inside the tag. */
  textStart: number
}

/** Writes the allowed parts of a document as HTML and as text. */
class RichTextWriter {
  #html = ''
  readonly #text: string[] = []
  /** Collects the texts between two tags, because the parser reports every entity as a text of its own. */
  #pendingText = ''
  /** Counts the open tags that are removed with their content. */
  #removedDepth = 0
  #allowedDepth = 0
  readonly #refusedAddresses: string[] = []
  readonly #openTags: OpenTag[] = []
  readonly #restore: (text: string) => string

  constructor(restore: (text: string) => string) {
    this.#restore = restore
  }

  onopentag(name: string, attributes: Record<string, string>): void {
    this.#flushText()
    if (this.#openTags.length === maxDepth) throw new TooDeep()
    if (tagsRemovedWithContent.has(name)) this.#removedDepth++
    const isAllowed = this.#removedDepth === 0 && allowedAttributes.has(name) && this.#allowedDepth < maxNesting
    const href = name === 'a' && isAllowed ? completeAddress(attributes['href'] ?? '') : ''
    const isLink = href !== '' && isAddress(this.#restore(href))
    this.#openTags.push({ name, isAllowed, href: isLink ? href : null, textStart: this.#text.length })
    if (!isAllowed) return
    this.#allowedDepth++
    this.#html += `<${name}${this.#formatAttributes(name, attributes)}${voidTags.has(name) ? ' /' : ''}>`
    if (paragraphTags.has(name) || name === 'hr') this.#text.push(paragraphEnd)
    if (name === 'br' || name === 'tr') this.#text.push(lineEnd)
    if (name === 'li') this.#text.push(`${lineEnd}- `)
    if (name === 'td' || name === 'th') this.#text.push(' ')
    if (name === 'img') this.#text.push(attributes['alt'] ?? '')
  }

  ontext(data: string): void {
    if (this.#removedDepth === 0) this.#pendingText += data
  }

  onclosetag(): void {
    this.#flushText()
    const closedTag = this.#openTags.pop()
    if (!closedTag) return
    if (tagsRemovedWithContent.has(closedTag.name)) this.#removedDepth--
    if (!closedTag.isAllowed) return
    this.#allowedDepth--
    if (!voidTags.has(closedTag.name)) this.#html += `</${closedTag.name}>`
    if (paragraphTags.has(closedTag.name)) this.#text.push(paragraphEnd)
    if (closedTag.href !== null && this.#text.slice(closedTag.textStart).join('').trim() !== closedTag.href)
      this.#text.push(` (${closedTag.href})`)
  }

  finish(): RichText {
    this.#flushText()
    return {
      html: this.#restore(this.#html),
      text: layOut(this.#text.join(''), this.#restore),
      refusedAddresses: this.#refusedAddresses,
    }
  }

  #flushText(): void {
    if (this.#pendingText === '') return
    this.#html += this.#pendingText
      .split(token)
      .map((part, index) => (index % 2 ? `${tokenStart}${part}${tokenEnd}` : escapeText(part)))
      .join('')
    this.#text.push(this.#pendingText)
    this.#pendingText = ''
  }

  #formatAttributes(name: string, values: Record<string, string>): string {
    return (allowedAttributes.get(name) ?? [])
      .map((attribute) => {
        const value = values[attribute]
        const safeValue = value === undefined ? null : this.#cleanAttribute(attribute, value)
        return safeValue === null ? '' : ` ${attribute}="${safeValue}"`
      })
      .join('')
  }

  #cleanAttribute(name: string, value: string): string | null {
    if (name !== 'href' && name !== 'src') return cleanAttribute(name, value)
    const address = this.#restore(completeAddress(value))
    if (isAddress(address)) return textToHtml(address)
    if (address !== '') this.#refusedAddresses.push(this.#restore(value))
    return null
  }
}

const parserOptions = { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true }

function readRichText(source: string): RichText {
  const { markedText, restore } = hideLiquid(source)
  const writer = new RichTextWriter(restore)
  new Parser(writer, parserOptions).end(markedText)
  return writer.finish()
}

function cleanAttribute(name: string, value: string): string | null {
  if (value.search(token) >= 0) return null
  if (name === 'style') return cleanStyle(value)
  if (name === 'alt' || name === 'title') return escapeText(value).replaceAll('"', '&quot;')
  return /^\d{1,4}%?$/.test(value.trim()) ? value.trim() : null
}

/** Ignores the white space of the markup and separates paragraphs by an empty line. Liquid stays unchanged. */
function layOut(text: string, restore: (text: string) => string): string {
  const flat = text
    .replaceAll(/[^\S\u00A0]+/g, ' ')
    .replaceAll(/ ?([\uE002\uE003]) ?/g, '$1')
    .replaceAll(/[\uE002\uE003]+/g, (ends) => (ends.includes(paragraphEnd) ? '\n\n' : '\n'.repeat(ends.length)))
    .replaceAll('\u00A0', ' ')
    .trim()
  return flat
    .split(token)
    .map((part, index) => (index % 2 ? restore(`${tokenStart}${part}${tokenEnd}`) : escapeLiquid(part)))
    .join('')
}
