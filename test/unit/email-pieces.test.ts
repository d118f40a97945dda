import * as fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Template } from '../../src/domain/email/compile.ts'
import { personalise, personaliseInPieces } from '../../src/domain/email/personalise.ts'
import type { OutboundEmail } from '../../src/gateways/email/email.ts'
import { createResendGateway } from '../../src/gateways/email/resend.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { anEmail } from '../support/outbound.ts'

const resend = createResendGateway({ apiBase: 'https://mail.example', apiKey: 're_key', now: () => 0 })
afterEach(() => vi.restoreAllMocks())

/** The bytes of the call that sends these. */
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

/** What the provider gets of a message, written without pieces. */
const wireOf = ({ from, to, replyTo, subject, html, text, headers, reference }: OutboundEmail) => ({
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
const name = fc.array(plain, { maxLength: 4 }).map((parts) => parts.join(''))

const variable = fc.constantFrom('customer.first_name', 'customer.last_name', 'tracking.links[0]', 'edition.name')
const tag = fc.oneof(
  variable.map((path) => `{{ ${path} }}`),
  fc
    .tuple(variable, fc.constantFrom('upcase', 'slice: 0', 'slice: 1', 'truncate: 3'))
    .map(([path, filter]) => `{{ ${path} | ${filter} }}`),
  fc.tuple(variable, plain.map(withoutBraces)).map(([path, text]) => `{% if ${path} %}${text}{% endif %}`),
  fc
    .tuple(variable, plain.map(withoutBraces))
    .map(([path, text]) => `{% capture x %}${text}{{ ${path} }}{% endcapture %}{{ x }}{{ x }}`),
)

function withoutBraces(text: string): string {
  return text.replaceAll(/[{}]/g, '')
}

const part = fc.array(fc.oneof(tag, plain.map(withoutBraces)), { maxLength: 7 }).map((parts) => parts.join(''))
const template: fc.Arbitrary<Template> = fc
  .record({ subject: part, html: part, text: part })
  .map((texts) => ({ ...texts, links: [] }))
const person = fc.record({ first_name: name, last_name: name })

describe('a letter in pieces', () => {
  it('goes out as the same bytes as its whole text, for any template and names', async () => {
    let pieces = 0
    await fc.assert(
      fc.asyncProperty(template, fc.array(person, { minLength: 1, maxLength: 4 }), async (of, people) => {
        const contexts = people.map((customer) => ({
          customer,
          edition: { name: 'Nordlys "2027"' },
          tracking: { links: ['https://a.example/t/c/1'], pixel: '' },
        }))
        const letters = contexts.map((context) => anEmail(personaliseInPieces(of, context)))
        pieces += letters.reduce((sum, { htmlPieces }) => sum + (htmlPieces?.length ?? 0), 0)
        const whole = letters.map((letter, index) => ({ ...letter, ...personalise(of, contexts[index] ?? {}) }))
        for (const { html } of whole) expect(html.isWellFormed()).toBe(true)
        expect(await sentBytes(letters)).toEqual(encoded(whole.map(wireOf)))
      }),
      { numRuns: dearRuns(200, 50) },
    )
    expect(pieces).toBeGreaterThan(100)
  })

  it('is the same letter when a character is cut between two pieces', async () => {
    const of = { subject: '', html: '{{ customer.first_name }}{{ customer.last_name }}', text: '', links: [] }
    const customer = { first_name: '\uD83D', last_name: '\uDE00' }
    const letter = anEmail(personaliseInPieces(of, { customer }))
    expect(letter.html).toBe('😀')
    expect(await sentBytes([letter])).toEqual(encoded([wireOf(letter)]))
  })

  it('is the HTML itself where a message has no pieces', async () => {
    const letter = anEmail({ html: '<p>"Æ" \uD83D</p>', replyTo: 'help@nordlys.example' })
    expect(await sentBytes([letter])).toEqual(encoded([wireOf(letter)]))
  })
})

describe('the memory of a body', () => {
  /** Bodies of calls that are answered so, as they are in memory after the last one. */
  async function bodiesAfter(statuses: readonly number[]): Promise<Uint8Array[]> {
    const bodies: Uint8Array[] = []
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
      bodies.push(init?.body as Uint8Array)
      return Response.json({ data: [{ id: 'a' }] }, { status: statuses[bodies.length - 1] ?? 200 })
    })
    for (const _ of statuses) await resend.send([anEmail({ html: `<p>${bodies.length}</p>` })], 'key')
    fetched.mockRestore()
    return bodies
  }
  const htmlOf = (body: Uint8Array | undefined) => /<p>\d<\/p>/.exec(new TextDecoder().decode(body))?.[0]

  it('is used again after the provider took the message', async () => {
    const [first, second] = await bodiesAfter([200, 200])
    expect(second?.buffer).toBe(first?.buffer)
    expect(htmlOf(second)).toBe('<p>1</p>')
  })

  it('is not written over while a call without a good answer may still be on its way', async () => {
    const [first, second, third] = await bodiesAfter([500, 429, 200])
    expect([first, second, third].map(htmlOf)).toEqual(['<p>0</p>', '<p>1</p>', '<p>2</p>'])
  })
})
