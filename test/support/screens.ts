import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from './browser.ts'

/** The folder for pictures, if one is named. */
const pictures = process.env['PICTURES']

/** Lists texts with their contrast to the painted background, and their height. */
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

export interface ScreenView {
  wide: number
  seen: number
  texts: { text: string; left: number; right: number; height: number; size: number; contrast: number }[]
  images: { left: number; right: number }[]
  page: string
}

/** Reads a document on a screen, and stores its picture under the name if there is a folder. */
export async function look(
  browser: Browser,
  document: string,
  { width, scheme, name }: { width: number; scheme: string; name: string },
): Promise<ScreenView> {
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
  const view = await browser.evaluate<ScreenView>(measure)
  if (pictures) {
    const shot = await browser.send<{ data: string }>('Page.captureScreenshot', { captureBeyondViewport: true })
    await mkdir(pictures, { recursive: true })
    await writeFile(join(pictures, `${name}.png`), Buffer.from(shot.data, 'base64'))
  }
  return view
}
