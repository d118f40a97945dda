import { type FieldError, fieldError } from '../errors.ts'
import type { Language, TranslatedDict } from '../languages.ts'
import type { Channel } from '../messaging/messaging.ts'

/** The facts that decide whether a campaign can be sent. */
export interface Readiness {
  channel: Channel
  edition: { is_archived: boolean; default_language: Language; sms_sender_name: string }
  segment: { communication_channel: string; is_deleted: boolean }
  message: CampaignMessage | null
  has_message: boolean
  sms_body: TranslatedDict
  /** Whether the provider accepts campaigns. */
  is_bulk: boolean
  /** Whether the public address and the key of links are set. */
  has_links: boolean
}

export const isBlank = (text: string | undefined): boolean => text === undefined || text.trim() === ''

export interface CampaignMessage {
  type: string
  subject: TranslatedDict
  blocks: number
}

export interface MessageFault {
  code: 'wrong_type' | 'no_blocks' | 'missing_subject'
  detail: string
}

/** Why a message cannot be sent as a campaign of an edition with this default language. */
export function messageFaults(message: CampaignMessage, language: Language): MessageFault[] {
  const found: MessageFault[] = []
  if (message.type !== 'campaign') found.push({ code: 'wrong_type', detail: 'The message is not of type campaign.' })
  if (message.blocks === 0) found.push({ code: 'no_blocks', detail: 'The message has no block.' })
  if (isBlank(message.subject[language]))
    found.push({ code: 'missing_subject', detail: `The message has no subject in ${language}.` })
  return found
}

function* emailFaults({ message, has_message, edition }: Readiness): Generator<FieldError> {
  const at = ['email_message_id']
  if (!has_message) return yield fieldError(at, 'required', 'An e-mail campaign needs a message.')
  if (!message) return yield fieldError(at, 'does_not_exist', 'The message is not there any more.')
  for (const { code, detail } of messageFaults(message, edition.default_language)) yield fieldError(at, code, detail)
}

function* smsFaults({ edition, sms_body }: Readiness): Generator<FieldError> {
  if (isBlank(sms_body[edition.default_language]))
    yield fieldError(['sms_body'], 'missing_text', `There is no text in ${edition.default_language}.`)
  if (edition.sms_sender_name === 'Unset')
    yield fieldError(['edition_id'], 'sender_unset', "The edition's `sms_sender_name` is not set.")
}

/** All that a campaign still needs before it can go out. */
export function missingFor(state: Readiness): FieldError[] {
  const { channel, edition, segment } = state
  const found = [...(channel === 'email' ? emailFaults(state) : smsFaults(state))]
  if (segment.is_deleted) found.push(fieldError(['segment_id'], 'does_not_exist', 'The segment is not there any more.'))
  else if (segment.communication_channel !== channel)
    found.push(fieldError(['segment_id'], 'channel_mismatch', `The segment is not for ${channel}.`))
  if (edition.is_archived) found.push(fieldError(['edition_id'], 'edition_archived', 'The edition is archived.'))
  if (!state.is_bulk)
    found.push(fieldError(['channel'], 'gateway_not_bulk', 'The provider of this service takes no campaigns.'))
  if (!state.has_links)
    found.push(fieldError(['channel'], 'links_not_configured', 'PUBLIC_URL and LINK_SIGNING_KEY are not set.'))
  return found
}
