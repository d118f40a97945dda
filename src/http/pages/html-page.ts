import { html, raw } from 'hono/html'
import { sha256, toBase64 } from '../../domain/text/encoding.ts'

export type Markup = ReturnType<typeof html>

interface HtmlPage {
  /** BCP 47. */
  language: string
  title: string
  /** The whole CSS: the policy contains its hash. */
  style: string
  /** Additions to the head of the page. */
  head?: Markup
  body: Markup
}

/** The frame of every page. It has no scripts and loads nothing. */
export const htmlPage = ({ language, title, style, head, body }: HtmlPage): Markup =>
  html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${head ?? ''}
        <link rel="icon" href="data:," />
        <title>${title}</title>
        ${raw(`<style>${style}</style>`)}
      </head>
      <body>
        ${body}
      </body>
    </html>`

/** A policy without scripts and loading: the page has this one style. */
export async function contentPolicy(style: string, formAction: "'self'" | "'none'"): Promise<string> {
  return [
    "default-src 'none'",
    `style-src 'sha256-${toBase64(await sha256(style))}'`,
    'img-src data:',
    `form-action ${formAction}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
