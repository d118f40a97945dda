import type { Language, TranslatedDict } from '../../languages.ts'
import type { RefundEmailKind } from '../../messaging/transactional-emails.ts'
import type { RefundReason, RefundStatus } from '../../refunds/refunds.ts'
import type { Block } from '../blocks/blocks.ts'
import type { Message } from '../compile.ts'
import { escapeHtml, escapeLiquid } from '../escape.ts'

/** The refund as it was when its message was written. */
export interface RefundSnapshot {
  order_id: string
  purchase_id: string | null
  amount_minor: number
  currency: string
  reason: RefundReason
  rejection_reason: string | null
  /** The text of the refund's batch to all its customers. Absent in messages of older versions. */
  message?: string | null
  status: RefundStatus
  /** Milliseconds UTC. */
  at: number
}

/** `{order}`, `{amount}` and `{organisation}` are placeholders. */
interface RefundTexts {
  subject: Record<RefundEmailKind, string>
  text: Record<RefundEmailKind, string>
  reason: string
}

const texts: Record<Language, RefundTexts> = {
  en: {
    subject: {
      refund_confirmation: 'Your refund for order {order}',
      refund_rejection: 'About your refund for order {order}',
      refund_correction: 'Correction: your refund for order {order}',
    },
    text: {
      refund_confirmation:
        'We have paid back {amount} for order {order}. It can take a few days until you see it in your bank account.',
      refund_rejection: 'The refund of {amount} for order {order} was not granted.',
      refund_correction:
        'We told you that {amount} was paid back for order {order}. The payment failed: the money has not reached you. We will look into it. If you have questions, please contact {organisation}.',
    },
    reason: 'Reason',
  },
  da: {
    subject: {
      refund_confirmation: 'Din refusion for ordre {order}',
      refund_rejection: 'Om din refusion for ordre {order}',
      refund_correction: 'Rettelse: din refusion for ordre {order}',
    },
    text: {
      refund_confirmation:
        'Vi har betalt {amount} tilbage for ordre {order}. Der kan gå nogle dage, før du ser det i din bank.',
      refund_rejection: 'Refusionen af {amount} for ordre {order} blev ikke godkendt.',
      refund_correction:
        'Vi skrev, at {amount} var betalt tilbage for ordre {order}. Betalingen mislykkedes: Pengene er ikke nået frem til dig. Vi ser på sagen. Kontakt {organisation}, hvis du har spørgsmål.',
    },
    reason: 'Begrundelse',
  },
  se: {
    subject: {
      refund_confirmation: 'Din återbetalning för order {order}',
      refund_rejection: 'Om din återbetalning för order {order}',
      refund_correction: 'Rättelse: din återbetalning för order {order}',
    },
    text: {
      refund_confirmation:
        'Vi har betalat tillbaka {amount} för order {order}. Det kan ta några dagar innan du ser det hos din bank.',
      refund_rejection: 'Återbetalningen av {amount} för order {order} beviljades inte.',
      refund_correction:
        'Vi skrev att {amount} hade betalats tillbaka för order {order}. Betalningen misslyckades: pengarna har inte nått dig. Vi undersöker saken. Kontakta {organisation} om du har frågor.',
    },
    reason: 'Anledning',
  },
  nl: {
    subject: {
      refund_confirmation: 'Uw terugbetaling voor bestelling {order}',
      refund_rejection: 'Over uw terugbetaling voor bestelling {order}',
      refund_correction: 'Correctie: uw terugbetaling voor bestelling {order}',
    },
    text: {
      refund_confirmation:
        'Wij hebben {amount} terugbetaald voor bestelling {order}. Het kan enkele dagen duren voordat u het bij uw bank ziet.',
      refund_rejection: 'De terugbetaling van {amount} voor bestelling {order} is niet goedgekeurd.',
      refund_correction:
        'Wij schreven dat {amount} was terugbetaald voor bestelling {order}. De betaling is mislukt: het geld heeft u niet bereikt. Wij zoeken het uit. Neem contact op met {organisation} als u vragen hebt.',
    },
    reason: 'Reden',
  },
  pl: {
    subject: {
      refund_confirmation: 'Zwrot za zamówienie {order}',
      refund_rejection: 'Informacja o zwrocie za zamówienie {order}',
      refund_correction: 'Sprostowanie: zwrot za zamówienie {order}',
    },
    text: {
      refund_confirmation:
        'Zwróciliśmy {amount} za zamówienie {order}. Bank może potrzebować kilku dni na zaksięgowanie.',
      refund_rejection: 'Zwrot {amount} za zamówienie {order} nie został przyznany.',
      refund_correction:
        'Napisaliśmy, że zwróciliśmy {amount} za zamówienie {order}. Płatność się nie powiodła: pieniądze do Ciebie nie dotarły. Wyjaśniamy sprawę. W razie pytań prosimy o kontakt z organizatorem: {organisation}.',
    },
    reason: 'Powód',
  },
}

const reasonTexts: Record<Language, Record<RefundReason, string>> = {
  en: {
    customer_request: 'At your request',
    event_cancelled: 'The event was cancelled',
    event_changed: 'The event was changed',
    duplicate: 'It was paid twice',
    fraud: 'The payment was not authorised',
    product_unavailable: 'What you bought is not available',
    other: 'Other',
  },
  da: {
    customer_request: 'Efter dit ønske',
    event_cancelled: 'Arrangementet er aflyst',
    event_changed: 'Arrangementet er ændret',
    duplicate: 'Der blev betalt to gange',
    fraud: 'Betalingen var ikke godkendt',
    product_unavailable: 'Det købte kan ikke leveres',
    other: 'Andet',
  },
  se: {
    customer_request: 'På din begäran',
    event_cancelled: 'Evenemanget är inställt',
    event_changed: 'Evenemanget har ändrats',
    duplicate: 'Det betalades två gånger',
    fraud: 'Betalningen var inte godkänd',
    product_unavailable: 'Det du köpte kan inte levereras',
    other: 'Annat',
  },
  nl: {
    customer_request: 'Op uw verzoek',
    event_cancelled: 'Het evenement gaat niet door',
    event_changed: 'Het evenement is gewijzigd',
    duplicate: 'Er is twee keer betaald',
    fraud: 'De betaling was niet geautoriseerd',
    product_unavailable: 'Wat u hebt gekocht is niet beschikbaar',
    other: 'Anders',
  },
  pl: {
    customer_request: 'Na Twoją prośbę',
    event_cancelled: 'Wydarzenie zostało odwołane',
    event_changed: 'Wydarzenie zostało zmienione',
    duplicate: 'Zapłacono dwa razy',
    fraud: 'Płatność nie była autoryzowana',
    product_unavailable: 'Zakupiony produkt jest niedostępny',
    other: 'Inny',
  },
}

export const describeRefundReason = (reason: RefundReason, language: Language): string => reasonTexts[language][reason]

export interface RefundMessage {
  kind: RefundEmailKind
  language: Language
  order: string
  organisation: string
  /** The amount in the format of the language. */
  amount: string
  /** A text for the customer; null to leave the reason out. */
  reason: string | null
  /** The text of the refund's batch to all its customers. */
  note?: string | null
}

/** Liquid and HTML in the reason and the note are shown as plain text. */
export function buildRefundMessage({
  kind,
  language,
  order,
  organisation,
  amount,
  reason,
  note,
}: RefundMessage): Message {
  const phrases = texts[language]
  const translate = (text: string): TranslatedDict => ({ [language]: text })
  const values: Record<string, string> = { order, amount, organisation }
  const fillIn = (text: string) => text.replaceAll(/\{(order|amount|organisation)\}/g, (_, name) => values[name] ?? '')
  const subject = phrases.subject[kind].split('{order}').map(escapeLiquid).join(escapeLiquid(order))
  const additions = [note ?? '', reason === null ? '' : `${phrases.reason}: ${reason}`]
  const lines = additions.flatMap((text) => text.split(/\n+/)).filter((line) => line.trim())
  const html = [fillIn(phrases.text[kind]), ...lines].map((line) => `<p>${escapeHtml(line)}</p>`).join('')
  const blocks: Block[] = [
    { id: 'text', type: 'rich_text', data: { text: translate(html) } },
    { id: 'footer', type: 'footer', data: { text: {}, show_unsubscribe: false } },
  ]
  return { subject: translate(subject), blocks, template: 'modern' }
}
