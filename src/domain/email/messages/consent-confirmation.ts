import type { Language, TranslatedDict } from '../../languages.ts'
import type { Block } from '../blocks/blocks.ts'
import type { Message } from '../compile.ts'
import { escapeHtml, escapeLiquid } from '../escape.ts'

interface ConfirmationTexts {
  subject: string
  heading: string
  intro: (organisation: string) => string
  link: string
  button: string
  expiry: string
}

const texts: Record<Language, ConfirmationTexts> = {
  en: {
    subject: 'Please confirm',
    heading: 'Please confirm',
    intro: (organisation) => `${organisation} has noted that you agree to this. It counts once you confirm it:`,
    link: 'Read more',
    button: 'Confirm',
    expiry:
      'The link works for 7 days. If you did not ask for this, do nothing: without your confirmation you have agreed to nothing.',
  },
  da: {
    subject: 'Bekræft venligst',
    heading: 'Bekræft venligst',
    intro: (organisation) =>
      `${organisation} har noteret, at du siger ja til dette. Det gælder først, når du bekræfter det:`,
    link: 'Læs mere',
    button: 'Bekræft',
    expiry:
      'Linket virker i 7 dage. Hvis du ikke har bedt om dette, skal du ikke gøre noget: uden din bekræftelse har du ikke sagt ja til noget.',
  },
  se: {
    subject: 'Bekräfta',
    heading: 'Bekräfta',
    intro: (organisation) =>
      `${organisation} har noterat att du samtycker till detta. Det gäller först när du bekräftar det:`,
    link: 'Läs mer',
    button: 'Bekräfta',
    expiry:
      'Länken fungerar i 7 dagar. Om du inte har bett om detta behöver du inte göra något: utan din bekräftelse har du inte samtyckt till något.',
  },
  nl: {
    subject: 'Bevestig alstublieft',
    heading: 'Bevestig alstublieft',
    intro: (organisation) =>
      `${organisation} heeft genoteerd dat u hiermee instemt. Het geldt pas wanneer u het bevestigt:`,
    link: 'Lees meer',
    button: 'Bevestigen',
    expiry:
      'De link werkt 7 dagen. Hebt u hier niet om gevraagd, doe dan niets: zonder uw bevestiging hebt u nergens mee ingestemd.',
  },
  pl: {
    subject: 'Prosimy o potwierdzenie',
    heading: 'Prosimy o potwierdzenie',
    intro: (organisation) =>
      `Organizacja ${organisation} odnotowała taką zgodę. Będzie ważna dopiero po potwierdzeniu:`,
    link: 'Więcej informacji',
    button: 'Potwierdzam',
    expiry:
      'Link działa przez 7 dni. Jeśli ta prośba nie pochodzi od Ciebie, nic nie rób: bez potwierdzenia żadna zgoda nie obowiązuje.',
  },
}

/** The consent that a person is asked to confirm, in one language. */
export interface ConsentWording {
  title: string
  text: string
  link_url: string | null
}

/** The answer that the message asks about, as it was when the message was written. */
export interface ConfirmationSnapshot {
  consent_id: string
  /** Number of the answer among the person's answers to this consent. */
  number: number
  wording: ConsentWording
}

export interface ConfirmationMessage {
  language: Language
  organisation: string
  wordings: readonly ConsentWording[]
  /** The address to which the button leads. */
  url: string
}

const toParagraphs = (text: string): string =>
  text
    .split(/\n+/)
    .filter((line) => line.trim())
    .map((line) => `<p>${escapeHtml(line)}</p>`)
    .join('')

function formatWording({ title, text, link_url }: ConsentWording, linkText: string): string {
  const link = link_url === null ? '' : `<p><a href="${escapeHtml(link_url)}">${escapeHtml(linkText)}</a></p>`
  return `<p><strong>${escapeHtml(title)}</strong></p>${toParagraphs(text)}${link}`
}

/** Liquid and HTML in the texts of an organisation are shown as plain text. */
export function buildConsentConfirmation({ language, organisation, wordings, url }: ConfirmationMessage): Message {
  const phrases = texts[language]
  const translate = (text: string): TranslatedDict => ({ [language]: text })
  const html = wordings.map((wording) => formatWording(wording, phrases.link)).join('')
  const [first, ...others] = wordings
  const subject = first && others.length === 0 ? first.title : organisation
  const blocks: Block[] = [
    { id: 'heading', type: 'heading', data: { text: translate(phrases.heading), level: 2 } },
    { id: 'intro', type: 'rich_text', data: { text: translate(toParagraphs(phrases.intro(organisation))) } },
    { id: 'wording', type: 'rich_text', data: { text: translate(html) } },
    { id: 'button', type: 'button', data: { text: translate(phrases.button), url } },
    { id: 'expiry', type: 'rich_text', data: { text: translate(toParagraphs(phrases.expiry)), font_size: 14 } },
    { id: 'footer', type: 'footer', data: { text: {}, show_unsubscribe: false } },
  ]
  return { subject: translate(`${phrases.subject}: ${escapeLiquid(subject)}`), blocks, template: 'modern' }
}
