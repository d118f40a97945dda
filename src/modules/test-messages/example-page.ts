import { html } from 'hono/html'
import { notFound } from '../../domain/errors.ts'
import { toBcp47, type Language, parseLanguage } from '../../domain/languages.ts'
import { type ExamplePage, examplePages } from '../../domain/messaging/test-messages.ts'

interface ExampleWords {
  title: string
  /** The page that the link opens in the message that customers get. */
  purposes: Record<ExamplePage, string>
  unchanged: string
}

const words: Readonly<Record<Language, ExampleWords>> = {
  en: {
    title: 'This was a test message',
    purposes: {
      unsubscribe: 'In the message that customers get, this link opens the page on which they unsubscribe.',
      preferences:
        'In the message that customers get, this link opens the page on which they see, give and withdraw their consents.',
      portal: 'In the message that customers get, this link opens the page of their orders and tickets.',
    },
    unchanged: 'Nothing was changed.',
  },
  da: {
    title: 'Dette var en testbesked',
    purposes: {
      unsubscribe: 'I den besked, som kunderne får, åbner linket siden, hvor de afmelder sig.',
      preferences:
        'I den besked, som kunderne får, åbner linket siden, hvor de ser, giver og trækker deres samtykker tilbage.',
      portal: 'I den besked, som kunderne får, åbner linket siden med deres ordrer og billetter.',
    },
    unchanged: 'Intet blev ændret.',
  },
  se: {
    title: 'Detta var ett testmeddelande',
    purposes: {
      unsubscribe: 'I meddelandet som kunderna får öppnar länken sidan där de avslutar sin prenumeration.',
      preferences: 'I meddelandet som kunderna får öppnar länken sidan där de ser, ger och återkallar sina samtycken.',
      portal: 'I meddelandet som kunderna får öppnar länken sidan med deras beställningar och biljetter.',
    },
    unchanged: 'Ingenting ändrades.',
  },
  nl: {
    title: 'Dit was een testbericht',
    purposes: {
      unsubscribe: 'In het bericht dat klanten krijgen, opent deze link de pagina waarop zij zich afmelden.',
      preferences:
        'In het bericht dat klanten krijgen, opent deze link de pagina waarop zij hun toestemmingen zien, geven en intrekken.',
      portal: 'In het bericht dat klanten krijgen, opent deze link de pagina met hun bestellingen en tickets.',
    },
    unchanged: 'Er is niets gewijzigd.',
  },
  pl: {
    title: 'To była wiadomość testowa',
    purposes: {
      unsubscribe: 'W wiadomości dla klientów ten link otwiera stronę, na której rezygnują z wiadomości.',
      preferences:
        'W wiadomości dla klientów ten link otwiera stronę, na której widzą, udzielają i wycofują swoje zgody.',
      portal: 'W wiadomości dla klientów ten link otwiera stronę z ich zamówieniami i biletami.',
    },
    unchanged: 'Nic nie zostało zmienione.',
  },
}

/** Throws 404 for a page that no link of a test message opens. */
export function parseExamplePage(text: string | undefined): ExamplePage {
  const page = examplePages.find((candidate) => candidate === text)
  if (page === undefined) throw notFound()
  return page
}

/** Renders the page that says what a link of a test message does in the message that customers get. */
export function renderExamplePage(page: ExamplePage, languageText: string | undefined) {
  const language = parseLanguage(languageText ?? '') ?? 'en'
  const { title, purposes, unchanged } = words[language]
  const content = html`<h1>${title}</h1>
    <p>${purposes[page]}</p>
    <p><strong>${unchanged}</strong></p>`
  return { language: toBcp47(language), title, content }
}
