import { html, raw } from 'hono/html'
import type { Page } from '../../domain/page.ts'
import { toIso } from '../../domain/time/instants.ts'
import type { MailboxQuery } from './list.ts'
import type { CapturedItem, CapturedRow } from './queries.ts'

type MailboxMarkup = ReturnType<typeof html>

/**
 * Messages may have any content. The policy runs no script and loads nothing from elsewhere, so that no sender learns
 * that somebody looked at a message. The frame that shows an e-mail inherits the policy.
 */
export const mailboxPolicy = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  'font-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The style sheet has no user input, so it is not escaped. */
const style = raw(`
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

const renderLayout = (title: string, content: MailboxMarkup): MailboxMarkup =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <link rel="icon" href="data:," />
        <title>${title}</title>
        <style>
          ${style}
        </style>
      </head>
      <body>
        <header><a href="/dev/outbox">Outbox</a><span>messages that were not sent</span></header>
        <main>${content}</main>
      </body>
    </html>`

const renderTime = (at: number): MailboxMarkup => {
  const iso = toIso(at)
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`
}

const labels: Readonly<Record<string, string>> = { email: 'E-mail', sms: 'SMS', wallet: 'Wallet' }

const renderBadge = (channel: string): MailboxMarkup => html`<b class="${channel}">${labels[channel] ?? channel}</b>`

const renderItem = (row: CapturedItem): MailboxMarkup =>
  html`<li>
    <a href="/dev/outbox/${row.id}">
      ${renderBadge(row.channel)}
      <span class="to">${row.recipient}</span>
      <span class="subject">${row.subject || row.text_start || '(no subject)'}</span>
      ${renderTime(row.created_at)}
    </a>
  </li>`

const renderOption = (value: string, label: string, chosenValue: string | null): MailboxMarkup =>
  value === (chosenValue ?? '')
    ? html`<option value="${value}" selected>${label}</option>`
    : html`<option value="${value}">${label}</option>`

const renderFilterForm = (filter: MailboxQuery): MailboxMarkup =>
  html`<form method="get" action="/dev/outbox">
    <label
      >Channel
      <select name="channel">
        ${renderOption('', 'All', filter.channel)}${Object.entries(labels).map(([value, label]) =>
          renderOption(value, label, filter.channel),
        )}
      </select></label
    >
    <label>Recipient <input name="to" value="${filter.to}" maxlength="254" autocomplete="off" /></label>
    <button>Show</button>
  </form>`

const renderPageLink = (address: string | null, label: string): MailboxMarkup | string =>
  address === null ? '' : html`<a href="${address}">${label}</a>`

export const renderListPage = (
  page: Page<CapturedItem>,
  links: { next: string | null; previous: string | null },
  filter: MailboxQuery,
): MailboxMarkup =>
  renderLayout(
    'Outbox',
    html`${renderFilterForm(filter)}
      <p class="count">${page.count} ${page.count === 1 ? 'message' : 'messages'}, newest first</p>
      ${
        page.rows.length
          ? html`<ul class="messages">
              ${page.rows.map(renderItem)}
            </ul>`
          : html`<p class="none">There are no messages yet.</p>`
      }
      <nav>${renderPageLink(links.previous, '← Newer')} ${renderPageLink(links.next, 'Older →')}</nav>`,
  )

const renderField = (name: string, value: string | MailboxMarkup | null): MailboxMarkup | string =>
  value
    ? html`<dt>${name}</dt>
        <dd>${value}</dd>`
    : ''

/** Makes links of the message open in another tab, because the frame cannot navigate. */
const buildFrameContent = (content: string): string => `<base target="_blank">${content}`

const renderEmailBody = (row: CapturedRow): MailboxMarkup =>
  html`<h2>HTML</h2>
    <iframe
      title="The message"
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      referrerpolicy="no-referrer"
      srcdoc="${buildFrameContent(row.html)}"
    ></iframe>
    <details>
      <summary>Source</summary>
      <pre>${row.html}</pre>
    </details>`

export function renderMessagePage(row: CapturedRow): MailboxMarkup {
  const headers = Object.entries(row.headers)
  return renderLayout(
    row.subject || 'Message',
    html`<h1>${row.subject || (row.channel === 'sms' ? 'SMS' : '(no subject)')}</h1>
      <dl>
        ${renderField('Channel', renderBadge(row.channel))} ${renderField('From', row.sender)}
        ${renderField('To', row.recipient)} ${renderField('Reply-To', row.reply_to)}
        ${headers.map(([name, value]) => renderField(name, value))} ${renderField('Reference', row.reference)}
        ${renderField('Time', renderTime(row.created_at))}
      </dl>
      ${row.html ? renderEmailBody(row) : ''}
      <h2>Text</h2>
      <pre>${row.body}</pre>
      <p><a href="/dev/outbox/${row.id}.json">JSON</a></p>`,
  )
}
