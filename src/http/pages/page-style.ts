import { contentPolicy } from './html-page.ts'

/** Styles of pages for reading, in light and dark mode, on phones and wide screens. */
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

let policy: Promise<string> | undefined

/** Styles of pages without a form. */
export const pagePolicy = (): Promise<string> => (policy ??= contentPolicy(pageStyle, "'none'"))
