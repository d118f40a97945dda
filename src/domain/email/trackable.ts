import type { Template } from './compile.ts'

const entities: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&#123;': '{',
}

const unescape = (html: string): string =>
  html.replaceAll(/&(?:amp|lt|gt|quot|#39|#123);/g, (entity) => entities[entity] ?? entity)

/** Links of messages have their address as the first thing in quotes after `href`; only whole ones are counted. */
const link = /(<a\s(?:[^<>]*?\s)?href=")(https?:\/\/[^"]*)"/gi

const pixel =
  '<img src="{{ tracking.pixel }}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0" />'

/**
 * The template with its links leading through counters, `{{ tracking.links[0] }}` and on, and a pixel at its end. Links
 * that Liquid has a part in stay as they are, the one that unsubscribes among them.
 */
export function trackable(template: Template): Template {
  const links: string[] = []
  const html = template.html.replaceAll(link, (match, before: string, href: string) => {
    if (/\{[{%]/.test(href)) return match
    const address = unescape(href)
    const knownIndex = links.indexOf(address)
    const index = knownIndex < 0 ? links.push(address) - 1 : knownIndex
    return `${before}{{ tracking.links[${index}] }}"`
  })
  const end = html.lastIndexOf('</body>')
  return { ...template, html: html.slice(0, end) + pixel + html.slice(end), links }
}
