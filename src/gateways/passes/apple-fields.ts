import { formatInZone } from '../../domain/time/time-zones.ts'
import { passWords, formatTicketName } from '../../domain/wallet/wallet-pass.ts'
import type { ApplePass } from './passes.ts'

export interface AppleIdentity {
  passTypeId: string
  teamId: string
  /** The address of the web service, without a slash at the end. */
  webServiceUrl: string
}

const formatRgb = (color: string): string =>
  `rgb(${[1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)).join(', ')})`

const formatColors = (colors: Record<string, string | null>) =>
  Object.fromEntries(
    Object.entries(colors).flatMap(([name, color]) => (color === null ? [] : [[name, formatRgb(color)]])),
  )

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

const buildField = (key: string, label: string, value: string | null) => (value ? [{ key, label, value }] : [])

/** Builds the `pass.json` of an event ticket. */
export function buildApplePassJson({ content, token }: ApplePass, identity: AppleIdentity): Record<string, unknown> {
  const { design, language, state, code, start_at, timezone } = content
  const words = passWords[language]
  const startTime = start_at === null ? null : formatInZone(start_at, timezone)
  const starts =
    startTime === null
      ? []
      : [
          {
            key: 'starts',
            label: words.starts,
            value: startTime,
            dateStyle: 'PKDateStyleMedium',
            timeStyle: 'PKDateStyleShort',
            // Without this, phones convert the time to the time zone that they are in.
            ignoresTimeZone: true,
          },
        ]
  return {
    formatVersion: 1,
    passTypeIdentifier: identity.passTypeId,
    teamIdentifier: identity.teamId,
    serialNumber: content.serial_number,
    authenticationToken: token,
    webServiceURL: identity.webServiceUrl,
    organizationName: content.organization_name,
    description: design.description ?? `${content.edition_name}: ${formatTicketName(content)}`,
    logoText: design.logo_text ?? content.organization_name,
    groupingIdentifier: content.edition_id,
    ...formatColors({
      backgroundColor: design.background_color,
      foregroundColor: design.foreground_color,
      labelColor: design.label_color,
    }),
    ...(startTime === null ? {} : { relevantDate: startTime }),
    voided: state === 'void' || state === 'expired',
    barcodes: [
      {
        format: 'PKBarcodeFormatQR',
        message: code,
        messageEncoding: isAscii(code) ? 'iso-8859-1' : 'utf-8',
        altText: code,
      },
    ],
    eventTicket: {
      primaryFields: [{ key: 'event', label: words.event, value: content.edition_name }],
      secondaryFields: [...starts, ...buildField('place', words.place, content.location_name)],
      auxiliaryFields: [
        { key: 'ticket', label: words.ticket, value: formatTicketName(content) },
        ...buildField('holder', words.holder, content.holder_name),
        { key: 'state', label: words.state, value: words.states[state], changeMessage: '%@' },
      ],
    },
  }
}
