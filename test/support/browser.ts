import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** A headless Chromium, driven by its DevTools protocol. */
export interface Browser {
  send: <Result = unknown>(method: string, params?: object) => Promise<Result>
  /** Returns the value of an expression in the page. */
  evaluate: <Value>(expression: string) => Promise<Value>
  stop: () => Promise<void>
}

const programs = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Finds Chromium on this machine. CHROMIUM names another place. */
export const findChromium = (): string => {
  const program = programs.find((path) => path && existsSync(path))
  if (!program) throw new Error('Chromium is not installed; .ci/run installs it.')
  return program
}

async function until<T>(what: string, attempt: () => Promise<T | null>): Promise<T> {
  for (let tries = 0; tries < 300; tries++) {
    const debugUrl = await attempt().catch(() => null)
    if (debugUrl !== null) return debugUrl
    await wait(100)
  }
  throw new Error(`Chromium has no ${what}`)
}

interface Answer {
  id?: number
  result?: unknown
  error?: { message: string }
}

async function connect(address: string): Promise<{ send: Browser['send']; close: () => void }> {
  const socket = new WebSocket(address)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true })
    socket.addEventListener('error', reject, { once: true })
  })
  const waiting = new Map<number, (answer: Answer) => void>()
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer)
  })
  let last = 0
  const send = <Result>(method: string, params: object = {}) =>
    new Promise<Result>((resolve, reject) => {
      const id = ++last
      waiting.set(id, ({ error, result }) => (error ? reject(new Error(error.message)) : resolve(result as Result)))
      socket.send(JSON.stringify({ id, method, params }))
    })
  return { send, close: () => socket.close() }
}

export async function openBrowser(): Promise<Browser> {
  const folder = await mkdtemp(join(tmpdir(), 'browser-'))
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--remote-debugging-port=0']
  const child = spawn(findChromium(), [...flags, `--user-data-dir=${folder}`, 'about:blank'], { stdio: 'ignore' })
  const exit = new Promise((resolve) => child.once('exit', resolve))
  const port = await until(
    'port',
    async () => (await readFile(join(folder, 'DevToolsActivePort'), 'utf8')).split('\n')[0] ?? null,
  )
  const page = await until('page', async () => {
    const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
      type: string
      webSocketDebuggerUrl: string
    }[]
    return targets.find(({ type }) => type === 'page') ?? null
  })
  const { send, close } = await connect(page.webSocketDebuggerUrl)
  return {
    send,
    evaluate: async <Value>(expression: string) => {
      const answer = await send<{ result: { value: Value } }>('Runtime.evaluate', {
        expression,
        returnByValue: true,
        awaitPromise: true,
      })
      return answer.result.value
    },
    stop: async () => {
      close()
      child.kill('SIGKILL')
      await exit
      await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}
