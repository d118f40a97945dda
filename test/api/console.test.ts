import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { call, callWith } from '../support/api.ts'

const open = (path: string, bindings: object = {}, method = 'GET') =>
  callWith(bindings, path, { token: null, method, headers: { accept: 'text/html' } })

const readDirectives = (policy: string | null): Record<string, string[]> =>
  Object.fromEntries(
    (policy ?? '').split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ')
      return [name, sources]
    }),
  )

const readNonce = (text: string): string => / nonce="([^"]*)"/.exec(text)?.[1] ?? ''

describe('the page of the console', () => {
  it.for([
    '/console',
    '/console/',
    '/console/editions/edt_1/orders?search=ode&status=completed',
    '/console/editions/edt_1/orders/ord_1',
    '/console/sign-in?to=%2Fconsole',
    '/console/nothing-here',
  ])('is served at %s, and stored by nobody', async (path) => {
    const { status, headers, text } = await open(path)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/html; charset=utf-8$/i)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(text).toContain('<div id="root"></div>')
    const head = await open(path, {}, 'HEAD')
    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  it('runs scripts and styles of the console alone, and talks to this service alone', async () => {
    const { headers, text } = await open('/console')
    const assets = 'https://api.example/console/assets/'
    expect(readDirectives(headers.get('content-security-policy'))).toEqual({
      'default-src': ["'none'"],
      'script-src': [assets],
      'style-src': [assets, `'nonce-${readNonce(text)}'`],
      'img-src': ["'self'", 'data:', 'blob:', 'https://events.example.test'],
      'font-src': [assets],
      'connect-src': ["'self'"],
      'frame-src': ["'self'"],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': ["'none'"],
    })
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(headers.get('x-robots-tag')).toBe('noindex')
  })

  it('has another nonce in each answer', async () => {
    const nonces = await Promise.all(Array.from({ length: 20 }, async () => readNonce((await open('/console')).text)))
    expect(new Set(nonces).size).toBe(20)
    for (const nonce of nonces) expect(nonce).toMatch(/^[0-9a-f]{32}$/)
  })

  it('may connect to the identity provider and show files of their host, when these are configured', async () => {
    const oidc = { OIDC_ISSUER: 'https://login.example.com/realms/events', OIDC_AUDIENCE: 'events' }
    const { headers } = await open('/console', { ...oidc, FILES_URL: 'https://files.example.com' })
    const directives = readDirectives(headers.get('content-security-policy'))
    expect(directives['connect-src']).toEqual(["'self'", 'https://login.example.com'])
    expect(directives['img-src']).toEqual(["'self'", 'data:', 'blob:', 'https://files.example.com'])
    const codeOnly = await open('/console', { ...oidc, SIGN_IN_METHODS: 'code' })
    expect(readDirectives(codeOnly.headers.get('content-security-policy'))['connect-src']).toEqual(["'self'"])
  })

  it.for([
    ['production', 'production'],
    ['', 'production'],
    ['development', 'development'],
    ['test', 'development'],
  ] as const)('knows whether it belongs to a server for development: ENVIRONMENT=%s', async ([value, expected]) => {
    const { text } = await open('/console', { ENVIRONMENT: value })
    expect(text).toContain(`<meta name="environment" content="${expected}" />`)
    expect(text).not.toContain('__')
  })

  it.for([
    ['', 'sending'],
    ['hold', 'held'],
  ] as const)('knows whether anything goes out: OUTGOING=%s', async ([value, expected]) => {
    const { text } = await open('/console', { OUTGOING: value })
    expect(text).toContain(`<meta name="outgoing" content="${expected}" />`)
  })

  it('is not served on the host of files', async () => {
    const { status } = await open('/console', { FILES_URL: 'https://api.example' })
    expect(status).toBe(404)
  })

  it('says what to do where the console is not built', async () => {
    const ASSETS = { fetch: () => Promise.resolve(new Response(null, { status: 404 })) }
    const { status, body, headers } = await open('/console/', { ASSETS })
    expect([status, body.detail]).toEqual([404, 'The console is not built here. `npm run build:console` builds it.'])
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it('answers other methods with 405', async () => {
    for (const path of ['/console', '/console/orders', '/console/assets/main-0a1b2c3d.js']) {
      const { status, headers } = await open(path, {}, 'POST')
      expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    }
  })
})

describe('the frame that shows e-mails', () => {
  it('runs no script, and keeps the styles and images of the e-mail', async () => {
    const { status, headers, text } = await open('/console/preview', { FILES_URL: 'https://files.example.com' })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/html; charset=utf-8$/i)
    expect(readDirectives(headers.get('content-security-policy'))).toEqual({
      'default-src': ["'none'"],
      'style-src': ["'unsafe-inline'"],
      'img-src': ["'self'", 'https:', 'data:', 'https://files.example.com'],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': ["'self'"],
      sandbox: ['allow-same-origin', 'allow-popups', 'allow-popups-to-escape-sandbox'],
    })
    expect(headers.get('x-frame-options')).toBe('SAMEORIGIN')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-robots-tag')).toBe('noindex')
    expect(text).not.toContain('script')
  })

  it('shows nothing of its address', async () => {
    const plain = await open('/console/preview')
    const hostile = await open('/console/preview?html=%3Cscript%3Ealert(1)%3C/script%3E&preview=1')
    expect(hostile.text).toBe(plain.text)
    expect((await open('/console/preview', {}, 'POST')).status).toBe(405)
    expect((await open('/console/preview', { FILES_URL: 'https://api.example' })).status).toBe(404)
  })
})

describe('a script of the console', () => {
  it.for(['main-ffffffff.js', '', '../../index.html', '%2e%2e/%2e%2e/index.html', 'main-0a1b2c3d.js/', 'x.css?v=1'])(
    'that does not exist is answered with 404 that nobody stores: %s',
    async (name) => {
      const { status, headers } = await call(`/console/assets/${name}`, { token: null })
      if (name.includes('index.html')) {
        // The dots are resolved before the request is sent.
        expect(headers.get('cache-control')).not.toContain('immutable')
        return
      }
      expect([status, headers.get('cache-control')]).toEqual([404, 'no-store'])
    },
  )
})

describe('the script of the API reference', () => {
  it('is answered with 404 that nobody stores where it is not built', async () => {
    const { status, headers } = await call('/docs/scalar.js', { token: null })
    expect([status, headers.get('cache-control')]).toEqual([404, 'no-store'])
  })

  it('lies where no other path leads to', async () => {
    expect(env.ASSETS).toBeDefined()
    expect((await call('/index.html', { token: null })).status).toBe(404)
  })
})
