import * as asn1 from 'asn1js'
import { unzipSync } from 'fflate'
import { importSPKI, exportSPKI, jwtVerify } from 'jose'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { toHex } from '../../src/domain/text/encoding.ts'
import { toRawSignature } from '../../src/domain/wallet/google-callback.ts'
import type { EditionContent, PassContent } from '../../src/domain/wallet/wallet-pass.ts'
import { readConfig } from '../../src/entry/config.ts'
import { buildGoogleClass } from '../../src/gateways/passes/google-object.ts'
import { createLivePasses, type LiveOptions } from '../../src/gateways/passes/live.ts'
import type { Bindings } from '../../src/http/env.ts'
import { type TestCertificate, testCertificate } from '../support/wallet-certificate.ts'

const now = Date.parse('2026-06-01T08:00:00Z')

const content: PassContent = {
  id: 'wps_1',
  serial_number: '6f1d2c3b8a9e4f009d6b0c1a2b3c4d5e',
  state: 'used',
  language: 'da',
  organization_name: 'Nordlys',
  edition_id: 'edt_1',
  edition_name: 'Sommerfest',
  start_at: now,
  end_at: null,
  timezone: 'Europe/Copenhagen',
  product_name: 'Dagsbillet',
  variant_name: 'Barn',
  location_name: null,
  holder_name: 'Ægir Holm',
  code: 'A-17',
  design: {
    background_color: null,
    foreground_color: null,
    label_color: null,
    logo_text: null,
    description: null,
  },
}

let signer: TestCertificate
let issuer: TestCertificate
beforeAll(async () => {
  signer = await testCertificate('Pass Type ID: pass.test')
  issuer = await testCertificate('Test authority')
})
afterEach(() => vi.restoreAllMocks())

/** Each test has its own account, because access tokens are cached. */
let accounts = 0
const options = (parts: Partial<LiveOptions> = {}): LiveOptions => ({
  apple: {
    passTypeId: 'pass.test',
    teamId: 'TEAM',
    webServiceUrl: 'https://events.example.test/wallet/apple',
    certificate: signer.certificate,
    privateKey: signer.privateKey,
    issuerCertificate: issuer.certificate,
  },
  google: {
    issuerId: '3388',
    callbackUrl: 'https://events.example.test/wallet/google/callback',
    serviceAccount: JSON.stringify({
      client_email: `account-${++accounts}@example.com`,
      private_key: signer.privateKey,
    }),
    apiBase: 'https://objects.example/v1',
  },
  push: undefined,
  now: () => now,
  ...parts,
})

type Block = asn1.BaseBlock
const listParts = (block: Block | undefined): Block[] => (block as asn1.Sequence | undefined)?.valueBlock.value ?? []
const readBytes = (block: Block | undefined) => new Uint8Array((block as asn1.OctetString).valueBlock.valueHexView)

describe('the signed package of a pass', () => {
  it('has a detached PKCS#7 signature of the manifest that the certificate verifies', async () => {
    const files = unzipSync(await createLivePasses(options()).buildApplePackage({ content, token: 't'.repeat(32) }))
    const { signature = new Uint8Array(), 'manifest.json': manifest = new Uint8Array() } = files
    const message = asn1.fromBER(new Uint8Array(signature))
    expect(message.offset).toBe(signature.length)
    const [, wrapped] = listParts(message.result)
    const [, , encapsulated, certificates, infos] = listParts(listParts(wrapped)[0])
    expect(listParts(encapsulated)).toHaveLength(1)
    expect(listParts(certificates)).toHaveLength(2)
    const [, , , attributes, , signed] = listParts(listParts(infos)[0])
    const set = new asn1.Set({ value: listParts(attributes) }).toBER()
    const algorithm = 'RSASSA-PKCS1-v1_5'
    expect(await crypto.subtle.verify(algorithm, signer.publicKey, readBytes(signed), set)).toBe(true)
    const digest = toHex(await crypto.subtle.digest('SHA-256', new Uint8Array(manifest)))
    expect(toHex(new Uint8Array(set))).toContain(`0420${digest}`)
  })

  it('accepts keys with escaped line breaks', async () => {
    const passOptions = options()
    const oneLine = (text: string) => text.replaceAll('\n', String.raw`\n`)
    passOptions.apple.privateKey = oneLine(signer.privateKey)
    passOptions.apple.certificate = oneLine(signer.certificate)
    const files = unzipSync(await createLivePasses(passOptions).buildApplePackage({ content, token: 't'.repeat(32) }))
    expect(files['signature']?.length).toBeGreaterThan(1000)
  })
})

describe('the link to Google Wallet', () => {
  it('is a JWT with the signature of the service account, and with ids alone', async () => {
    const url = await createLivePasses(options()).createAddUrl({ platform: 'google', content })
    const key = await importSPKI(await exportSPKI(signer.publicKey), 'RS256')
    const { payload } = await jwtVerify(url.split('/').at(-1) ?? '', key, { audience: 'google' })
    expect(payload).toEqual({
      typ: 'savetowallet',
      origins: [],
      iss: `account-${accounts}@example.com`,
      aud: 'google',
      iat: now / 1000,
      payload: {
        eventTicketObjects: [{ id: '3388.6f1d2c3b8a9e4f009d6b0c1a2b3c4d5e', classId: '3388.edt_1' }],
      },
    })
  })
})

const edition: EditionContent = { ...content, logo_url: null }
const identity = { issuerId: '3388', callbackUrl: 'https://events.example.test/wallet/google/callback' }

describe('the times of a pass', () => {
  const times: [string, string, string, string][] = [
    ['summer', '2026-07-04T10:00:00Z', 'Europe/Copenhagen', '2026-07-04T12:00:00+02:00'],
    ['winter', '2026-12-04T10:00:00Z', 'Europe/Copenhagen', '2026-12-04T11:00:00+01:00'],
    ['the hour before summer time', '2026-03-29T00:59:59Z', 'Europe/Copenhagen', '2026-03-29T01:59:59+01:00'],
    ['the first moment of summer time', '2026-03-29T01:00:00Z', 'Europe/Copenhagen', '2026-03-29T03:00:00+02:00'],
    ['the repeated hour of autumn', '2026-10-25T01:30:00Z', 'Europe/Copenhagen', '2026-10-25T02:30:00+01:00'],
    ['another day', '2026-07-04T23:30:00Z', 'Asia/Kathmandu', '2026-07-05T05:15:00+05:45'],
    ['a zone behind UTC', '2026-01-01T02:00:00Z', 'America/St_Johns', '2025-12-31T22:30:00-03:30'],
    ['UTC', '2026-07-04T10:00:00Z', 'UTC', '2026-07-04T10:00:00+00:00'],
  ]
  it.each(times)('in %s are local to the edition on both platforms', async (_, instant, timezone, local) => {
    const at = Date.parse(instant)
    const { dateTime } = buildGoogleClass({ ...edition, start_at: at, end_at: at, timezone }, identity)
    expect(dateTime).toEqual({ start: local, end: local })
    const pass = { content: { ...content, start_at: at, timezone }, token: 't'.repeat(32) }
    const files = unzipSync(await createLivePasses(options()).buildApplePackage(pass))
    const fields = JSON.parse(new TextDecoder().decode(files['pass.json']))
    expect(fields.relevantDate).toBe(local)
    expect(fields.eventTicket.secondaryFields[0]).toMatchObject({ key: 'starts', value: local, ignoresTimeZone: true })
  })

  it('have the offset of their own moment when an edition lasts over a change to summer time', () => {
    const start_at = Date.parse('2026-03-28T11:00:00Z')
    const end_at = Date.parse('2026-03-29T10:00:00Z')
    expect(buildGoogleClass({ ...edition, start_at, end_at }, identity).dateTime).toEqual({
      start: '2026-03-28T12:00:00+01:00',
      end: '2026-03-29T12:00:00+02:00',
    })
  })

  it('are left out when the edition has none, and an end alone is possible', async () => {
    expect(buildGoogleClass({ ...edition, start_at: null, end_at: null }, identity).dateTime).toBeNull()
    expect(buildGoogleClass({ ...edition, start_at: null, end_at: 0 }, identity).dateTime).toEqual({
      start: null,
      end: '1970-01-01T01:00:00+01:00',
    })
    const pass = { content: { ...content, start_at: null }, token: 't'.repeat(32) }
    const files = unzipSync(await createLivePasses(options()).buildApplePackage(pass))
    const text = new TextDecoder().decode(files['pass.json'])
    expect([text.includes('relevantDate'), text.includes('starts')]).toEqual([false, false])
  })
})

describe('a text that is too long for Google', () => {
  const nameOf = (organization_name: string) => buildGoogleClass({ ...edition, organization_name }, identity).issuerName

  it('is cut after a whole character, with an ellipsis', () => {
    const family = '👩‍👩‍👧‍👦'
    const name = nameOf(family.repeat(30))
    expect(name).toBe(`${family.repeat(Math.floor(199 / family.length))}…`)
    expect(name.isWellFormed()).toBe(true)
    expect(nameOf('å'.repeat(201))).toBe(`${'å'.repeat(199)}…`)
  })

  it('is not cut when it has at most 200 characters', () => {
    expect(nameOf('å'.repeat(200))).toBe('å'.repeat(200))
  })
})

/** Of a call that names its target as text. */
const readAddress = (target: unknown): string => (typeof target === 'string' ? target : '')

describe('an update at Google', () => {
  const mockAnswer = (status: number, tokenStatus = 200) =>
    vi
      .spyOn(globalThis, 'fetch')
      .mockImplementation(async (url) =>
        readAddress(url).includes('oauth2')
          ? Response.json({ access_token: 'ya29.token' }, { status: tokenStatus })
          : Response.json({}, { status }),
      )

  it('patches the object with a cached access token', async () => {
    const fetched = mockAnswer(200)
    const passes = createLivePasses(options())
    expect(await passes.updateGoogle(content, 1)).toEqual({ ok: true })
    expect(await passes.updateGoogle(content, 2)).toEqual({ ok: true })
    const urls = fetched.mock.calls.map(([url]) => readAddress(url))
    const object = 'https://objects.example/v1/eventTicketObject/3388.6f1d2c3b8a9e4f009d6b0c1a2b3c4d5e'
    expect(urls).toEqual(['https://oauth2.googleapis.com/token', object, object])
    const [, init] = fetched.mock.calls[1] ?? []
    expect(init).toMatchObject({ method: 'PATCH', headers: { authorization: 'Bearer ya29.token' } })
    expect(JSON.parse(init?.body as string)).toMatchObject({ state: 'COMPLETED', ticketHolderName: 'Ægir Holm' })
  })

  it.each([
    [404, 'gone'],
    [400, 'permanent'],
    [403, 'configuration'],
    [409, 'transient'],
    [429, 'transient'],
    [503, 'transient'],
  ])('treats the answer %i as %s', async (status, kind) => {
    mockAnswer(status)
    expect(await createLivePasses(options()).updateGoogle(content, 1)).toMatchObject({ ok: false, kind })
  })

  it('reports an invalid account', async () => {
    const broken = options()
    broken.google.serviceAccount = ''
    expect(await createLivePasses(broken).updateGoogle(content, 1)).toMatchObject({ kind: 'configuration' })
  })

  it('reports a refusal', async () => {
    mockAnswer(200, 400)
    expect(await createLivePasses(options()).updateGoogle(content, 1)).toMatchObject({ kind: 'configuration' })
  })

  it('reports a missing answer', async () => {
    vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('no route'))
    expect(await createLivePasses(options()).updateGoogle(content, 1)).toMatchObject({ kind: 'transient' })
  })
})

describe('a push to a phone', () => {
  const push = { pass_id: 'wps_1', change_number: 1, push_token: 'abc/1' }
  const answered = async (response: () => Response | Promise<Response>) => {
    const calls: [string, RequestInit][] = []
    const connection = {
      fetch: async (url: string, init: RequestInit) => {
        calls.push([url, init])
        return response()
      },
    }
    const result = await createLivePasses(options({ push: connection })).pushApple(push)
    return { result, calls }
  }

  it('uses the connection with the certificate, empty and for the pass type', async () => {
    const { result, calls } = await answered(() => new Response(null, { status: 200 }))
    expect(result).toBe('sent')
    expect(calls).toMatchObject([
      [
        'https://api.push.apple.com/3/device/abc%2F1',
        { method: 'POST', body: '{}', headers: { 'apns-topic': 'pass.test' } },
      ],
    ])
  })

  it('has the right result for each answer', async () => {
    expect((await answered(() => new Response('{"reason":"Unregistered"}', { status: 410 }))).result).toBe('gone')
    expect((await answered(() => new Response('{"reason":"BadDeviceToken"}', { status: 400 }))).result).toBe('gone')
    expect((await answered(() => new Response('{"reason":"BadTopic"}', { status: 400 }))).result).toBe('refused')
    for (const status of [403, 429, 503])
      expect((await answered(() => new Response('', { status }))).result).toBe('transient')
    expect((await answered(() => Promise.reject(new Error('closed')))).result).toBe('transient')
    expect(await createLivePasses(options()).pushApple(push)).toBe('off')
  })
})

describe('a signature in DER', () => {
  it.each([
    ['nothing', []],
    ['another type', [0x31, 6, 2, 1, 1, 2, 1, 1]],
    ['a wrong length', [0x30, 7, 2, 1, 1, 2, 1, 1]],
    ['one number', [0x30, 3, 2, 1, 1]],
    ['something behind', [0x30, 9, 2, 1, 1, 2, 1, 1, 2, 1, 1]],
    ['a number that is too long', [0x30, 38, 2, 33, ...Array.from({ length: 33 }, () => 1), 2, 1, 1]],
    ['a number without digits', [0x30, 5, 2, 0, 2, 1, 1]],
  ])('is invalid with %s', (_, bytes) => expect(toRawSignature(Uint8Array.from(bytes))).toBeNull())

  it('is converted to two numbers of 32 bytes', () => {
    const raw = toRawSignature(Uint8Array.of(0x30, 7, 2, 2, 0, 0x81, 2, 1, 5))
    expect([raw?.length, raw?.[31], raw?.[63]]).toEqual([64, 0x81, 5])
  })
})

describe('the configuration of wallets', () => {
  const bindings = (variables: Record<string, string>) =>
    ({
      PUBLIC_URL: '',
      EMAIL_FROM: '',
      WEBHOOK_RETRY_SCHEDULE: '',
      EMAIL_API_BASE: '',
      SMS_API_BASE: '',
      DNS_API_BASE: '',
      PAYMENT_API_BASE: '',
      ...variables,
    }) as unknown as Bindings

  it('refuses an unknown platform, a repeated platform, and live mode without its settings', () => {
    expect(() => readConfig(bindings({ WALLET_VENDOR_A: 'samsung' }))).toThrow('WALLET_VENDOR_A')
    expect(() => readConfig(bindings({ WALLET_VENDOR_A: 'apple', WALLET_VENDOR_B: 'apple' }))).toThrow('both "apple"')
    expect(() => readConfig(bindings({ WALLET_PROVIDER: 'live', WALLET_VENDOR_B: 'google' }))).toThrow(
      'WALLET_GOOGLE_ISSUER_ID is not set',
    )
    expect(() => readConfig(bindings({ WALLET_PROVIDER: 'postcard' }))).toThrow('WALLET_PROVIDER')
    expect(readConfig(bindings({ WALLET_PROVIDER: 'live' })).wallet.vendors).toEqual({ vendorA: null, vendorB: null })
  })
})
