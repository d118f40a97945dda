import { Hono } from 'hono'
import { notFound } from '../../domain/errors.ts'
import { toHex } from '../../domain/text/encoding.ts'
import type { AppContext, AppEnv } from '../env.ts'

export interface ConsoleSettings {
  isDevelopment: boolean
  /** Tells whether the service sends, posts and pays. */
  outgoing: 'sending' | 'held'
  /** The OpenID Connect issuer at which the page signs people in, if there is one. */
  issuer: string | null
  /** The URL of files, whose images the page shows. */
  filesUrl: string
}

/** Places of index.html that differ by answer and by service. */
const nonceMark = '__NONCE__'
const environmentMark = '__ENVIRONMENT__'
const outgoingMark = '__OUTGOING__'

const assets = '/console/assets/'
const nonceBytes = 16

export const listOrigin = (url: string | null): string[] => (url && URL.canParse(url) ? [new URL(url).origin] : [])

/**
 * Scripts and styles have a path, because `'self'` would include files that users upload. Mantine adds <style> elements,
 * which need the nonce.
 */
const buildPolicy = (origin: string, nonce: string, { issuer, filesUrl }: ConsoleSettings): string =>
  [
    "default-src 'none'",
    `script-src ${origin}${assets}`,
    `style-src ${origin}${assets} 'nonce-${nonce}'`,
    ['img-src', "'self'", 'data:', 'blob:', ...listOrigin(filesUrl)].join(' '),
    `font-src ${origin}${assets}`,
    ['connect-src', "'self'", ...listOrigin(issuer)].join(' '),
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

async function sendPage(c: AppContext, settings: ConsoleSettings): Promise<Response> {
  const { origin } = new URL(c.req.url)
  // The assets answer `/index.html` with a redirect to `/`.
  const template = await c.env.ASSETS.fetch(new URL('/', origin))
  if (!template.ok) throw notFound('The console is not built here. `npm run build:console` builds it.')
  const nonce = toHex(crypto.getRandomValues(new Uint8Array(nonceBytes)))
  const environment = settings.isDevelopment ? 'development' : 'production'
  const page = (await template.text())
    .replaceAll(nonceMark, nonce)
    .replaceAll(environmentMark, environment)
    .replaceAll(outgoingMark, settings.outgoing)
  return c.html(page, 200, {
    'cache-control': 'no-store',
    'content-security-policy': buildPolicy(origin, nonce, settings),
    'x-robots-tag': 'noindex',
  })
}

/** Serves the page of the console at all its addresses. Its scripts and styles are files that come before the Worker. */
export function buildConsoleRoutes(readSettings: (c: AppContext) => ConsoleSettings): Hono<AppEnv> {
  const pages = new Hono<AppEnv>({ strict: false })
  pages.get(`${assets}*`, () => {
    throw notFound()
  })
  pages.get('/console', (c) => sendPage(c, readSettings(c)))
  pages.get('/console/*', (c) => sendPage(c, readSettings(c)))
  return pages
}
