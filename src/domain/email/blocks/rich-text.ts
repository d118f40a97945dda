import { Parser } from 'htmlparser2'
import { escapeLiquid, escapeText, textToHtml } from '../escape.ts'
import { splitLiquid } from '../liquid/liquid.ts'
import { safeStyle } from './styles.ts'
import { isAddress } from './urls.ts'

/** Tags that are removed with their content. Of other tags that are not kept, the content stays. */
const droppedWhole = new Set([
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

const kept: ReadonlyMap<string, readonly string[]> = new Map(
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

const voids = new Set(['br', 'hr', 'img'])
const paragraphs = new Set(['blockquote', 'div', 'h1', 'h2', 'h3', 'h4', 'ol', 'p', 'pre', 'table', 'ul'])
const maxNesting = 40
/** The deepest nesting of tags, because closing a tag searches all open ones. */
const maxDepth = 500

/** Placeholders for Liquid while the markup is read, and for ends of paragraphs and lines while the text is made. */
const [opening, closing, paragraphEnd, lineEnd] = ['\uE000', '\uE001', '\uE002', '\uE003']
const ownCharacters = /[\uE000-\uE003]/g
const token = /\uE000(\d+)\uE001/g

const rawTag = /^\{%-?\s*(raw|endraw)\s*-?%\}$/

export interface RichText {
  html: string
  /** The same content as plain text. */
  text: string
}

export class TooDeep extends Error {
  override name = 'TooDeep'

  constructor() {
    super(`HTML tags can be nested at most ${maxDepth} deep.`)
  }
}

/** The most passes. Removing a tag may change how its neighbours close, so the result is read again until it is stable. */
const mostReadings = 6

/** A text is checked, cleaned for storing and compiled within one request: it is read for the first of them alone. */
const recent = new Map<string, RichText>()
const maxRecentLength = 1_000_000
let recentLength = 0

function cacheRichText(source: string, read: RichText): void {
  if (recent.has(source)) return
  recent.set(source, read)
  recentLength += source.length + read.html.length + read.text.length
  for (const [oldest, { html, text }] of recent) {
    if (recentLength <= maxRecentLength) break
    recent.delete(oldest)
    recentLength -= oldest.length + html.length + text.length
  }
}

/**
 * The markup without anything that could act, and its text. Liquid between tags and in addresses stays. Throws TooDeep
 * for tags that are nested without end.
 */
export function cleanRichText(source: string): RichText {
  const known = recent.get(source)
  if (known) return known
  let [written, read] = [source, readRichText(source)]
  for (let readings = 1; read.html !== written && readings < mostReadings; readings++)
    [written, read] = [read.html, readRichText(read.html)]
  cacheRichText(source, read)
  // The result is stable.
  if (read.html === written) cacheRichText(written, read)
  return read
}

/** Tags and outputs of Liquid are replaced by tokens while HTML is read; `restore` puts them back. */
function withoutLiquid(source: string): { marked: string; restore: (text: string) => string } {
  const liquid: string[] = []
  const marked = splitLiquid(source)
    .map((piece) => {
      // The text between them is escaped for Liquid below.
      if (rawTag.test(piece.text)) return ''
      if (!piece.isLiquid) return piece.text.replaceAll(ownCharacters, '')
      liquid.push(piece.text)
      return `${opening}${liquid.length - 1}${closing}`
    })
    .join('')
  return { marked, restore: (text) => text.replaceAll(token, (_, index: string) => liquid[Number(index)] ?? '') }
}

interface OpenTag {
  name: string
  isKept: boolean
  href: string | null
  textFrom: number
}

/** Writes the kept parts of a document, as HTML and as text. */
class RichTextWriter {
  #html = ''
  readonly #text: string[] = []
  /** An entity is a text of its own: all texts between two tags are handled together. */
  #unread = ''
  #dropping = 0
  #keptOpen = 0
  readonly #open: OpenTag[] = []
  readonly #restore: (text: string) => string

  constructor(restore: (text: string) => string) {
    this.#restore = restore
  }

  onopentag(name: string, attributes: Record<string, string>): void {
    this.#readText()
    if (this.#open.length === maxDepth) throw new TooDeep()
    if (droppedWhole.has(name)) this.#dropping++
    const isKept = this.#dropping === 0 && kept.has(name) && this.#keptOpen < maxNesting
    const href = name === 'a' && isKept ? (attributes['href'] ?? '').trim() : ''
    const isLink = href !== '' && isAddress(this.#restore(href))
    this.#open.push({ name, isKept, href: isLink ? href : null, textFrom: this.#text.length })
    if (!isKept) return
    this.#keptOpen++
    this.#html += `<${name}${this.#attributesOf(name, attributes)}${voids.has(name) ? ' /' : ''}>`
    if (paragraphs.has(name) || name === 'hr') this.#text.push(paragraphEnd)
    if (name === 'br' || name === 'tr') this.#text.push(lineEnd)
    if (name === 'li') this.#text.push(`${lineEnd}- `)
    if (name === 'td' || name === 'th') this.#text.push(' ')
    if (name === 'img') this.#text.push(attributes['alt'] ?? '')
  }

  ontext(data: string): void {
    if (this.#dropping === 0) this.#unread += data
  }

  onclosetag(): void {
    this.#readText()
    const closed = this.#open.pop()
    if (!closed) return
    if (droppedWhole.has(closed.name)) this.#dropping--
    if (!closed.isKept) return
    this.#keptOpen--
    if (!voids.has(closed.name)) this.#html += `</${closed.name}>`
    if (paragraphs.has(closed.name)) this.#text.push(paragraphEnd)
    if (closed.href !== null && this.#text.slice(closed.textFrom).join('').trim() !== closed.href)
      this.#text.push(` (${closed.href})`)
  }

  written(): RichText {
    this.#readText()
    return { html: this.#restore(this.#html), text: layOut(this.#text.join(''), this.#restore) }
  }

  #readText(): void {
    if (this.#unread === '') return
    this.#html += this.#unread
      .split(token)
      .map((part, index) => (index % 2 ? `${opening}${part}${closing}` : escapeText(part)))
      .join('')
    this.#text.push(this.#unread)
    this.#unread = ''
  }

  #attributesOf(name: string, given: Record<string, string>): string {
    return (kept.get(name) ?? [])
      .map((attribute) => {
        const value = given[attribute]
        const safe = value === undefined ? null : attributeValue(attribute, value, this.#restore)
        return safe === null ? '' : ` ${attribute}="${safe}"`
      })
      .join('')
  }
}

const parserOptions = { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true }

function readRichText(source: string): RichText {
  const { marked, restore } = withoutLiquid(source)
  const writer = new RichTextWriter(restore)
  new Parser(writer, parserOptions).end(marked)
  return writer.written()
}

function attributeValue(name: string, value: string, restore: (text: string) => string): string | null {
  if (name === 'href' || name === 'src') {
    const address = restore(value).trim()
    return isAddress(address) ? textToHtml(address) : null
  }
  if (value.search(token) >= 0) return null
  if (name === 'style') return safeStyle(value)
  if (name === 'alt' || name === 'title') return escapeText(value).replaceAll('"', '&quot;')
  return /^\d{1,4}%?$/.test(value.trim()) ? value.trim() : null
}

/** White space of markup is ignored; an empty line separates paragraphs. Liquid is kept unchanged. */
function layOut(text: string, restore: (text: string) => string): string {
  const flat = text
    .replaceAll(/[^\S\u00A0]+/g, ' ')
    .replaceAll(/ ?([\uE002\uE003]) ?/g, '$1')
    .replaceAll(/[\uE002\uE003]+/g, (ends) => (ends.includes(paragraphEnd) ? '\n\n' : '\n'.repeat(ends.length)))
    .replaceAll('\u00A0', ' ')
    .trim()
  return flat
    .split(token)
    .map((part, index) => (index % 2 ? restore(`${opening}${part}${closing}`) : escapeLiquid(part)))
    .join('')
}
