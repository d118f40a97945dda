import type { JobCtx } from '../../../context.ts'
import { referenceOf } from '../../../domain/campaigns/recipient-events.ts'
import type { ChunkRecipient } from '../../../domain/campaigns/sending-policy.ts'
import { type LinkKind, linkMinter, type MintLink } from '../../../domain/campaigns/link-tokens.ts'
import { mintPreferencesToken, preferencesAddress } from '../../../domain/consents/consent-tokens.ts'
import type { Template } from '../../../domain/email/compile.ts'
import { dateText } from '../../../domain/email/messages/dates.ts'
import { describeRenderError, maxRenderedSmsLength } from '../../../domain/email/liquid/liquid.ts'
import { personalise } from '../../../domain/email/personalise.ts'
import type { TemplateContext } from '../../../domain/email/liquid/variables.ts'
import type { Language } from '../../../domain/languages.ts'
import { displayName } from '../../../domain/messaging/mailbox.ts'
import type { SendResult } from '../../../domain/messaging/messaging.ts'
import { formatFullName } from '../../../domain/accounts/users.ts'
import type { OutboundEmail } from '../../../gateways/email/email.ts'
import type { OutboundSms } from '../../../gateways/sms/sms.ts'
import type { CampaignContent, CampaignContents } from './content-snapshot.ts'

/** A message, or why none could be made for this person. */
export type ComposedMessage<Message> = { n: number; message: Message } | { n: number; refusal: SendResult }

type MessageLink = Exclude<LinkKind, 'resubscribe'>

const pathOf: Record<MessageLink, string> = { click: 'c', open: 'o', unsubscribe: 'u' }

interface Links {
  clicks: string[]
  pixel: string
  unsubscribe: string
  preferences: string
}

const hasUnsubscribe = ({ context }: CampaignContent): boolean => context.has_unsubscribe ?? true

const named = new WeakMap<Template, boolean>()

/** Making a token takes time, and most messages have no such link. Cached, because templates are long. */
function namesPreferences(template: Template): boolean {
  const known = named.get(template)
  if (known !== undefined) return known
  const found = [template.subject, template.html, template.text].some((part) => part.includes('preferences'))
  named.set(template, found)
  return found
}

function preferencesOf({ config }: JobCtx, recipient: ChunkRecipient, content: CampaignContent): string {
  if (!namesPreferences(content.template)) return ''
  const { organization_id, channel, public_url } = content.context
  const token = mintPreferencesToken(config.linkSigningKey, {
    user_id: recipient.person.id,
    organization_id,
    channel,
    address: recipient.address,
    made_at: content.created_at,
  })
  return preferencesAddress(public_url, token)
}

function linksOf(job: JobCtx, mint: MintLink, recipient: ChunkRecipient, content: CampaignContent): Links {
  const { n } = recipient
  const address = (kind: MessageLink, link = 0) =>
    `${content.context.public_url}/t/${pathOf[kind]}/${mint({ kind, n, link })}`
  return {
    preferences: preferencesOf(job, recipient, content),
    unsubscribe: hasUnsubscribe(content) ? address('unsubscribe') : '',
    pixel: content.context.channel === 'email' ? address('open') : '',
    clicks: content.positions.map((position) => address('click', position)),
  }
}

/** Dates are cached because making a formatter takes longer than composing a message. */
const days = new Map<string, string>()
function dayOf(at: number | null, timeZone: string, language: Language): string {
  const key = `${at} ${timeZone} ${language}`
  const known = days.get(key)
  if (known !== undefined) return known
  const day = dateText(at, language, timeZone, 'day')
  if (days.size > 1000) days.clear()
  days.set(key, day)
  return day
}

/** The variables of the message, all kept at the start of the campaign. */
function contextOf(recipient: ChunkRecipient, { context }: CampaignContent, links: Links): TemplateContext {
  const { person } = recipient
  const { edition, organization_name, campaign_name, language = recipient.language } = context
  return {
    customer: {
      first_name: person.first_name,
      last_name: person.last_name,
      full_name: formatFullName(person) || (person.email ?? ''),
      email: person.email ?? '',
      phone_number: person.phone_number ?? '',
      language,
    },
    edition: {
      name: edition.name,
      start_date: dayOf(edition.start_at, edition.timezone, language),
      end_date: dayOf(edition.end_at, edition.timezone, language),
      timezone: edition.timezone,
    },
    organization: { name: organization_name },
    campaign: { name: campaign_name },
    links: { unsubscribe: links.unsubscribe, preferences: links.preferences, portal: '' },
    tracking: { links: links.clicks, pixel: links.pixel },
  }
}

const refusal = (error: unknown): SendResult => ({
  ok: false,
  kind: 'permanent',
  code: 'not_renderable',
  detail: describeRenderError(error) ?? (error instanceof Error ? error.message : 'The message could not be made.'),
  retryAfterMs: null,
})

const contentFor = (contents: CampaignContents, language: string): CampaignContent => {
  const content = contents.get(language) ?? contents.values().next().value
  if (!content) throw new Error('the contents of the campaign are not there')
  return content
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : 'localhost')

/** The headers of an e-mail that are the same for all its recipients. */
const sharedHeaders = (campaignId: string, { context }: CampaignContent): Record<string, string> => ({
  'List-Id': `<${context.edition_id.replace('_', '-').toLowerCase()}.${hostOf(context.public_url)}>`,
  'Feedback-ID': `${campaignId}:${context.organization_id}:campaign:${context.edition_id}`,
})

/** Makes the messages of a campaign, in the order of the recipients. The same recipients always get the same messages. */
type Composer<Message> = (recipients: readonly ChunkRecipient[]) => ComposedMessage<Message>[]

function composer<Message>(
  job: JobCtx,
  campaignId: string,
  contents: CampaignContents,
  messageOf: (recipient: ChunkRecipient, content: CampaignContent, links: Links) => Message,
): Composer<Message> {
  const mint = linkMinter(job.config.linkSigningKey, campaignId)
  return (recipients) =>
    recipients.map((recipient) => {
      const { n, language } = recipient
      const content = contentFor(contents, language)
      const links = linksOf(job, mint, recipient, content)
      try {
        return { n, message: messageOf(recipient, content, links) }
      } catch (error) {
        return { n, refusal: refusal(error) }
      }
    })
}

export function emailComposer(job: JobCtx, campaignId: string, contents: CampaignContents): Composer<OutboundEmail> {
  const shared = new Map([...contents.values()].map((content) => [content, sharedHeaders(campaignId, content)]))
  return composer(job, campaignId, contents, (recipient, content, links) => {
    const { n, address, person } = recipient
    const { context } = content
    const made = personalise(content.template, contextOf(recipient, content, links))
    const headers = {
      ...(hasUnsubscribe(content) && {
        'List-Unsubscribe': `<${links.unsubscribe}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
      ...shared.get(content),
    }
    const to = { name: displayName(formatFullName(person)), address }
    const reference = referenceOf(campaignId, n)
    return { from: context.from, to, replyTo: context.reply_to, ...made, headers, reference }
  })
}

export const smsComposer = (job: JobCtx, campaignId: string, contents: CampaignContents): Composer<OutboundSms> =>
  composer(job, campaignId, contents, (recipient, content, links) => {
    const { n, address } = recipient
    const { text } = personalise(content.template, contextOf(recipient, content, links), maxRenderedSmsLength)
    const reference = referenceOf(campaignId, n)
    return { from: content.context.sms_sender, to: address, body: text.trim(), reference }
  })
