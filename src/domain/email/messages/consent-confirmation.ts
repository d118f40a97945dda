import type { Language, TranslatedDict } from '../../languages.ts'
import type { Block } from '../blocks/blocks.ts'
import type { Message } from '../compile.ts'
import { escapeHtml, escapeLiquid } from '../escape.ts'

interface ConfirmationWords {
  subject: string
  heading: string
  intro: (organisation: string) => string
  link: string
  button: string
  ends: string
}

const words: Record<Language, ConfirmationWords> = {
  en: {
    subject: 'Please confirm',
    heading: 'Please confirm',
    intro: (organisation) => `${organisation} has noted that you agree to this. It counts once you confirm it:`,
    link: 'Read more',
    button: 'Confirm',
    ends: 'The link works for 7 days. If you did not ask for this, do nothing: without your confirmation you have agreed to nothing.',
  },
  da: {
    subject: 'Bekræft venligst',
    heading: 'Bekræft venligst',
    intro: (organisation) =>
      `${organisation} har noteret, at du siger ja til dette. Det gælder først, når du bekræfter det:`,
    link: 'Læs mere',
    button: 'Bekræft',
    ends: 'Linket virker i 7 dage. Hvis du ikke har bedt om dette, skal du ikke gøre noget: uden din bekræftelse har du ikke sagt ja til noget.',
  },
  se: {
    subject: 'Bekräfta',
    heading: 'Bekräfta',
    intro: (organisation) =>
      `${organisation} har noterat att du samtycker till detta. Det gäller först när du bekräftar det:`,
    link: 'Läs mer',
    button: 'Bekräfta',
    ends: 'Länken fungerar i 7 dagar. Om du inte har bett om detta behöver du inte göra något: utan din bekräftelse har du inte samtyckt till något.',
  },
  nl: {
    subject: 'Bevestig alstublieft',
    heading: 'Bevestig alstublieft',
    intro: (organisation) =>
      `${organisation} heeft genoteerd dat u hiermee instemt. Het geldt pas wanneer u het bevestigt:`,
    link: 'Lees meer',
    button: 'Bevestigen',
    ends: 'De link werkt 7 dagen. Hebt u hier niet om gevraagd, doe dan niets: zonder uw bevestiging hebt u nergens mee ingestemd.',
  },
  pl: {
    subject: 'Prosimy o potwierdzenie',
    heading: 'Prosimy o potwierdzenie',
    intro: (organisation) => `${organisation} odnotowała taką zgodę. Będzie ważna dopiero po potwierdzeniu:`,
    link: 'Więcej informacji',
    button: 'Potwierdzam',
    ends: 'Link działa przez 7 dni. Jeśli ta prośba nie pochodzi od Ciebie, nic nie rób: bez potwierdzenia żadna zgoda nie obowiązuje.',
  },
}

/** The consent that a person is to confirm, in one language. */
export interface ConsentWording {
  title: string
  text: string
  link_url: string | null
}

/** The data of the answer in a message, as of the time when the message was written. */
export interface KeptConfirmation {
  consent_id: string
  number: number
  wording: ConsentWording
}

export interface ConfirmationMessage {
  language: Language
  organisation: string
  wording: ConsentWording
  /** The target of the button. */
  address: string
}

const paragraphs = (text: string): string =>
  text
    .split(/\n+/)
    .filter((line) => line.trim())
    .map((line) => `<p>${escapeHtml(line)}</p>`)
    .join('')

/**
 * The platform's message that requests a confirmation. Texts of organisations are plain text in it: no Liquid, no HTML.
 */
export function consentConfirmation({ language, organisation, wording, address }: ConfirmationMessage): Message {
  const own = words[language]
  const of = (text: string): TranslatedDict => ({ [language]: text })
  const { title, text, link_url } = wording
  const link = link_url === null ? '' : `<p><a href="${escapeHtml(link_url)}">${escapeHtml(own.link)}</a></p>`
  const html = `<p><strong>${escapeHtml(title)}</strong></p>${paragraphs(text)}${link}`
  const blocks: Block[] = [
    { id: 'heading', type: 'heading', data: { text: of(own.heading), level: 2 } },
    { id: 'intro', type: 'rich_text', data: { text: of(paragraphs(own.intro(organisation))) } },
    { id: 'wording', type: 'rich_text', data: { text: of(html) } },
    { id: 'button', type: 'button', data: { text: of(own.button), url: address } },
    { id: 'ends', type: 'rich_text', data: { text: of(paragraphs(own.ends)), font_size: 14 } },
    { id: 'footer', type: 'footer', data: { text: {}, show_unsubscribe: false } },
  ]
  return { subject: of(`${own.subject}: ${escapeLiquid(title)}`), blocks, template: 'modern' }
}
