import * as fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { OutboundEmail } from '../../../src/gateways/email/email.ts'
import { createResendGateway } from '../../../src/gateways/email/resend.ts'
import { anEmail } from '../../support/outbound.ts'

const resend = createResendGateway({ apiBase: 'https://mail.example', apiKey: 're_key', now: () => 0 })
afterEach(() => vi.restoreAllMocks())

/** Captures the bytes of the call that sends these e-mails. */
async function sentBytes(messages: readonly OutboundEmail[]): Promise<Uint8Array> {
  let sent = new Uint8Array()
  const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
    sent = new Uint8Array(init?.body as Uint8Array)
    return Response.json({ data: [] })
  })
  await resend.send(messages, 'key')
  fetched.mockRestore()
  return sent
}

const encoded = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))

/** The e-mail in the format of the provider. */
const buildWire = ({ from, to, replyTo, subject, html, text, headers, reference }: OutboundEmail) => ({
  from: `${from.name} <${from.address}>`,
  to: [to.address],
  ...(replyTo === null ? {} : { reply_to: replyTo }),
  subject,
  html,
  text,
  headers,
  tags: [{ name: 'reference', value: reference }],
})

const hard = fc.constantFrom(
  '"',
  '\\',
  '\n',
  '\t',
  '\u0000',
  '\u001F',
  '\u007F',
  '\u2028',
  '\u2029',
  'Ægir',
  '–',
  '&<b>',
)
const emoji = fc.constantFrom('😀', '👩‍👩‍👧', '\uD83D', '\uDE00', '\uDBFF', '\uDFFF\uD800')
const plain = fc.oneof(hard, emoji, fc.string({ unit: 'binary', maxLength: 4 }), fc.constant('x'.repeat(3000)))
const text = fc.array(plain, { maxLength: 4 }).map((parts) => parts.join(''))

const letter = fc.record({ html: text, text })

describe('the body of a call to Resend', () => {
  it('is the JSON of its e-mails, for any texts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(letter, { minLength: 1, maxLength: 4 }), async (letters) => {
        const messages = letters.map((parts) => anEmail(parts))
        expect(await sentBytes(messages)).toEqual(encoded(messages.map(buildWire)))
      }),
      { numRuns: 200 },
    )
  })

  /** Makes calls with these answers, and returns their bodies as they are in memory after the last one. */
  async function sendAll(statuses: readonly number[]): Promise<Uint8Array[]> {
    const bodies: Uint8Array[] = []
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
      bodies.push(init?.body as Uint8Array)
      return Response.json({ data: [{ id: 'a' }] }, { status: statuses[bodies.length - 1] ?? 200 })
    })
    for (const _ of statuses) await resend.send([anEmail({ html: `<p>${bodies.length}</p>` })], 'key')
    fetched.mockRestore()
    return bodies
  }
  const readHtml = (body: Uint8Array | undefined) => /<p>\d<\/p>/.exec(new TextDecoder().decode(body))?.[0]

  it('is not overwritten while a call without a good answer may still be on its way', async () => {
    const [first, second, third] = await sendAll([500, 429, 200])
    expect([first, second, third].map(readHtml)).toEqual(['<p>0</p>', '<p>1</p>', '<p>2</p>'])
  })
})
