import { escapeHtml } from '../../domain/email/escape.ts'
import { bcp47, type Language, languages } from '../../domain/languages.ts'

interface Words {
  title: string
  ask: (organisation: string, address: string) => string
  button: string
  done: (organisation: string, address: string) => string
}

const words: Record<Language, Words> = {
  en: {
    title: 'Unsubscribe',
    ask: (organisation, address) => `Should ${organisation} send nothing more to ${address}?`,
    button: 'Unsubscribe',
    done: (organisation, address) => `${organisation} sends nothing more to ${address}.`,
  },
  da: {
    title: 'Afmeld',
    ask: (organisation, address) => `Skal ${organisation} ikke længere sende noget til ${address}?`,
    button: 'Afmeld',
    done: (organisation, address) => `${organisation} sender ikke længere noget til ${address}.`,
  },
  se: {
    title: 'Avsluta prenumeration',
    ask: (organisation, address) => `Ska ${organisation} inte skicka något mer till ${address}?`,
    button: 'Avsluta prenumeration',
    done: (organisation, address) => `${organisation} skickar inget mer till ${address}.`,
  },
  nl: {
    title: 'Afmelden',
    ask: (organisation, address) => `Moet ${organisation} niets meer naar ${address} sturen?`,
    button: 'Afmelden',
    done: (organisation, address) => `${organisation} stuurt niets meer naar ${address}.`,
  },
  pl: {
    title: 'Rezygnacja',
    ask: (organisation, address) => `Czy ${organisation} ma nic więcej nie wysyłać na ${address}?`,
    button: 'Rezygnuję',
    done: (organisation, address) => `${organisation} nie wyśle nic więcej na ${address}.`,
  },
}

/** Nothing but the page itself, and its own form. */
export const pagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const style =
  'body{font:17px/1.6 -apple-system,BlinkMacSystemFont,"Segoe UI",Helvetica,Arial,sans-serif;color-scheme:light dark;max-width:32rem;margin:18vh auto;padding:0 1.5rem;text-align:center}button{font:inherit;font-weight:600;padding:.7em 1.8em;border:0;border-radius:10px;background:#1f4fd8;color:#fff;cursor:pointer}'

const page = (language: string, title: string, body: string): string =>
  `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex"><title>${escapeHtml(title)}</title><style>${style}</style></head><body>${body}</body></html>`

const wordsFor = (language: string): [Language, Words] => {
  const known = languages.find((one) => one === language) ?? 'en'
  return [known, words[known]]
}

export function askPage(language: string, organisation: string, address: string): string {
  const [known, said] = wordsFor(language)
  return page(
    bcp47(known),
    said.title,
    `<p>${escapeHtml(said.ask(organisation, address))}</p><form method="post"><button name="List-Unsubscribe" value="One-Click">${escapeHtml(said.button)}</button></form>`,
  )
}

export function donePage(language: string, organisation: string, address: string): string {
  const [known, said] = wordsFor(language)
  return page(bcp47(known), said.title, `<p>${escapeHtml(said.done(organisation, address))}</p>`)
}

export const unknownPage = (): string =>
  page('en', 'Not found', '<p>This link is not complete, or it was never made.</p>')
