import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compile } from '../../src/domain/email/compile.ts'
import { personalise } from '../../src/domain/email/personalise.ts'
import { sampleContext } from '../../src/domain/email/variables.ts'
import { languages } from '../../src/domain/languages.ts'
import { subscriptionPage } from '../../src/modules/tracking/page.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { aMessageOf, framing, oneOfEach } from '../support/messages.ts'

/** Where pictures go, to be looked at: nowhere unless told. */
const pictures = process.env['PICTURES']

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.stop())

const picture = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="320"><rect width="640" height="320" fill="#0f766e"/></svg>',
)}`

const long = `<p>${'Averylongwordthatdoesnotend'.repeat(8)}</p><table><tr><td>One</td><td>Two</td></tr></table><p><a href="https://example.com/">A link</a></p>`

const message = aMessageOf(
  ...oneOfEach,
  { id: 'long', type: 'rich_text', data: { text: { en: long } } },
  { id: 'wide', type: 'image', data: { url: 'https://example.com/poster.png', alt: { en: 'Wide' }, width: 600 } },
)
const html = personalise(compile(message, 'en', framing), sampleContext()).html.replaceAll(
  'https://example.com/poster.png',
  picture,
)

/** Texts with the contrast of their colour to the ground that is painted behind them, and how tall they are. */
const measure = `(() => {
  const channels = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number)
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).slice(0, 3).map((value) => {
      const share = value / 255
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor
      if (channels(colour)[3] !== 0) return colour
    }
    return 'rgb(255, 255, 255)'
  }
  const texts = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const node = walker.currentNode
    const text = node.textContent.replace(/[\\s\\u200a]+/g, ' ').trim()
    if (!text) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    const box = range.getBoundingClientRect()
    const style = getComputedStyle(node.parentElement)
    const [one, other] = [luminance(style.color), luminance(ground(node.parentElement))].sort((a, b) => b - a)
    texts.push({ text, left: box.left, right: box.right, height: box.height, size: parseFloat(style.fontSize), contrast: (one + 0.05) / (other + 0.05) })
  }
  const images = [...document.images].map((image) => image.getBoundingClientRect()).map(({ left, right }) => ({ left, right }))
  return { wide: document.documentElement.scrollWidth, seen: innerWidth, texts, images, page: document.body.innerText }
})()`

interface Measured {
  wide: number
  seen: number
  texts: { text: string; left: number; right: number; height: number; size: number; contrast: number }[]
  images: { left: number; right: number }[]
  page: string
}

/** What is seen of a document on a screen; the picture is kept under the name where pictures go. */
async function look(document: string, width: number, scheme: string, name: string): Promise<Measured> {
  await browser.send('Emulation.setDeviceMetricsOverride', {
    width,
    height: 900,
    deviceScaleFactor: 1,
    mobile: width < 500,
  })
  await browser.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] })
  const { frameTree } = await browser.send<{ frameTree: { frame: { id: string } } }>('Page.getFrameTree')
  await browser.send('Page.setDocumentContent', { frameId: frameTree.frame.id, html: document })
  await browser.evaluate(
    'Promise.all([...document.images].map((image) => image.decode().catch(() => null))).then(() => 1)',
  )
  const seen = await browser.evaluate<Measured>(measure)
  if (pictures) {
    const shot = await browser.send<{ data: string }>('Page.captureScreenshot', { captureBeyondViewport: true })
    await mkdir(pictures, { recursive: true })
    await writeFile(join(pictures, `${name}.png`), Buffer.from(shot.data, 'base64'))
  }
  return seen
}

describe.each([360, 800])('a message of all blocks on a screen of %i pixels', (width) => {
  it.each(['light', 'dark'])('is seen whole and can be read, in the %s', async (scheme) => {
    const seen = await look(html, width, scheme, `${width}-${scheme}`)
    expect([seen.seen, seen.wide]).toEqual([width, width])
    const outside = [...seen.texts, ...seen.images].filter(({ left, right }) => left < 0 || right > width + 0.5)
    expect(outside).toEqual([])
    expect(seen.texts.filter(({ height, size }) => height < 8 || size < 12)).toEqual([])
    expect(seen.texts.filter(({ contrast }) => contrast < 4.5)).toEqual([])
    for (const text of [
      'Hello en Astrid',
      'Heading en & Nordlys',
      'Button en',
      'Left en',
      'Right en',
      'Day ticket',
      'DKK\u00A01,125.00',
      'Instagram',
      'Street 1',
      'Unsubscribe',
      'Nordlys ApS',
    ])
      expect(seen.page).toContain(text)
    expect(seen.images).toHaveLength(2)
  })
})

const subscriber = {
  campaign_id: 'cmp_1',
  n: 1,
  user_id: 'usr_1',
  address: 'a-very-long-address-of-somebody-who-reads-mails@festival-of-the-north.example.com',
  organization_id: 'org_1',
  organization_name: 'Nordlys & Friends of the Open Air ApS',
  edition_id: 'edt_1',
  channel: 'email',
} as const
const subscription = {
  consents: [{ title: 'Newsletter of the festival', channels: ['email' as const, 'sms' as const] }],
  tokens: { unsubscribe: 'out', resubscribe: 'back' },
}

describe.each([360, 800])('the page of a link to unsubscribe on a screen of %i pixels', (width) => {
  it.each(languages)('is seen whole and can be read, in %s, before and after', async (language) => {
    for (const [scheme, suppression] of [
      ['light', null],
      ['dark', 'unsubscribed'],
    ] as const) {
      const document = subscriptionPage({ ...subscriber, language }, { ...subscription, suppression }, false)
      const seen = await look(document, width, scheme, `page-${width}-${language}-${suppression ?? 'ask'}`)
      expect([seen.seen, seen.wide]).toEqual([width, width])
      expect(seen.texts.filter(({ left, right }) => left < 0 || right > width + 0.5)).toEqual([])
      expect(seen.texts.filter(({ height, size }) => height < 8 || size < 12)).toEqual([])
      for (const text of [subscriber.organization_name, subscriber.address, 'Newsletter of the festival'])
        expect(seen.page).toContain(text)
    }
  })
})
