import { type FieldError, fieldError } from '../errors.ts'
import type { Language, TranslatedDict } from '../languages.ts'
import { type Channel, describeMissingProvider, providerNotConfigured } from '../messaging/messaging.ts'

/** The facts that decide whether a campaign can be sent. */
export interface Readiness {
  channel: Channel
  edition: { is_archived: boolean; default_language: Language; sms_sender_name: string }
  segment: { communication_channel: string; is_deleted: boolean }
  /** Null without a message, and when the message was deleted: `has_message` is true then. */
  message: CampaignMessage | null
  has_message: boolean
  sms_body: TranslatedDict
  /** True if the channel of the campaign has a provider. */
  has_provider: boolean
  /** True if the provider allows bulk messages. */
  is_bulk: boolean
  /** True if `PUBLIC_URL` and `LINK_SIGNING_KEY` are set. */
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

/** Lists why a message cannot be sent by a campaign whose edition has this default language. */
export function findMessageObstacles(message: CampaignMessage, language: Language): MessageFault[] {
  const faults: MessageFault[] = []
  if (message.type !== 'campaign') faults.push({ code: 'wrong_type', detail: 'The message is not of type `campaign`.' })
  if (message.blocks === 0) faults.push({ code: 'no_blocks', detail: 'The message has no blocks.' })
  if (isBlank(message.subject[language]))
    faults.push({ code: 'missing_subject', detail: `The message has no subject in \`${language}\`.` })
  return faults
}

function* checkEmail({ message, has_message, edition }: Readiness): Generator<FieldError> {
  const path = ['email_message_id']
  if (!has_message) return yield fieldError(path, 'required', 'An e-mail campaign needs a message.')
  if (!message) return yield fieldError(path, 'does_not_exist', 'The message was deleted.')
  for (const { code, detail } of findMessageObstacles(message, edition.default_language))
    yield fieldError(path, code, detail)
}

function* checkSms({ edition, sms_body }: Readiness): Generator<FieldError> {
  if (isBlank(sms_body[edition.default_language]))
    yield fieldError(
      ['sms_body'],
      'missing_text',
      `The campaign has no text in \`${edition.default_language}\`, the default language of the edition.`,
    )
  if (edition.sms_sender_name === 'Unset')
    yield fieldError(['edition_id'], 'sender_unset', "The edition's `sms_sender_name` is not set.")
}

export const describeProviderFault = (channel: Channel): FieldError =>
  fieldError(['channel'], providerNotConfigured, describeMissingProvider(channel))

const maxDescribedFaults = 10

/** Describes the first faults in the error message of a campaign that could not start. */
export const describeFaults = (faults: readonly FieldError[]): string =>
  faults
    .slice(0, maxDescribedFaults)
    .map(({ code, detail }) => `${code}: ${detail}`)
    .join(' ')

/** Lists everything that keeps a campaign from being sent. */
export function findReadinessFaults(state: Readiness): FieldError[] {
  const { channel, edition, segment } = state
  const faults = [...(channel === 'email' ? checkEmail(state) : checkSms(state))]
  if (segment.is_deleted) faults.push(fieldError(['segment_id'], 'does_not_exist', 'The segment was deleted.'))
  else if (segment.communication_channel !== channel)
    faults.push(fieldError(['segment_id'], 'channel_mismatch', `The segment is not for ${channel} campaigns.`))
  if (edition.is_archived) faults.push(fieldError(['edition_id'], 'edition_archived', 'The edition is archived.'))
  if (!state.has_provider) faults.push(describeProviderFault(channel))
  if (!state.is_bulk)
    faults.push(
      fieldError(['channel'], 'gateway_not_bulk', 'The e-mail provider of this service does not send campaigns.'),
    )
  if (!state.has_links)
    faults.push(fieldError(['channel'], 'links_not_configured', 'PUBLIC_URL and LINK_SIGNING_KEY are not set.'))
  return faults
}
