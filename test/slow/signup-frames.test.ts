import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { embeddedFormPolicy, formPage } from '../../src/http/pages/html-page.ts'
import { renderSignupPage } from '../../src/modules/signup-forms/public/page.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { aPublicForm } from '../support/public-form.ts'

let browser: Browser
let formHost: Server
let site: Server
/** What the last sent form said about its site. */
const posts: { origin: string | undefined; referer: string | undefined; body: string }[] = []

const getPort = (server: Server): number => {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
const listen = async (
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Server> => {
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

const readAll = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** Serves the page with the headers of the Worker. */
async function serveForm(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const allowedSite = `http://localhost:${getPort(site)}`
  if (request.method === 'POST') {
    posts.push({ origin: request.headers.origin, referer: request.headers.referer, body: await readAll(request) })
    response.writeHead(303, { location: `${allowedSite}/thanks` }).end()
    return
  }
  const policy = await embeddedFormPolicy({ redirectSite: allowedSite, frameAncestors: [allowedSite] })
  const page = await formPage({ ...renderSignupPage(aPublicForm, 'en'), sendsOrigin: true })
  response
    .writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'SAMEORIGIN',
    })
    .end(page.toString())
}

beforeAll(async () => {
  site = await listen(async (request, response) => {
    const frame = `<iframe src="http://127.0.0.1:${getPort(formHost)}/" width="500" height="500"></iframe>`
    response.setHeader('content-type', 'text/html')
    response.end(`<!doctype html><title>${request.url}</title>${request.url === '/frame' ? frame : 'Thanks'}`)
  })
  formHost = await listen(serveForm)
  browser = await openBrowser()
  await browser.send('Page.enable')
})
afterAll(async () => {
  await browser?.stop()
  for (const server of [formHost, site]) server?.close()
})

/** Waits until the expression has a value in the page. */
async function waitFor(expression: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (await browser.evaluate<boolean>(expression).catch(() => false)) return
    await wait(100)
  }
  throw new Error(`The page never had ${expression}`)
}

const open = async (url: string): Promise<void> => {
  await browser.send('Page.navigate', { url })
  await waitFor(`location.href === ${JSON.stringify(url)} && document.readyState === 'complete'`)
}

const listFrames = async (): Promise<string[]> => {
  const { targetInfos } = await browser.send<{ targetInfos: { type: string; url: string }[] }>('Target.getTargets')
  return targetInfos.filter(({ type }) => type === 'iframe').map(({ url }) => url)
}

it('a form is shown in frames of an allowed site, and of no other', async () => {
  const formUrl = `http://127.0.0.1:${getPort(formHost)}/`
  await open(`http://localhost:${getPort(site)}/frame`)
  expect(await listFrames()).toEqual([formUrl])
  await open(`http://127.0.0.1:${getPort(site)}/frame`)
  expect(await listFrames()).not.toContain(formUrl)
})

it('a form says which site sends it, and goes on to the site of its redirect', async () => {
  const formUrl = `http://127.0.0.1:${getPort(formHost)}/`
  await open(formUrl)
  await browser.evaluate(`(() => {
    document.querySelector('input[name=email]').value = 'anna@example.test'
    for (const box of document.querySelectorAll('input[type=checkbox]')) box.checked = true
    document.querySelector('form').requestSubmit()
  })()`)
  await waitFor(`document.title === '/thanks'`)
  expect(posts).toHaveLength(1)
  expect(posts[0]?.origin).toBe(new URL(formUrl).origin)
  expect(posts[0]?.body).toContain('email=anna%40example.test&consent=con_1')
  expect(posts[0]?.body).toMatch(/homepage=$/)
})
