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
export const mailboxPolicy = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  'font-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

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
        <header><a href="/dev/outbox">Outbox</a><span>kept instead of sent</span></header>
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
      <span class="subject">${row.subject || row.start || '(no subject)'}</span>
      ${renderTime(row.created_at)}
    </a>
  </li>`

const renderOption = (value: string, label: string, chosen: string | null): MailboxMarkup =>
  value === (chosen ?? '')
    ? html`<option value="${value}" selected>${label}</option>`
    : html`<option value="${value}">${label}</option>`

const renderFilterForm = (filter: MailboxFilter): MailboxMarkup =>
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
  filter: MailboxFilter,
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
          : html`<p class="none">Nothing here yet.</p>`
      }
      <nav>${renderPageLink(links.previous, '← Newer')} ${renderPageLink(links.next, 'Older →')}</nav>`,
  )

const renderField = (name: string, value: string | MailboxMarkup | null): MailboxMarkup | string =>
  value
    ? html`<dt>${name}</dt>
        <dd>${value}</dd>`
    : ''

/** Links of the message open in another tab; the frame itself does not navigate. */
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
        ${renderField('Kept', renderTime(row.created_at))}
      </dl>
      ${row.html ? renderEmailBody(row) : ''}
      <h2>Text</h2>
      <pre>${row.body}</pre>
      <p><a href="/dev/outbox/${row.id}.json">JSON</a></p>`,
  )
}
