import { toBcp47 } from '../../domain/languages.ts'
import { googleClassId, googleObjectId, type PassState } from '../../domain/wallet/wallet.ts'
import { type PassContent, ticketName } from '../../domain/wallet/wallet-pass.ts'

export interface GoogleIdentity {
  issuerId: string
  /** Google calls this URL when a pass is saved or deleted. */
  callbackUrl: string
}

const states: Record<PassState, string> = {
  valid: 'ACTIVE',
  used: 'COMPLETED',
  expired: 'EXPIRED',
  void: 'INACTIVE',
}

const translate = (language: string, value: string) => ({ defaultValue: { language, value } })

const formatDay = (at: number): string => new Date(at).toISOString()

/** The class of an edition. Google keeps the first version that it gets. */
export function buildGoogleClass(content: PassContent, { issuerId, callbackUrl }: GoogleIdentity) {
  const language = toBcp47(content.language)
  const { start_at, end_at, design } = content
  const dates = {
    ...(start_at === null ? {} : { start: formatDay(start_at) }),
    ...(end_at === null ? {} : { end: formatDay(end_at) }),
  }
  return {
    id: googleClassId(issuerId, content.edition_id),
    issuerName: content.organization_name,
    eventName: translate(language, content.edition_name),
    eventId: content.edition_id,
    reviewStatus: 'UNDER_REVIEW',
    ...(Object.keys(dates).length ? { dateTime: dates } : {}),
    ...(design.logo_url === null ? {} : { logo: { sourceUri: { uri: design.logo_url } } }),
    callbackOptions: { url: callbackUrl },
  }
}

/** The fields that change with the purchase. */
export function buildGoogleUpdate(content: PassContent) {
  const language = toBcp47(content.language)
  return {
    state: states[content.state],
    ticketHolderName: content.holder_name,
    ticketType: translate(language, ticketName(content)),
    barcode: { type: 'QR_CODE', value: content.code, alternateText: content.code },
  }
}

export function buildGoogleObject(content: PassContent, { issuerId }: GoogleIdentity) {
  const { background_color } = content.design
  return {
    id: googleObjectId(issuerId, content.serial_number),
    classId: googleClassId(issuerId, content.edition_id),
    ticketNumber: content.serial_number,
    ...buildGoogleUpdate(content),
    ...(background_color === null ? {} : { hexBackgroundColor: background_color }),
  }
}
