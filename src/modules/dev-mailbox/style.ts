import { raw } from 'hono/html'

/** Constant text, so it is put into the page unescaped. */
export const style = raw(`
:root { color-scheme: light dark; --line: light-dark(#d9dde3, #3a404a); --soft: light-dark(#5b6470, #a5afbd);
  --card: light-dark(#fff, #1d2127); --link: light-dark(#0b57d0, #8ab4f8) }
* { box-sizing: border-box }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; background: light-dark(#f5f6f8, #14171b) }
header { display: flex; flex-wrap: wrap; gap: 0 .75rem; align-items: baseline; padding: .75rem 1rem;
  background: var(--card); border-bottom: 1px solid var(--line) }
header a { font-weight: 700; font-size: 1.15rem; text-decoration: none; color: inherit }
header span, .count, time { color: var(--soft); font-size: .875rem }
main { max-width: 60rem; margin: 0 auto; padding: 1rem }
form { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end }
label { display: grid; gap: .25rem; font-size: .875rem; color: var(--soft); min-width: 0 }
label:has(input) { flex: 1 1 12rem }
input, select, button { font: inherit; padding: .4rem .6rem; border: 1px solid var(--line); border-radius: .4rem;
  background: var(--card); color: light-dark(#111, #eee); min-width: 0; max-width: 100%; height: 2.4rem }
button { cursor: pointer; font-weight: 600 }
.messages { list-style: none; margin: 0; padding: 0; background: var(--card); border: 1px solid var(--line);
  border-radius: .5rem }
.messages li + li { border-top: 1px solid var(--line) }
.messages a { display: grid; grid-template-columns: 4.5rem minmax(0, 1.5fr) minmax(0, 1fr) auto; gap: .25rem .75rem;
  padding: .6rem .75rem; text-decoration: none; color: inherit; align-items: baseline }
.messages a:hover { background: light-dark(#eef3fd, #262c35) }
.to, .subject { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.subject { font-weight: 600 }
b.email, b.sms, b.wallet { font-size: .75rem; padding: .1rem .45rem; border-radius: 1rem; justify-self: start; white-space: nowrap }
b.email { background: light-dark(#dce8ff, #233a63) }
b.sms { background: light-dark(#d8f3e1, #1e4a31) }
b.wallet { background: light-dark(#f3e6d0, #4d3a1c) }
nav { display: flex; gap: 1rem; margin-top: 1rem }
nav a, dd a, p a { color: var(--link) }
h1 { font-size: 1.35rem; margin: .25rem 0 1rem; overflow-wrap: anywhere }
h2 { font-size: 1rem; margin: 1.25rem 0 .5rem }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .3rem 1rem; margin: 0; padding: .75rem 1rem;
  background: var(--card); border: 1px solid var(--line); border-radius: .5rem }
dt { color: var(--soft) }
dd { margin: 0; overflow-wrap: anywhere }
iframe { width: 100%; height: 70vh; min-height: 20rem; border: 1px solid var(--line); border-radius: .5rem;
  background: #fff; color-scheme: light; resize: vertical }
pre { max-height: 40rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; padding: .75rem 1rem; background: var(--card);
  border: 1px solid var(--line); border-radius: .5rem; font: .85rem/1.5 ui-monospace, monospace }
summary { cursor: pointer; margin: .5rem 0; color: var(--soft) }
@media (max-width: 40rem) {
  .messages a { grid-template-columns: auto minmax(0, 1fr) }
  .messages time { grid-column: 2; grid-row: 1; justify-self: end }
  .to, .subject { grid-column: 1 / -1 }
  dl { grid-template-columns: minmax(0, 1fr); gap: 0 }
  dd + dt { margin-top: .4rem }
}
`)
