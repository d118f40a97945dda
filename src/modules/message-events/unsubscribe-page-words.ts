import { type Language, languages } from '../../domain/languages.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'

interface Substitutions {
  organisation: string
  address: string
  channel: string
}

interface PageWords {
  title: string
  /** The channel as an adverb, and as a noun. */
  channels: Record<Channel, string>
  channelNames: Record<Channel, string>
  ask: (values: Substitutions) => string
  left: (values: Substitutions) => string
  back: (values: Substitutions) => string
  withdraws: string
  withdrawn: string
  given: string
  /** Messages that are sent in any case. */
  stays: string
  unsubscribe: string
  again: string
  /** Leads to the page of all consents. */
  all: string
}

const words: Record<Language, PageWords> = {
  en: {
    title: 'Unsubscribe',
    channels: { email: 'by e-mail', sms: 'by SMS' },
    channelNames: { email: 'e-mail', sms: 'SMS' },
    ask: ({ organisation, address, channel }) =>
      `Should ${organisation} stop sending news and offers ${channel} to ${address}?`,
    left: ({ organisation, address, channel }) =>
      `${organisation} no longer sends news and offers ${channel} to ${address}.`,
    back: ({ organisation, address, channel }) =>
      `${organisation} may again send news and offers ${channel} to ${address}.`,
    withdraws: 'These consents are withdrawn with it:',
    withdrawn: 'These consents were withdrawn with it:',
    given: 'These consents hold:',
    stays: 'Messages about your own orders and visits still come.',
    unsubscribe: 'Unsubscribe',
    again: 'Subscribe again',
    all: 'All your consents',
  },
  da: {
    title: 'Afmeld',
    channels: { email: 'på e-mail', sms: 'på SMS' },
    channelNames: { email: 'e-mail', sms: 'SMS' },
    ask: ({ organisation, address, channel }) =>
      `Skal ${organisation} holde op med at sende nyheder og tilbud ${channel} til ${address}?`,
    left: ({ organisation, address, channel }) =>
      `${organisation} sender ikke længere nyheder og tilbud ${channel} til ${address}.`,
    back: ({ organisation, address, channel }) =>
      `${organisation} må igen sende nyheder og tilbud ${channel} til ${address}.`,
    withdraws: 'Samtidig trækkes disse samtykker tilbage:',
    withdrawn: 'Samtidig blev disse samtykker trukket tilbage:',
    given: 'Disse samtykker gælder:',
    stays: 'Beskeder om dine egne ordrer og besøg kommer stadig.',
    unsubscribe: 'Afmeld',
    again: 'Tilmeld igen',
    all: 'Alle dine samtykker',
  },
  se: {
    title: 'Avsluta prenumeration',
    channels: { email: 'via e-post', sms: 'via sms' },
    channelNames: { email: 'e-post', sms: 'sms' },
    ask: ({ organisation, address, channel }) =>
      `Ska ${organisation} sluta skicka nyheter och erbjudanden ${channel} till ${address}?`,
    left: ({ organisation, address, channel }) =>
      `${organisation} skickar inte längre nyheter och erbjudanden ${channel} till ${address}.`,
    back: ({ organisation, address, channel }) =>
      `${organisation} får åter skicka nyheter och erbjudanden ${channel} till ${address}.`,
    withdraws: 'Samtidigt återkallas dessa samtycken:',
    withdrawn: 'Samtidigt återkallades dessa samtycken:',
    given: 'Dessa samtycken gäller:',
    stays: 'Meddelanden om dina egna beställningar och besök kommer fortfarande.',
    unsubscribe: 'Avsluta prenumeration',
    again: 'Prenumerera igen',
    all: 'Alla dina samtycken',
  },
  nl: {
    title: 'Afmelden',
    channels: { email: 'per e-mail', sms: 'per sms' },
    channelNames: { email: 'e-mail', sms: 'sms' },
    ask: ({ organisation, address, channel }) =>
      `Moet ${organisation} stoppen met nieuws en aanbiedingen ${channel} naar ${address}?`,
    left: ({ organisation, address, channel }) =>
      `${organisation} stuurt geen nieuws en aanbiedingen ${channel} meer naar ${address}.`,
    back: ({ organisation, address, channel }) =>
      `${organisation} mag weer nieuws en aanbiedingen ${channel} naar ${address} sturen.`,
    withdraws: 'Deze toestemmingen worden daarmee ingetrokken:',
    withdrawn: 'Deze toestemmingen zijn daarmee ingetrokken:',
    given: 'Deze toestemmingen gelden:',
    stays: 'Berichten over uw eigen bestellingen en bezoeken blijven komen.',
    unsubscribe: 'Afmelden',
    again: 'Opnieuw aanmelden',
    all: 'Al uw toestemmingen',
  },
  pl: {
    title: 'Rezygnacja',
    channels: { email: 'e-mailem', sms: 'SMS-em' },
    channelNames: { email: 'e-mail', sms: 'SMS' },
    ask: ({ organisation, address, channel }) =>
      `Czy ${organisation} ma przestać wysyłać wiadomości i oferty ${channel} na ${address}?`,
    left: ({ organisation, address, channel }) =>
      `${organisation} nie wysyła już wiadomości i ofert ${channel} na ${address}.`,
    back: ({ organisation, address, channel }) =>
      `${organisation} może znów wysyłać wiadomości i oferty ${channel} na ${address}.`,
    withdraws: 'Zostaną przy tym wycofane te zgody:',
    withdrawn: 'Zostały przy tym wycofane te zgody:',
    given: 'Obowiązują te zgody:',
    stays: 'Wiadomości o własnych zamówieniach i wizytach będą nadal przychodzić.',
    unsubscribe: 'Rezygnuję',
    again: 'Zapisz mnie ponownie',
    all: 'Wszystkie Twoje zgody',
  },
}

export function choosePageWords(language: string): [Language, PageWords] {
  const known = languages.find((one) => one === language) ?? 'en'
  return [known, words[known]]
}
