import type { Language } from '../languages.ts'
import type { PassState } from './wallet.ts'

/** Content that all passes of an edition have in common. Google stores it once, as their class. */
export interface EditionContent {
  edition_id: string
  edition_name: string
  organization_name: string
  language: Language
  /** Milliseconds UTC. */
  start_at: number | null
  end_at: number | null
  timezone: string
  logo_url: string | null
}

/** Everything that a pass shows, and its ids. */
export interface PassContent extends Omit<EditionContent, 'logo_url'> {
  id: string
  serial_number: string
  state: PassState
  product_name: string
  variant_name: string | null
  location_name: string | null
  holder_name: string
  /** The text of the barcode. */
  code: string
  design: PassDesign
}

/** The design of a pass. Colours are `#rrggbb`, or null for the platform's default. */
export interface PassDesign {
  background_color: string | null
  foreground_color: string | null
  label_color: string | null
  logo_text: string | null
  description: string | null
}

export const maxPassTextLength = 200
export const passColorPattern = /^#[0-9a-f]{6}$/

const readText = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, maxPassTextLength) : null

function readColor(value: unknown): string | null {
  const color = typeof value === 'string' ? value.toLowerCase() : ''
  return passColorPattern.test(color) ? color : null
}

/** Reads a stored design. Invalid values are left out. */
export function readPassDesign(design: Readonly<Record<string, unknown>>): PassDesign {
  return {
    background_color: readColor(design['background_color']),
    foreground_color: readColor(design['foreground_color']),
    label_color: readColor(design['label_color']),
    logo_text: readText(design['logo_text']),
    description: readText(design['description']),
  }
}

interface PassWords {
  event: string
  starts: string
  ticket: string
  holder: string
  place: string
  state: string
  states: Record<PassState, string>
}

export const passWords: Record<Language, PassWords> = {
  en: {
    event: 'Event',
    starts: 'Starts',
    ticket: 'Ticket',
    holder: 'Name',
    place: 'Place',
    state: 'Status',
    states: { valid: 'Valid', used: 'Used', expired: 'Expired', void: 'Not valid' },
  },
  da: {
    event: 'Arrangement',
    starts: 'Begynder',
    ticket: 'Billet',
    holder: 'Navn',
    place: 'Sted',
    state: 'Status',
    states: { valid: 'Gyldig', used: 'Brugt', expired: 'Udløbet', void: 'Ikke gyldig' },
  },
  se: {
    event: 'Evenemang',
    starts: 'Börjar',
    ticket: 'Biljett',
    holder: 'Namn',
    place: 'Plats',
    state: 'Status',
    states: { valid: 'Giltig', used: 'Använd', expired: 'Utgången', void: 'Inte giltig' },
  },
  nl: {
    event: 'Evenement',
    starts: 'Begint',
    ticket: 'Ticket',
    holder: 'Naam',
    place: 'Plaats',
    state: 'Status',
    states: { valid: 'Geldig', used: 'Gebruikt', expired: 'Verlopen', void: 'Niet geldig' },
  },
  pl: {
    event: 'Wydarzenie',
    starts: 'Początek',
    ticket: 'Bilet',
    holder: 'Imię i nazwisko',
    place: 'Miejsce',
    state: 'Status',
    states: { valid: 'Ważny', used: 'Wykorzystany', expired: 'Po terminie', void: 'Nieważny' },
  },
}

export const formatTicketName = ({ product_name, variant_name }: PassContent): string =>
  variant_name === null ? product_name : `${product_name}, ${variant_name}`
