import { vi } from 'vitest'
import { type TestCertificate, testCertificate } from './wallet-certificate.ts'

type Fields = Record<string, unknown>

export interface GoogleCall {
  method: string
  resource: 'eventTicketClass' | 'eventTicketObject'
  id: string
}

/** `accept and cut` does what the call says and loses the answer. A number is the status of a refusal. */
export type GoogleConduct = 'accept' | 'accept and cut' | 'cut' | number

/** An id of the greatest length that Google gives to issuers. */
const issuerId = '3388000000022222222'

/** Making a key takes long, so all accounts of a test file have the same one. */
let certificate: Promise<TestCertificate> | undefined

const merge = (stored: Fields, changes: Fields): Fields =>
  Object.fromEntries(
    Object.entries({ ...stored, ...changes }).filter(([, value]) => value !== null && value !== undefined),
  )

/**
 * Google Wallet in memory. It stores classes and objects as Google does: an id once, an object only with its class, and
 * null removes a field. `bindings` make the Worker use it. Restore all mocks afterwards.
 */
export async function serveGoogleWallet(email = `wallet-${crypto.randomUUID().slice(0, 8)}@example.com`) {
  const classes = new Map<string, Fields>()
  const objects = new Map<string, Fields>()
  const calls: GoogleCall[] = []
  let decide: (call: GoogleCall) => GoogleConduct | Promise<GoogleConduct> = () => 'accept'

  function apply({ method, resource, id }: GoogleCall, fields: Fields): number {
    const store = resource === 'eventTicketClass' ? classes : objects
    const stored = store.get(id)
    if (method === 'PATCH' && !stored) return 404
    if (method === 'POST' && stored) return 409
    if (method === 'POST' && resource === 'eventTicketObject' && !classes.has(String(fields['classId']))) return 404
    store.set(id, merge(stored ?? {}, fields))
    return 200
  }

  async function answer(request: Request): Promise<Response> {
    if (request.url.includes('oauth2')) return Response.json({ access_token: 'ya29.token' })
    const [, resource = '', rest = ''] = /\/v1\/(\w+)\/?(.*)$/.exec(new URL(request.url).pathname) ?? []
    const fields = await request.json<Fields>()
    const id = rest ? decodeURIComponent(rest) : String(fields['id'])
    const call = { method: request.method, resource: resource as GoogleCall['resource'], id }
    calls.push(call)
    const conduct = await decide(call)
    if (conduct === 'cut') throw new TypeError('Network connection lost.')
    if (typeof conduct === 'number') return Response.json({ error: { code: conduct } }, { status: conduct })
    const status = apply(call, fields)
    if (conduct === 'accept and cut') throw new TypeError('Network connection lost.')
    return Response.json(status === 200 ? fields : { error: { code: status } }, { status })
  }

  vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => answer(new Request(input, init)))
  certificate ??= testCertificate('Google Wallet')
  const { privateKey } = await certificate
  return {
    issuerId,
    classes,
    objects,
    calls,
    /** Decides how Google answers each call. */
    respondWith: (conduct: GoogleConduct | typeof decide) => {
      decide = typeof conduct === 'function' ? conduct : () => conduct
    },
    bindings: {
      WALLET_PROVIDER: 'live',
      WALLET_VENDOR_A: '',
      WALLET_VENDOR_B: 'google',
      WALLET_GOOGLE_ISSUER_ID: issuerId,
      WALLET_GOOGLE_SERVICE_ACCOUNT: JSON.stringify({ client_email: email, private_key: privateKey }),
    },
  }
}

export type FakeGoogleWallet = Awaited<ReturnType<typeof serveGoogleWallet>>
