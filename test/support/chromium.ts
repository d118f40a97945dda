import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { findChromium } from './browser.ts'

/** What a page looked like. */
interface View {
  /** The page scrolls sideways if this is wider than `clientWidth`. */
  scrollWidth: number
  clientWidth: number
  height: number
  /** The text that a reader can read and select. */
  text: string
  title: string
  /** A picture of the whole page. */
  png: string
  /** Requests of the page, and errors in its console. */
  requests: string[]
  complaints: string[]
}

export interface Browser {
  /** Opens an address, or HTML, in a window of this width. */
  look: (page: string | { html: string }, width: number, name?: string) => Promise<View>
  close: () => Promise<void>
}

interface Message {
  id?: number
  method?: string
  sessionId?: string
  params?: Record<string, never>
  result?: Record<string, never>
  error?: { message: string }
}

const patienceMs = 30_000

/** Sends commands of the DevTools protocol over a pipe. */
function protocol(input: Writable, output: Readable) {
  let last = 0
  let rest = ''
  const waiting = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>()
  const listeners = new Set<(message: Message) => void>()
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\0')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const message = JSON.parse(part) as Message
      const request = waiting.get(message.id ?? 0)
      waiting.delete(message.id ?? 0)
      if (message.error) request?.reject(new Error(message.error.message))
      else request?.resolve(message.result as never)
      if (message.method) for (const listener of listeners) listener(message)
    }
  })
  return {
    listeners,
    send: <Result>(method: string, params: object = {}, sessionId?: string): Promise<Result> =>
      new Promise<Result>((resolve, reject) => {
        const id = ++last
        const timer = setTimeout(() => reject(new Error(`Chromium does not answer ${method}.`)), patienceMs)
        const finish = (how: (value: never) => void) => (value: never) => {
          clearTimeout(timer)
          how(value)
        }
        waiting.set(id, { resolve: finish(resolve), reject: finish(reject as (value: never) => void) as never })
        input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
      }),
  }
}

const measure = `({ scrollWidth: document.documentElement.scrollWidth, clientWidth: document.documentElement.clientWidth,
  height: document.documentElement.scrollHeight, text: document.body.innerText, title: document.title })`

/** Starts a headless Chromium. Pictures go to `pictures`, by default a new folder. */
export async function openBrowser(pictures?: string): Promise<Browser> {
  const program = findChromium()
  const profile = await mkdtemp(join(tmpdir(), 'chromium-'))
  const folder = pictures ?? (await mkdtemp(join(tmpdir(), 'pictures-')))
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--no-first-run']
  const child = spawn(
    program,
    [...flags, '--disable-dev-shm-usage', '--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true },
  )
  const [, , , input, output] = child.stdio as unknown as [null, null, null, Writable, Readable]
  const { send, listeners } = protocol(input, output)

  async function look(page: string | { html: string }, width: number, name = `view-${width}`): Promise<View> {
    const { targetId } = await send<{ targetId: string }>('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await send<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true })
    const requests: string[] = []
    const complaints: string[] = []
    let loaded = () => {}
    const pageLoad = new Promise<void>((resolve) => (loaded = resolve))
    const listener = (message: Message) => {
      if (message.sessionId !== sessionId) return
      const params = message.params as unknown as { request?: { url: string }; entry?: { text: string } }
      if (message.method === 'Network.requestWillBeSent') requests.push(params.request?.url ?? '')
      if (message.method === 'Log.entryAdded') complaints.push(params.entry?.text ?? '')
      if (message.method === 'Page.loadEventFired') loaded()
    }
    listeners.add(listener)
    const sendToPage = <Result>(method: string, params: object = {}) => send<Result>(method, params, sessionId)
    try {
      for (const domain of ['Page', 'Network', 'Log']) await sendToPage(`${domain}.enable`)
      const screen = { width, height: 800, deviceScaleFactor: 1, mobile: false }
      await sendToPage('Emulation.setDeviceMetricsOverride', screen)
      if (typeof page === 'string') {
        await sendToPage('Page.navigate', { url: page })
        await pageLoad
      } else {
        const { frameTree } = await sendToPage<{ frameTree: { frame: { id: string } } }>('Page.getFrameTree')
        await sendToPage('Page.setDocumentContent', { frameId: frameTree.frame.id, html: page.html })
      }
      const { result } = await sendToPage<{ result: { value: Omit<View, 'png' | 'requests' | 'complaints'> } }>(
        'Runtime.evaluate',
        { expression: measure, returnByValue: true },
      )
      const shot = { format: 'png', captureBeyondViewport: true }
      const { data } = await sendToPage<{ data: string }>('Page.captureScreenshot', shot)
      const png = join(folder, `${name}.png`)
      await writeFile(png, Buffer.from(data, 'base64'))
      return { ...result.value, png, requests, complaints }
    } finally {
      listeners.delete(listener)
      await send('Target.closeTarget', { targetId }).catch(() => undefined)
    }
  }

  return {
    look,
    close: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      await send('Browser.close').catch(() => undefined)
      if (child.exitCode === null && child.pid) {
        const { pid } = child
        const timer = setTimeout(() => process.kill(-pid, 'SIGKILL'), 5000)
        await ended
        clearTimeout(timer)
      }
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
