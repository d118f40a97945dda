import { html } from 'hono/html'
import { toIso } from '../../domain/time/instants.ts'
import type { Page } from '../../domain/page.ts'
import type { CapturedItem, CapturedRow, MailboxFilter } from './queries.ts'
import { style } from './style.ts'

type MailboxMarkup = ReturnType<typeof html>

/**
 * Messages may have any content. No script runs and nothing is loaded from elsewhere, so that no sender learns that a
 * message was looked at. The frame of an e-mail inherits this.
 */
export const policy = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  'font-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const layout = (title: string, content: MailboxMarkup): MailboxMarkup =>
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
        <header><a href="/dev/outbox">Outbox</a><span>kept instead of sent</span></header>
        <main>${content}</main>
      </body>
    </html>`

const when = (at: number): MailboxMarkup => {
  const iso = toIso(at)
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`
}

const labels: Readonly<Record<string, string>> = { email: 'E-mail', sms: 'SMS', wallet: 'Wallet' }

const badge = (channel: string): MailboxMarkup => html`<b class="${channel}">${labels[channel] ?? channel}</b>`

const item = (row: CapturedItem): MailboxMarkup =>
  html`<li>
    <a href="/dev/outbox/${row.id}">
      ${badge(row.channel)}
      <span class="to">${row.recipient}</span>
      <span class="subject">${row.subject || row.start || '(no subject)'}</span>
      ${when(row.created_at)}
    </a>
  </li>`

const choice = (value: string, label: string, chosen: string | null): MailboxMarkup =>
  value === (chosen ?? '')
    ? html`<option value="${value}" selected>${label}</option>`
    : html`<option value="${value}">${label}</option>`

const filterForm = (filter: MailboxFilter): MailboxMarkup =>
  html`<form method="get" action="/dev/outbox">
    <label
      >Channel
      <select name="channel">
        ${choice('', 'All', filter.channel)}${Object.entries(labels).map(([value, label]) =>
          choice(value, label, filter.channel),
        )}
      </select></label
    >
    <label>Recipient <input name="to" value="${filter.to}" maxlength="254" autocomplete="off" /></label>
    <button>Show</button>
  </form>`

const pageLink = (address: string | null, label: string): MailboxMarkup | string =>
  address === null ? '' : html`<a href="${address}">${label}</a>`

export const listPage = (
  page: Page<CapturedItem>,
  links: { next: string | null; previous: string | null },
  filter: MailboxFilter,
): MailboxMarkup =>
  layout(
    'Outbox',
    html`${filterForm(filter)}
      <p class="count">${page.count} ${page.count === 1 ? 'message' : 'messages'}, newest first</p>
      ${
        page.rows.length
          ? html`<ul class="messages">
              ${page.rows.map(item)}
            </ul>`
          : html`<p class="none">Nothing here yet.</p>`
      }
      <nav>${pageLink(links.previous, '← Newer')} ${pageLink(links.next, 'Older →')}</nav>`,
  )

const field = (name: string, value: string | MailboxMarkup | null): MailboxMarkup | string =>
  value
    ? html`<dt>${name}</dt>
        <dd>${value}</dd>`
    : ''

/** Links of the message open in another tab; the frame itself does not navigate. */
const framed = (content: string): string => `<base target="_blank">${content}`

const emailBody = (row: CapturedRow): MailboxMarkup =>
  html`<h2>HTML</h2>
    <iframe
      title="The message"
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      referrerpolicy="no-referrer"
      srcdoc="${framed(row.html)}"
    ></iframe>
    <details>
      <summary>Source</summary>
      <pre>${row.html}</pre>
    </details>`

export function messagePage(row: CapturedRow): MailboxMarkup {
  const headers = Object.entries(row.headers)
  return layout(
    row.subject || 'Message',
    html`<h1>${row.subject || (row.channel === 'sms' ? 'SMS' : '(no subject)')}</h1>
      <dl>
        ${field('Channel', badge(row.channel))} ${field('From', row.sender)} ${field('To', row.recipient)}
        ${field('Reply-To', row.reply_to)} ${headers.map(([name, value]) => field(name, value))}
        ${field('Reference', row.reference)} ${field('Kept', when(row.created_at))}
      </dl>
      ${row.html ? emailBody(row) : ''}
      <h2>Text</h2>
      <pre>${row.body}</pre>
      <p><a href="/dev/outbox/${row.id}.json">JSON</a></p>`,
  )
}
