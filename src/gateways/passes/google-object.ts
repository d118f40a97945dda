import { toBcp47 } from '../../domain/languages.ts'
import { formatInZone } from '../../domain/time/time-zones.ts'
import { type EditionContent, type PassContent, formatTicketName } from '../../domain/wallet/wallet-pass.ts'
import { buildGoogleClassId, buildGoogleObjectId, type PassState } from '../../domain/wallet/wallet.ts'

export interface GoogleIdentity {
  issuerId: string
  /** The address that Google calls when somebody saves or deletes a pass. */
  callbackUrl: string
}

const states: Record<PassState, string> = {
  valid: 'ACTIVE',
  used: 'COMPLETED',
  expired: 'EXPIRED',
  void: 'INACTIVE',
}

/** Google recommends about 20 characters and states no maximum. Phones show fewer characters than this. */
const maxTextLength = 200

/** Shortens a text without cutting a character that consists of several code points. */
function shorten(text: string): string {
  if (text.length <= maxTextLength) return text
  let shortText = ''
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (shortText.length + segment.length >= maxTextLength) break
    shortText += segment
  }
  return `${shortText.trimEnd()}…`
}

const toLocalizedString = (language: string, value: string) => ({ defaultValue: { language, value: shorten(value) } })

/** Google shows times as they are written, so they are local. Null removes a value that Google has. */
function buildDateTime({ start_at, end_at, timezone }: EditionContent) {
  if (start_at === null && end_at === null) return null
  return {
    start: start_at === null ? null : formatInZone(start_at, timezone),
    end: end_at === null ? null : formatInZone(end_at, timezone),
  }
}

/** Builds the class of an edition. */
export function buildGoogleClass(edition: EditionContent, { issuerId, callbackUrl }: GoogleIdentity) {
  return {
    id: buildGoogleClassId(issuerId, edition.edition_id),
    issuerName: shorten(edition.organization_name),
    eventName: toLocalizedString(toBcp47(edition.language), edition.edition_name),
    eventId: edition.edition_id,
    // Google requires this value for a class that it has approved, too.
    reviewStatus: 'UNDER_REVIEW',
    dateTime: buildDateTime(edition),
    logo: edition.logo_url === null ? null : { sourceUri: { uri: edition.logo_url } },
    callbackOptions: { url: callbackUrl },
  }
}

/** Builds the fields of a pass that can change. */
export function buildGoogleUpdate(content: PassContent) {
  const language = toBcp47(content.language)
  return {
    state: states[content.state],
    ticketHolderName: shorten(content.holder_name),
    ticketType: toLocalizedString(language, formatTicketName(content)),
    barcode: { type: 'QR_CODE', value: content.code, alternateText: shorten(content.code) },
    hexBackgroundColor: content.design.background_color,
  }
}

/** The ids of a pass and of its class. */
const buildGoogleIds = ({ serial_number, edition_id }: PassContent, issuerId: string) => ({
  id: buildGoogleObjectId(issuerId, serial_number),
  classId: buildGoogleClassId(issuerId, edition_id),
})

export const buildGoogleObject = (content: PassContent, { issuerId }: GoogleIdentity) => ({
  ...buildGoogleIds(content, issuerId),
  ticketNumber: content.serial_number,
  ...buildGoogleUpdate(content),
})

/**
 * Builds the claims of the token in a link. Google has the pass already, so the ids suffice and the link stays short:
 * browsers and mail programs cut links of more than about 1,800 characters.
 */
export const buildSaveClaims = (content: PassContent, { issuerId }: GoogleIdentity) => ({
  typ: 'savetowallet',
  origins: [],
  payload: { eventTicketObjects: [buildGoogleIds(content, issuerId)] },
})

export const buildSaveUrl = (jwt: string): string => `https://pay.google.com/gp/v/save/${jwt}`
