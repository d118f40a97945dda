/** Tags that the editor for formatted text keeps. HTML with others is edited as it is. */
const blockTags = new Set(['P', 'H1', 'H2', 'H3', 'H4', 'UL', 'OL', 'LI', 'BLOCKQUOTE'])
const inlineTags = new Set(['A', 'B', 'STRONG', 'I', 'EM', 'U', 'S', 'BR'])

/** A link of the formatted text: an address, or a variable that holds one. */
export const isLink = (href: string): boolean => /^(?:https?:|mailto:|tel:|\{\{)/i.test(href.trim())

const parse = (html: string): HTMLElement => new DOMParser().parseFromString(html, 'text/html').body

const isBlank = (text: string | null): boolean => (text ?? '').trim() === ''

function isSimpleElement(element: Element): boolean {
  if (element.tagName === 'A') {
    const names = element.getAttributeNames()
    return names.length === 1 && names[0] === 'href' && isLink(element.getAttribute('href') ?? '')
  }
  return element.attributes.length === 0 && (blockTags.has(element.tagName) || inlineTags.has(element.tagName))
}

/** True if the editor for formatted text shows all of the HTML, so that no part is lost by a change. */
export function isSimple(html: string): boolean {
  const body = parse(html)
  const elements = [...body.querySelectorAll('*')]
  if (html.includes('<!--') || !elements.every(isSimpleElement)) return false
  const hasBlocks = [...body.children].some(({ tagName }) => blockTags.has(tagName))
  const hasTextBetween = [...body.childNodes].some(
    (node) => node.nodeType === Node.TEXT_NODE && !isBlank(node.textContent),
  )
  return !(hasBlocks && hasTextBetween)
}

/** Liquid stays as it is written: an escaped comparison would be another template. */
const escapeText = (text: string): string =>
  text
    .split(/(\{\{[^{}]*\}\}|\{%[^{}]*%\})/)
    .map((part, index) =>
      index % 2 === 1 ? part : part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
    )
    .join('')

const writeAll = (nodes: Iterable<Node>): string => [...nodes].map(writeNode).join('')

function writeNode(node: Node): string {
  if (node.nodeType === Node.TEXT_NODE) return escapeText((node.textContent ?? '').replaceAll('\u00a0', ' '))
  if (!(node instanceof Element)) return ''
  const content = writeAll(node.childNodes)
  if (node.tagName === 'BR') return '<br>'
  if (node.tagName === 'DIV') return `<p>${content}</p>`
  if (node.tagName === 'A') {
    const href = node.getAttribute('href') ?? ''
    return isLink(href) ? `<a href="${href.replaceAll('"', '&quot;')}">${content}</a>` : content
  }
  if (!blockTags.has(node.tagName) && !inlineTags.has(node.tagName)) return content
  const tag = node.tagName.toLowerCase()
  return `<${tag}>${content}</${tag}>`
}

const isBlock = (node: Node): boolean =>
  node instanceof Element && (blockTags.has(node.tagName) || node.tagName === 'DIV')

/** Writes what is in the editor as HTML. Text that stands in no paragraph gets one. */
export function readHtml(root: Element): string {
  if (isBlank(root.textContent)) return ''
  const groups: { isBlock: boolean; nodes: Node[] }[] = []
  for (const node of root.childNodes) {
    const last = groups.at(-1)
    if (isBlock(node) || !last || last.isBlock) groups.push({ isBlock: isBlock(node), nodes: [node] })
    else last.nodes.push(node)
  }
  return groups
    .map((group) => {
      const content = writeAll(group.nodes)
      return group.isBlock || content.trim() === '' ? content.trim() : `<p>${content.trim()}</p>`
    })
    .join('')
}

/** HTML of another program with the tags that the editor keeps. */
export const cleanHtml = (html: string): string => {
  const body = parse(html)
  for (const element of body.querySelectorAll('style, script, title, template')) element.remove()
  return writeAll(body.childNodes)
}

/** Shows the HTML in the editor, element by element, without attributes but the addresses of links. */
export function showHtml(root: Element, html: string): void {
  root.replaceChildren(...copyNodes(parse(html)))
}

function copyNodes(parent: Node): Node[] {
  return [...parent.childNodes].flatMap((node): Node[] => {
    if (node.nodeType === Node.TEXT_NODE) return [document.createTextNode(node.textContent ?? '')]
    if (!(node instanceof Element)) return []
    const content = copyNodes(node)
    if (!blockTags.has(node.tagName) && !inlineTags.has(node.tagName)) return content
    const copy = document.createElement(node.tagName)
    const href = node.getAttribute('href') ?? ''
    if (node.tagName === 'A' && isLink(href)) copy.setAttribute('href', href)
    copy.append(...content)
    return [copy]
  })
}
