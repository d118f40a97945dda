import { toBcp47 } from '../../domain/languages.ts'
import { buildGoogleClassId, buildGoogleObjectId, type PassState } from '../../domain/wallet/wallet.ts'
import { type PassContent, formatTicketName } from '../../domain/wallet/wallet-pass.ts'

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

const toLocalizedString = (language: string, value: string) => ({ defaultValue: { language, value } })

const formatInstant = (at: number): string => new Date(at).toISOString()

/** Builds the class of an edition. Google keeps the first version that it gets. */
export function buildGoogleClass(content: PassContent, { issuerId, callbackUrl }: GoogleIdentity) {
  const language = toBcp47(content.language)
  const { start_at, end_at, design } = content
  const dates = {
    ...(start_at === null ? {} : { start: formatInstant(start_at) }),
    ...(end_at === null ? {} : { end: formatInstant(end_at) }),
  }
  return {
    id: buildGoogleClassId(issuerId, content.edition_id),
    issuerName: content.organization_name,
    eventName: toLocalizedString(language, content.edition_name),
    eventId: content.edition_id,
    reviewStatus: 'UNDER_REVIEW',
    ...(Object.keys(dates).length ? { dateTime: dates } : {}),
    ...(design.logo_url === null ? {} : { logo: { sourceUri: { uri: design.logo_url } } }),
    callbackOptions: { url: callbackUrl },
  }
}

/** Builds the fields that change with the purchase. */
export function buildGoogleUpdate(content: PassContent) {
  const language = toBcp47(content.language)
  return {
    state: states[content.state],
    ticketHolderName: content.holder_name,
    ticketType: toLocalizedString(language, formatTicketName(content)),
    barcode: { type: 'QR_CODE', value: content.code, alternateText: content.code },
  }
}

export function buildGoogleObject(content: PassContent, { issuerId }: GoogleIdentity) {
  const { background_color } = content.design
  return {
    id: buildGoogleObjectId(issuerId, content.serial_number),
    classId: buildGoogleClassId(issuerId, content.edition_id),
    ticketNumber: content.serial_number,
    ...buildGoogleUpdate(content),
    ...(background_color === null ? {} : { hexBackgroundColor: background_color }),
  }
}

export const buildSaveUrl = (jwt: string): string => `https://pay.google.com/gp/v/save/${jwt}`
