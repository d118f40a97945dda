import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, openBrowser } from '../support/browser.ts'
import { launch, type Launcher } from '../support/launcher.ts'
import { look } from '../support/screens.ts'

const token = 'root-token-of-file-images'

function crc(bytes: Buffer): number {
  let sum = 0xff_ff_ff_ff
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xed_b8_83_20 : 0)
  }
  return (sum ^ 0xff_ff_ff_ff) >>> 0
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(content.length, 0)
  frame.writeUInt32BE(crc(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}

/** Draws a PNG that decodes to a gradient. */
function gradient(width: number, height: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const rows = Array.from({ length: height }, (_, y) => {
    const row = Buffer.alloc(1 + width * 3)
    for (let x = 0; x < width; x++) row.set([(x * 255) / width, (y * 255) / height, 120], 1 + x * 3)
    return row
  })
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

let folder: string
let server: Launcher
let browser: Browser

interface Body {
  id: string
  html: string
  image: { thumbnail: string; optimized: string }
}

async function send(
  method: string,
  path: string,
  body: object | Buffer,
  headers: Record<string, string> = {},
): Promise<Body> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(Buffer.isBuffer(body) ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: Buffer.isBuffer(body) ? (body as Buffer<ArrayBuffer>) : JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`)
  return JSON.parse(text) as Body
}

let html: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-images-'))
  server = await launch({ STATE_DIR: join(folder, 'state'), ROOT_TOKEN: token })
  await server.ready
  browser = await openBrowser()
  const organization = await send('POST', '/v1/organizations', { name: 'Nordlys' })
  const file = await send('POST', `/v1/files?organization_id=${organization.id}`, gradient(1400, 700), {
    'content-type': 'image/png',
    'content-disposition': 'attachment; filename="poster.png"',
  })
  const message = await send('POST', '/v1/email-messages', {
    organization_id: organization.id,
    title: 'Poster',
    subject: { en: 'Poster' },
    type: 'reminder',
    scope: 'template',
  })
  const alt = { en: 'The poster' }
  const column = (id: string, data: object) => ({ blocks: [{ id, type: 'image', data: { alt, ...data } }] })
  const blocks = [
    { type: 'heading', data: { text: { en: 'See you there' } } },
    { type: 'image', data: { alt, file_id: file.id } },
    {
      type: 'columns',
      data: { columns: [column('a', { url: file.image.thumbnail }), column('b', { url: file.image.optimized })] },
    },
  ]
  await send('PATCH', `/v1/email-messages/${message.id}`, { blocks })
  html = (await send('POST', `/v1/email-messages/${message.id}/preview`, { mode: 'mjml' })).html
}, 300_000)

afterAll(async () => {
  await browser?.stop()
  server?.kill('SIGTERM')
  await server?.ended
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

describe.each([360, 800])('a mail with uploaded images on a screen of %i pixels', (width) => {
  it('shows all of them completely', async () => {
    const view = await look(browser, html, { width, scheme: 'light', name: `file-images-${width}` })
    expect([view.seen, view.wide]).toEqual([width, width])
    expect(view.images).toHaveLength(3)
    expect(view.images.filter(({ left, right }) => left < 0 || right > width + 0.5 || right - left < 100)).toEqual([])
    const decoded = await browser.evaluate<number[]>(
      '[...document.images].map((image) => image.complete ? image.naturalWidth : 0)',
    )
    expect(decoded).toEqual([1400, 200, 1200])
  })
})
