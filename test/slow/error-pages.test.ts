import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codePage, indexPage, layout } from '../../src/http/pages/error-pages.ts'
import { pagePolicy } from '../../src/http/pages/html-page.ts'
import { startLinks, startPage } from '../../src/http/pages/reference.ts'
import { type Browser, openBrowser } from '../support/chromium.ts'

const pages: Record<string, () => ReturnType<typeof layout> | null> = {
  start: () => startPage(startLinks(true)),
  errors: indexPage,
  conflict: () => codePage('edition_not_publishable', (path) => `https://events.example.com${path}`),
  field: () => codePage('forbidden_destination', (path) => path),
}

let server: Server
let browser: Browser
beforeAll(async () => {
  browser = await openBrowser(process.env['PICTURES'])
  server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1)
    void Promise.all([pages[name]?.(), pagePolicy()]).then(([page, policy]) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy })
      response.end(String(page))
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
})
afterAll(async () => {
  await browser?.close()
  server?.close()
})

describe('the pages about errors in a browser', () => {
  it.for(Object.keys(pages).flatMap((name) => [360, 800].map((width) => [name, width] as const)))(
    'show %s completely, %i pixels wide, under their policy',
    async ([name, width]) => {
      const view = await browser.look(
        `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}`,
        width,
        `${name}-${width}`,
      )
      expect(view.scrollWidth).toBeLessThanOrEqual(width)
      expect(view.text.length).toBeGreaterThan(100)
      expect(view.complaints).toEqual([])
      expect(view.requests.filter((url) => !url.startsWith('data:'))).toHaveLength(1)
    },
  )
})
