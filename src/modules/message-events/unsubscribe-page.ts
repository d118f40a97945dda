import { escapeHtml } from '../../domain/email/escape.ts'
import { toBcp47, type Language, languages } from '../../domain/languages.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import { isDeadAddress } from '../../domain/messaging/suppressions.ts'
import type { Subscriber, Subscription } from './subscription.ts'

interface Placeholders {
  organisation: string
  address: string
  channel: string
}

interface PageWords {
  title: string
  /** The channel as an adverb: by e-mail. */
  channels: Record<Channel, string>
  channelNames: Record<Channel, string>
  question: (values: Placeholders) => string
  unsubscribedNotice: (values: Placeholders) => string
  resubscribedNotice: (values: Placeholders) => string
  consentsToWithdraw: string
  withdrawnConsents: string
  givenConsents: string
  /** Says that messages about orders are sent in any case. */
  otherMessages: string
  unsubscribe: string
  resubscribe: string
  /** The link to the page of all consents. */
  allConsents: string
}

const wordsByLanguage: Record<Language, PageWords> = {
  en: {
    title: 'Unsubscribe',
    channels: { email: 'by e-mail', sms: 'by SMS' },
    channelNames: { email: 'e-mail', sms: 'SMS' },
    question: ({ organisation, address, channel }) =>
      `Should ${organisation} stop sending news and offers ${channel} to ${address}?`,
    unsubscribedNotice: ({ organisation, address, channel }) =>
      `${organisation} no longer sends news and offers ${channel} to ${address}.`,
    resubscribedNotice: ({ organisation, address, channel }) =>
      `${organisation} may send news and offers ${channel} to ${address} again.`,
    consentsToWithdraw: 'This also withdraws your consent to:',
    withdrawnConsents: 'This also withdrew your consent to:',
    givenConsents: 'You have given your consent to:',
    otherMessages: 'You still receive messages about your own orders and visits.',
    unsubscribe: 'Unsubscribe',
    resubscribe: 'Subscribe again',
    allConsents: 'All your consents',
  },
  da: {
    title: 'Afmeld',
    channels: { email: 'på e-mail', sms: 'på SMS' },
    channelNames: { email: 'e-mail', sms: 'SMS' },
    question: ({ organisation, address, channel }) =>
      `Skal ${organisation} holde op med at sende nyheder og tilbud ${channel} til ${address}?`,
    unsubscribedNotice: ({ organisation, address, channel }) =>
      `${organisation} sender ikke længere nyheder og tilbud ${channel} til ${address}.`,
    resubscribedNotice: ({ organisation, address, channel }) =>
      `${organisation} må igen sende nyheder og tilbud ${channel} til ${address}.`,
    consentsToWithdraw: 'Samtidig trækkes disse samtykker tilbage:',
    withdrawnConsents: 'Samtidig blev disse samtykker trukket tilbage:',
    givenConsents: 'Disse samtykker gælder:',
    otherMessages: 'Beskeder om dine egne ordrer og besøg kommer stadig.',
    unsubscribe: 'Afmeld',
    resubscribe: 'Tilmeld igen',
    allConsents: 'Alle dine samtykker',
  },
  se: {
    title: 'Avsluta prenumeration',
    channels: { email: 'via e-post', sms: 'via sms' },
    channelNames: { email: 'e-post', sms: 'sms' },
    question: ({ organisation, address, channel }) =>
      `Ska ${organisation} sluta skicka nyheter och erbjudanden ${channel} till ${address}?`,
    unsubscribedNotice: ({ organisation, address, channel }) =>
      `${organisation} skickar inte längre nyheter och erbjudanden ${channel} till ${address}.`,
    resubscribedNotice: ({ organisation, address, channel }) =>
      `${organisation} får åter skicka nyheter och erbjudanden ${channel} till ${address}.`,
    consentsToWithdraw: 'Samtidigt återkallas dessa samtycken:',
    withdrawnConsents: 'Samtidigt återkallades dessa samtycken:',
    givenConsents: 'Dessa samtycken gäller:',
    otherMessages: 'Meddelanden om dina egna beställningar och besök kommer fortfarande.',
    unsubscribe: 'Avsluta prenumeration',
    resubscribe: 'Prenumerera igen',
    allConsents: 'Alla dina samtycken',
  },
  nl: {
    title: 'Afmelden',
    channels: { email: 'per e-mail', sms: 'per sms' },
    channelNames: { email: 'e-mail', sms: 'sms' },
    question: ({ organisation, address, channel }) =>
      `Moet ${organisation} stoppen met nieuws en aanbiedingen ${channel} naar ${address}?`,
    unsubscribedNotice: ({ organisation, address, channel }) =>
      `${organisation} stuurt geen nieuws en aanbiedingen ${channel} meer naar ${address}.`,
    resubscribedNotice: ({ organisation, address, channel }) =>
      `${organisation} mag weer nieuws en aanbiedingen ${channel} naar ${address} sturen.`,
    consentsToWithdraw: 'Deze toestemmingen worden daarmee ingetrokken:',
    withdrawnConsents: 'Deze toestemmingen zijn daarmee ingetrokken:',
    givenConsents: 'Deze toestemmingen gelden:',
    otherMessages: 'Berichten over uw eigen bestellingen en bezoeken blijven komen.',
    unsubscribe: 'Afmelden',
    resubscribe: 'Opnieuw aanmelden',
    allConsents: 'Al uw toestemmingen',
  },
  pl: {
    title: 'Rezygnacja',
    channels: { email: 'e-mailem', sms: 'SMS-em' },
    channelNames: { email: 'e-mail', sms: 'SMS' },
    question: ({ organisation, address, channel }) =>
      `Czy ${organisation} ma przestać wysyłać wiadomości i oferty ${channel} na ${address}?`,
    unsubscribedNotice: ({ organisation, address, channel }) =>
      `${organisation} nie wysyła już wiadomości i ofert ${channel} na ${address}.`,
    resubscribedNotice: ({ organisation, address, channel }) =>
      `${organisation} może znów wysyłać wiadomości i oferty ${channel} na ${address}.`,
    consentsToWithdraw: 'Zostaną przy tym wycofane te zgody:',
    withdrawnConsents: 'Zostały przy tym wycofane te zgody:',
    givenConsents: 'Obowiązują te zgody:',
    otherMessages: 'Wiadomości o własnych zamówieniach i wizytach będą nadal przychodzić.',
    unsubscribe: 'Rezygnuję',
    resubscribe: 'Zapisz mnie ponownie',
    allConsents: 'Wszystkie Twoje zgody',
  },
}

function choosePageWords(language: string): [Language, PageWords] {
  const pageLanguage = languages.find((candidate) => candidate === language) ?? 'en'
  return [pageLanguage, wordsByLanguage[pageLanguage]]
}

/** The content security policy of the page: it loads nothing, and its form posts to this service only. */
export const unsubscribePagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const style =
  'body{font:17px/1.6 -apple-system,BlinkMacSystemFont,"Segoe UI",Helvetica,Arial,sans-serif;color-scheme:light dark;max-width:34rem;margin:14vh auto;padding:0 1.5rem;text-align:center;overflow-wrap:anywhere}ul{list-style:none;margin:0 0 1em;padding:0}.small{font-size:.9em}a{color:inherit}button{font:inherit;font-weight:600;padding:.7em 1.8em;border:0;border-radius:10px;background:#1f4fd8;color:#fff;cursor:pointer}'

const renderPage = (language: string, title: string, body: string): string =>
  `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex"><title>${escapeHtml(title)}</title><style>${style}</style></head><body>${body}</body></html>`

const renderParagraph = (text: string, kind = ''): string => `<p${kind && ` class="${kind}"`}>${escapeHtml(text)}</p>`

const renderButton = (action: string, text: string): string =>
  `<form method="post" action="${escapeHtml(action)}"><button name="List-Unsubscribe" value="One-Click">${escapeHtml(text)}</button></form>`

/** Renders whether marketing goes to the address, with a button to change that, in the recipient's language. */
export function renderSubscriptionPage(
  subscriber: Subscriber,
  { suppression, consents, tokens, preferences }: Subscription,
  isResubscribed = false,
): string {
  const [language, words] = choosePageWords(subscriber.language)
  const { organization_name: organisation, address, channel } = subscriber
  const values = { organisation, address, channel: words.channels[channel] }
  const isSuppressed = suppression !== null
  const isDead = isSuppressed && isDeadAddress(suppression)
  const renderConsents = (heading: string): string =>
    consents.length === 0
      ? ''
      : renderParagraph(heading, 'small') +
        `<ul class="small">${consents.map(({ title, channels }) => `<li>${escapeHtml(`${title} (${channels.map((name) => words.channelNames[name]).join(', ')})`)}</li>`).join('')}</ul>`
  // Links are relative, because PUBLIC_URL may have a path.
  const parts = isSuppressed
    ? [
        renderParagraph(words.unsubscribedNotice(values)),
        suppression === 'unsubscribed' ? renderConsents(words.withdrawnConsents) : '',
        isDead ? '' : renderParagraph(words.otherMessages, 'small'),
        suppression === 'unsubscribed' ? renderButton(`../s/${tokens.resubscribe}`, words.resubscribe) : '',
      ]
    : [
        renderParagraph((isResubscribed ? words.resubscribedNotice : words.question)(values)),
        renderConsents(isResubscribed ? words.givenConsents : words.consentsToWithdraw),
        isResubscribed ? '' : renderParagraph(words.otherMessages, 'small'),
        renderButton(`../u/${tokens.unsubscribe}`, words.unsubscribe),
      ]
  const consentsLink =
    preferences === null
      ? ''
      : `<p class="small"><a href="../../consents/${preferences}">${escapeHtml(words.allConsents)}</a></p>`
  return renderPage(toBcp47(language), words.title, parts.join('') + consentsLink)
}

export const renderUnknownLinkPage = (): string =>
  renderPage('en', 'Not found', '<p>This link is incomplete or never existed.</p>')
