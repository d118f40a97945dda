import { html } from 'hono/html'
import { contentPolicy, htmlPage, type Markup } from './html-page.ts'
import { pageStyle } from './page-style.ts'

/** Styles of pages with a form: one column, with buttons that are large enough for a thumb. */
const style = `${pageStyle}
main { max-width: 38rem }
h2 { overflow-wrap: anywhere; margin: 0 }
.card { margin: 1rem 0; padding: 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem;
  overflow-wrap: anywhere }
.choice { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .75rem; align-items: start;
  min-height: 2.75rem; cursor: pointer }
.choice strong { font-size: 1.05rem }
input[type=checkbox] { width: 1.5rem; height: 1.5rem; margin: .1rem 0 0; accent-color: #1f4fd8 }
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

let policy: Promise<string> | undefined

/** The form of the page can post to this service only. */
export const formPolicy = (): Promise<string> => (policy ??= contentPolicy(style, "'self'"))

interface FormPage {
  /** BCP 47. */
  language: string
  title: string
  content: Markup
}

export const formPage = ({ language, title, content }: FormPage): Markup =>
  htmlPage({
    language,
    title,
    style,
    head: html`<meta name="robots" content="noindex" />`,
    body: html`<main>${content}</main>`,
  })
