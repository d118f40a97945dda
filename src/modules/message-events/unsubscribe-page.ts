import { escapeHtml } from '../../domain/email/escape.ts'
import { toBcp47 } from '../../domain/languages.ts'
import { isDeadAddress } from '../../domain/messaging/suppressions.ts'
import type { Subscriber, Subscription } from './subscription.ts'
import { pageWordsIn } from './unsubscribe-page-words.ts'

/** Allows only the page itself and its own form. */
export const pagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const style =
  'body{font:17px/1.6 -apple-system,BlinkMacSystemFont,"Segoe UI",Helvetica,Arial,sans-serif;color-scheme:light dark;max-width:34rem;margin:14vh auto;padding:0 1.5rem;text-align:center;overflow-wrap:anywhere}ul{list-style:none;margin:0 0 1em;padding:0}.small{font-size:.9em}a{color:inherit}button{font:inherit;font-weight:600;padding:.7em 1.8em;border:0;border-radius:10px;background:#1f4fd8;color:#fff;cursor:pointer}'

const page = (language: string, title: string, body: string): string =>
  `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex"><title>${escapeHtml(title)}</title><style>${style}</style></head><body>${body}</body></html>`

const paragraph = (text: string, kind = ''): string => `<p${kind && ` class="${kind}"`}>${escapeHtml(text)}</p>`

const button = (action: string, text: string): string =>
  `<form method="post" action="${escapeHtml(action)}"><button name="List-Unsubscribe" value="One-Click">${escapeHtml(text)}</button></form>`

/** Shows whether marketing is sent to the address, in the recipient's language, with a button to change it. */
export function subscriptionPage(
  subscriber: Subscriber,
  { suppression, consents, tokens, preferences }: Subscription,
  isBack = false,
): string {
  const [language, words] = pageWordsIn(subscriber.language)
  const { organization_name: organisation, address, channel } = subscriber
  const of = { organisation, address, channel: words.channels[channel] }
  const isLeft = suppression !== null
  const isDead = isLeft && isDeadAddress(suppression)
  const list = (heading: string): string =>
    consents.length === 0
      ? ''
      : paragraph(heading, 'small') +
        `<ul class="small">${consents.map(({ title, channels }) => `<li>${escapeHtml(`${title} (${channels.map((one) => words.channelNames[one]).join(', ')})`)}</li>`).join('')}</ul>`
  // Relative, for a service whose address has a path.
  const parts = isLeft
    ? [
        paragraph(words.left(of)),
        suppression === 'unsubscribed' ? list(words.withdrawn) : '',
        isDead ? '' : paragraph(words.stays, 'small'),
        suppression === 'unsubscribed' ? button(`../s/${tokens.resubscribe}`, words.again) : '',
      ]
    : [
        paragraph((isBack ? words.back : words.ask)(of)),
        list(isBack ? words.given : words.withdraws),
        isBack ? '' : paragraph(words.stays, 'small'),
        button(`../u/${tokens.unsubscribe}`, words.unsubscribe),
      ]
  const all =
    preferences === null
      ? ''
      : `<p class="small"><a href="../../consents/${preferences}">${escapeHtml(words.all)}</a></p>`
  return page(toBcp47(language), words.title, parts.join('') + all)
}

export const unknownPage = (): string =>
  page('en', 'Not found', '<p>This link is not complete, or it was never made.</p>')
