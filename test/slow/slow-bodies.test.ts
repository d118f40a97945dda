import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch, type Launcher } from '../support/launcher.ts'

const token = 'root-token-of-slow-bodies'
const limitMs = 15_000
const graceMs = 2000

let folder: string
let server: Launcher
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slow-bodies-'))
  server = await launch({ STATE_DIR: join(folder, 'state'), ROOT_TOKEN: token })
  await server.ready
})
afterAll(async () => {
  server?.kill('SIGTERM')
  await server?.ended
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

const authorization = `Bearer ${token}`

const call = (path: string, body?: object) =>
  fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })

async function namesOfOrganizations(): Promise<string[]> {
  const { results } = (await (await call('/v1/organizations')).json()) as { results: { name: string }[] }
  return results.map(({ name }) => name).toSorted()
}

interface Answer {
  ms: number
  status: number | null
  text: string
  bytesSent: number
}

/** Sends the headers of a request, then its body byte by byte, until there is an answer or the connection ends. */
function trickle(framing: 'content-length' | 'chunked', body: string): Promise<Answer> {
  const isChunked = framing === 'chunked'
  const length = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`
  const head = `POST /v1/organizations HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`
  return new Promise((resolve) => {
    const socket = connect(server.port, '127.0.0.1')
    let [started, bytesSent, text] = [0, 0, '']
    const finish = () => {
      clearInterval(timer)
      socket.destroy()
      const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1]
      resolve({
        ms: performance.now() - started,
        status: status === undefined ? null : Number(status),
        text,
        bytesSent,
      })
    }
    const timer = setInterval(() => {
      const letter = body[bytesSent++]
      if (started && letter !== undefined) socket.write(isChunked ? `1\r\n${letter}\r\n` : letter)
    }, 1000)
    socket.setEncoding('utf8').on('connect', () => {
      started = performance.now()
      socket.write(head)
    })
    socket.on('data', (part: string) => {
      text += part
      if (text.includes('request_timeout')) finish()
    })
    socket.once('close', finish).on('error', () => {})
  })
}

describe('a body that comes over a socket byte by byte', () => {
  it.for(['content-length', 'chunked'] as const)(
    'gets 408 after 15 seconds, changes nothing and delays nobody: %s',
    async (framing) => {
      const body = JSON.stringify({ name: `Slow ${framing} ${'x'.repeat(100)}` })
      const sent = trickle(framing, body)
      const ended = new AbortController()
      void sent.then(() => ended.abort())
      const waits: number[] = []
      for (let count = 0; !ended.signal.aborted; count++) {
        const start = performance.now()
        const { status } = await call('/v1/organizations', { name: `Quick ${framing} ${count}` })
        expect(status).toBe(201)
        waits.push(performance.now() - start)
        await new Promise((resolve) => setTimeout(resolve, 500))
      }
      const { ms, status, text, bytesSent } = await sent
      expect([status, /"code":\s*"request_timeout"/.test(text)]).toEqual([408, true])
      expect(text).toMatch(/content-type: application\/problem\+json/i)
      expect(ms).toBeGreaterThanOrEqual(limitMs - 100)
      expect(ms).toBeLessThan(limitMs + graceMs)
      expect(bytesSent).toBeLessThan(body.length)
      expect([waits.length > 10, Math.max(...waits) < 5000]).toEqual([true, true])
      const names = await namesOfOrganizations()
      expect(names.filter((name) => name.startsWith('Slow'))).toEqual([])
      expect(names).toContain(`Quick ${framing} 0`)
    },
  )
})
