import type { MiddlewareHandler } from 'hono'
import { html, raw } from 'hono/html'
import { sha256, toBase64 } from '../../domain/text/encoding.ts'
import type { AppEnv } from '../env.ts'

export type Markup = ReturnType<typeof html>

interface HtmlPage {
  /** BCP 47. */
  language: string
  title: string
  /** All CSS of the page, whose hash is in the content security policy. */
  style: string
  /** Extra elements of the head. */
  head?: Markup
  body: Markup
}

/** A page without scripts that loads nothing. */
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

const contentMark = '<!-- content -->'

/** The parts of a page before and after its content, for pages that are sent while they are generated. */
export async function framePage(page: { language: string; title: string }): Promise<{ start: string; end: string }> {
  const frame = htmlPage({
    ...page,
    style: pageStyle,
    head: html`<meta name="robots" content="noindex" />`,
    body: html`<main>${raw(contentMark)}</main>`,
  })
  const [start = '', end = ''] = String(await frame).split(contentMark)
  return { start, end }
}

interface PageSites {
  /** Where forms may be sent and what their answers may redirect to. */
  formAction: readonly string[]
  /** The origins that may embed the page. */
  frameAncestors?: readonly string[]
}

/** A content security policy that allows only this style. */
async function contentPolicy(style: string, { formAction, frameAncestors = [] }: PageSites): Promise<string> {
  return [
    "default-src 'none'",
    `style-src 'sha256-${toBase64(await sha256(style))}'`,
    'img-src data:',
    `form-action ${formAction.join(' ') || "'none'"}`,
    "base-uri 'none'",
    `frame-ancestors ${frameAncestors.join(' ') || "'none'"}`,
  ].join('; ')
}

export const pageStyle = `
:root { color-scheme: light dark; --line: light-dark(#d9dde3, #3a404a); --soft: light-dark(#5b6470, #a5afbd);
  --card: light-dark(#fff, #1d2127); --link: light-dark(#0b57d0, #8ab4f8) }
* { box-sizing: border-box }
body { margin: 0; font: 16px/1.6 system-ui, sans-serif; color: light-dark(#16191d, #e8eaed);
  background: light-dark(#f5f6f8, #14171b) }
header { display: flex; flex-wrap: wrap; gap: 0 1.25rem; padding: .75rem 1rem; background: var(--card);
  border-bottom: 1px solid var(--line) }
main { max-width: 46rem; margin: 0 auto; padding: 1rem 1rem 3rem }
a { color: var(--link) }
h1 { font-size: 1.5rem; line-height: 1.3; margin: .75rem 0; overflow-wrap: anywhere }
h2 { font-size: 1.05rem; margin: 1.75rem 0 .4rem }
p { margin: .4rem 0 }
code, pre { font-family: ui-monospace, monospace; font-size: .875em; overflow-wrap: anywhere }
pre { margin: .4rem 0; padding: .75rem 1rem; white-space: pre-wrap; background: var(--card);
  border: 1px solid var(--line); border-radius: .5rem }
.soft { color: var(--soft) }
.codes { list-style: none; margin: .4rem 0; padding: 0; background: var(--card); border: 1px solid var(--line);
  border-radius: .5rem }
.codes li { display: grid; grid-template-columns: 3rem minmax(0, 16rem) minmax(0, 1fr); gap: 0 .75rem;
  padding: .5rem .75rem }
.codes li + li { border-top: 1px solid var(--line) }
.codes.plain li { grid-template-columns: minmax(0, 16rem) minmax(0, 1fr) }
@media (max-width: 40rem) {
  .codes li, .codes.plain li { grid-template-columns: auto minmax(0, 1fr) }
  .codes li > :last-child { grid-column: 1 / -1 }
  .codes.plain li { grid-template-columns: minmax(0, 1fr) }
}
`

let pagePolicyText: Promise<string> | undefined

/** The content security policy of pages without a form. */
export const pagePolicy = (): Promise<string> => (pagePolicyText ??= contentPolicy(pageStyle, { formAction: [] }))

/** The style of pages with a form: one column, with buttons that are large enough for a thumb. */
const formStyle = `${pageStyle}
main { max-width: 38rem; overflow-wrap: anywhere }
h2 { overflow-wrap: anywhere; margin: 0 }
.card { margin: 1rem 0; padding: 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem;
  overflow-wrap: anywhere }
.choice { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .75rem; align-items: start;
  min-height: 2.75rem; cursor: pointer }
.choice strong { font-size: 1.05rem }
input[type=checkbox] { width: 1.5rem; height: 1.5rem; margin: .1rem 0 0; accent-color: #1f4fd8 }
label.field { display: block; font-weight: 600; margin: 1rem 0 }
input[type=email] { display: block; width: 100%; font: inherit; font-weight: 400; min-height: 2.75rem; margin: .4rem 0; padding: .5rem .75rem;
  color: inherit; background: var(--card); border: 1px solid var(--soft); border-radius: .5rem }
.trap { position: absolute; left: -100vw; width: 1px; height: 1px; overflow: hidden }
summary { padding: .5rem 0; cursor: pointer; color: var(--link) }
.notice { margin: 1rem 0; padding: .75rem 1rem; border-radius: .75rem; border: 1px solid var(--line); background: var(--card);
  border-left: .4rem solid var(--link) }
button { font: inherit; font-weight: 600; min-height: 2.75rem; padding: .7em 1.8em; border: 0; border-radius: 10px;
  background: #1f4fd8; color: #fff; cursor: pointer }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
.languages { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin-top: 2.5rem }
.languages a, .languages span { padding: .6rem 0 }
small { font-size: .9em }
`

let formPolicyText: Promise<string> | undefined

/** The content security policy of pages with a form, which can post only to this service. */
export const formPolicy = (): Promise<string> =>
  (formPolicyText ??= contentPolicy(formStyle, { formAction: ["'self'"] }))

/** The content security policy of a page with a form that other sites embed, and whose answer redirects to one of them. */
export const embeddedFormPolicy = (sites: { redirectSite: string | null; frameAncestors: readonly string[] }) =>
  contentPolicy(formStyle, {
    formAction: ["'self'", ...(sites.redirectSite === null ? [] : [sites.redirectSite])],
    frameAncestors: sites.frameAncestors,
  })

interface FormPage {
  /** BCP 47. */
  language: string
  title: string
  content: Markup
  /** True if the server has to know which site sends the form. Browsers hide it by default. */
  sendsOrigin?: boolean
}

export const formPage = ({ language, title, content, sendsOrigin = false }: FormPage): Markup =>
  htmlPage({
    language,
    title,
    style: formStyle,
    head: html`<meta
        name="robots"
        content="noindex"
      />${sendsOrigin ? html`<meta name="referrer" content="same-origin" />` : ''}`,
    body: html`<main>${content}</main>`,
  })

/** Headers of pages behind links in messages: not cached, not indexed, and without referrer. */
export const linkHeaders = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  await next()
  c.header('cache-control', 'no-store')
  c.header('referrer-policy', 'no-referrer')
  c.header('x-robots-tag', 'noindex')
}
