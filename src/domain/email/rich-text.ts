import { Parser } from 'htmlparser2'
import { escapeLiquid, escapeText, textToHtml } from './escape.ts'
import { piecesOf } from './liquid.ts'
import { safeStyle } from './styles.ts'
import { isAddress } from './urls.ts'

/** What is between these goes with them. All other tags that are not kept lose themselves alone. */
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
/** Of tags in each other as they are written: those that are closed are looked for among those that are open. */
const maxDepth = 500

/** Stand for Liquid while the markup is read, and for ends of paragraphs and lines while the text is made. */
const [opening, closing, paragraphEnd, lineEnd] = ['\uE000', '\uE001', '\uE002', '\uE003']
const ownCharacters = /[\uE000-\uE003]/g
const token = /\uE000(\d+)\uE001/g

const rawTag = /^\{%-?\s*(raw|endraw)\s*-?%\}$/

export interface RichText {
  html: string
  /** The same as plain text. */
  text: string
}

export class TooDeep extends Error {
  override name = 'TooDeep'

  constructor() {
    super(`Tags of HTML stand at most ${maxDepth} deep in each other.`)
  }
}

/** Taking a tag out may change how those beside it close: so it is read again until it reads as it is written. */
const mostReadings = 6

/** A text is checked, cleaned for storing and compiled within one request: it is read for the first of them alone. */
const recent = new Map<string, RichText>()
const maxRecentLength = 1_000_000
let recentLength = 0

function remember(source: string, read: RichText): void {
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
 * for tags that stand in each other without end.
 */
export function cleanRichText(source: string): RichText {
  const known = recent.get(source)
  if (known) return known
  let [written, read] = [source, readRichText(source)]
  for (let readings = 1; read.html !== written && readings < mostReadings; readings++)
    [written, read] = [read.html, readRichText(read.html)]
  remember(source, read)
  // It reads as it is written.
  if (read.html === written) remember(written, read)
  return read
}

function readRichText(source: string): RichText {
  const liquid: string[] = []
  const marked = piecesOf(source)
    .map((piece) => {
      // What stands between them is kept from Liquid letter by letter below.
      if (rawTag.test(piece.text)) return ''
      if (!piece.isLiquid) return piece.text.replaceAll(ownCharacters, '')
      liquid.push(piece.text)
      return `${opening}${liquid.length - 1}${closing}`
    })
    .join('')
  const restore = (text: string) => text.replaceAll(token, (_, index: string) => liquid[Number(index)] ?? '')

  let html = ''
  const text: string[] = []
  // An entity comes as a text of its own: what stands between two tags is handled together.
  let unread = ''
  const readText = () => {
    if (unread === '') return
    html += unread
      .split(token)
      .map((part, index) => (index % 2 ? `${opening}${part}${closing}` : escapeText(part)))
      .join('')
    text.push(unread)
    unread = ''
  }
  let dropping = 0
  let keptOpen = 0
  const open: { name: string; isKept: boolean; href: string | null; textFrom: number }[] = []

  const attributesOf = (name: string, given: Record<string, string>): string =>
    (kept.get(name) ?? [])
      .map((attribute) => {
        const value = given[attribute]
        const safe = value === undefined ? null : attributeValue(attribute, value, restore)
        return safe === null ? '' : ` ${attribute}="${safe}"`
      })
      .join('')

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        readText()
        if (open.length === maxDepth) throw new TooDeep()
        if (droppedWhole.has(name)) dropping++
        const isKept = dropping === 0 && kept.has(name) && keptOpen < maxNesting
        const href = name === 'a' && isKept ? (attributes['href'] ?? '').trim() : ''
        const isLink = href !== '' && isAddress(restore(href))
        open.push({ name, isKept, href: isLink ? href : null, textFrom: text.length })
        if (!isKept) return
        keptOpen++
        html += `<${name}${attributesOf(name, attributes)}${voids.has(name) ? ' /' : ''}>`
        if (paragraphs.has(name) || name === 'hr') text.push(paragraphEnd)
        if (name === 'br' || name === 'tr') text.push(lineEnd)
        if (name === 'li') text.push(`${lineEnd}- `)
        if (name === 'td' || name === 'th') text.push(' ')
        if (name === 'img') text.push(attributes['alt'] ?? '')
      },
      ontext(data) {
        if (dropping === 0) unread += data
      },
      onclosetag() {
        readText()
        const closed = open.pop()
        if (!closed) return
        if (droppedWhole.has(closed.name)) dropping--
        if (!closed.isKept) return
        keptOpen--
        if (!voids.has(closed.name)) html += `</${closed.name}>`
        if (paragraphs.has(closed.name)) text.push(paragraphEnd)
        if (closed.href !== null && text.slice(closed.textFrom).join('').trim() !== closed.href)
          text.push(` (${closed.href})`)
      },
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  )
  parser.end(marked)
  readText()
  return { html: restore(html), text: layOut(text.join(''), restore) }
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

/** White space of markup says nothing; paragraphs stand a line apart. Liquid is kept letter by letter. */
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
