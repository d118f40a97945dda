import { Hono } from 'hono'
import type { AppContext, AppEnv } from '../env.ts'
import { listOrigin } from './console.ts'

/**
 * No script runs in the page. The console, which is of the same origin, writes the e-mail into the frame that shows it.
 * E-mails have styles in their elements, and images of any host.
 */
const buildPolicy = (filesUrl: string): string =>
  [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    ['img-src', "'self'", 'https:', 'data:', ...listOrigin(filesUrl)].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox',
  ].join('; ')

const page =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>E-mail</title></head><body></body></html>'

/** Serves the empty page in whose frame the console shows an e-mail. */
export function buildEmailPreviewRoutes(readFilesUrl: (c: AppContext) => string): Hono<AppEnv> {
  const pages = new Hono<AppEnv>({ strict: false })
  pages.get('/console/preview', (c) =>
    c.html(page, 200, {
      'cache-control': 'public, max-age=300',
      'content-security-policy': buildPolicy(readFilesUrl(c)),
      'x-robots-tag': 'noindex',
    }),
  )
  return pages
}
