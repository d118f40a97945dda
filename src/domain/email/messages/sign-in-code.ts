import type { Language, TranslatedDict } from '../../languages.ts'
import type { Block } from '../blocks/blocks.ts'
import type { Message } from '../compile.ts'
import { escapeHtml, escapeLiquid } from '../escape.ts'

interface SignInTexts {
  subject: (service: string) => string
  heading: string
  intro: (service: string) => string
  expiry: string
  warning: string
}

const texts: Record<Language, SignInTexts> = {
  en: {
    subject: (service) => `Your code to sign in to ${service}`,
    heading: 'Sign in',
    intro: (service) => `Enter this code to sign in to ${service}:`,
    expiry: 'The code works once, for 10 minutes.',
    warning: 'Give it to nobody. If you did not ask for it, ignore this message: without the code nobody can sign in.',
  },
  da: {
    subject: (service) => `Din kode til at logge ind på ${service}`,
    heading: 'Log ind',
    intro: (service) => `Indtast denne kode for at logge ind på ${service}:`,
    expiry: 'Koden virker én gang, i 10 minutter.',
    warning:
      'Giv den ikke til nogen. Hvis du ikke har bedt om den, skal du se bort fra denne besked: uden koden kan ingen logge ind.',
  },
  se: {
    subject: (service) => `Din kod för att logga in på ${service}`,
    heading: 'Logga in',
    intro: (service) => `Ange den här koden för att logga in på ${service}:`,
    expiry: 'Koden fungerar en gång, i 10 minuter.',
    warning:
      'Ge den inte till någon. Om du inte har bett om den kan du bortse från det här meddelandet: utan koden kan ingen logga in.',
  },
  nl: {
    subject: (service) => `Uw code om in te loggen bij ${service}`,
    heading: 'Inloggen',
    intro: (service) => `Voer deze code in om in te loggen bij ${service}:`,
    expiry: 'De code werkt één keer, gedurende 10 minuten.',
    warning:
      'Geef de code aan niemand. Hebt u er niet om gevraagd, negeer dit bericht dan: zonder de code kan niemand inloggen.',
  },
  pl: {
    subject: (service) => `Kod logowania do ${service}`,
    heading: 'Logowanie',
    intro: (service) => `Wpisz ten kod, aby zalogować się do ${service}:`,
    expiry: 'Kod działa jeden raz, przez 10 minut.',
    warning:
      'Nie podawaj go nikomu. Jeśli ta prośba nie pochodzi od Ciebie, zignoruj tę wiadomość: bez kodu nikt się nie zaloguje.',
  },
}

/** `service` is the host at which the code works. */
export function buildSignInMessage(language: Language, { service, code }: { service: string; code: string }): Message {
  const phrases = texts[language]
  const translate = (text: string): TranslatedDict => ({ [language]: text })
  const toParagraph = (text: string) => translate(`<p>${escapeHtml(text)}</p>`)
  const blocks: Block[] = [
    { id: 'heading', type: 'heading', data: { text: translate(phrases.heading), level: 2 } },
    { id: 'intro', type: 'rich_text', data: { text: toParagraph(phrases.intro(service)) } },
    { id: 'code', type: 'heading', data: { text: translate(code), level: 1 } },
    { id: 'expiry', type: 'rich_text', data: { text: toParagraph(phrases.expiry) } },
    { id: 'warning', type: 'rich_text', data: { text: toParagraph(phrases.warning), font_size: 14 } },
    { id: 'footer', type: 'footer', data: { text: {}, show_unsubscribe: false } },
  ]
  return { subject: translate(escapeLiquid(phrases.subject(service))), blocks, template: 'modern' }
}
