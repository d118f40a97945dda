import type { JobCtx } from '../../../context.ts'
import { referenceOf } from '../../../domain/campaigns/recipient-events.ts'
import type { ChunkRecipient, ChunkClaim } from '../../../domain/campaigns/sending-policy.ts'
import { type LinkKind, mintLinkToken } from '../../../domain/campaigns/link-tokens.ts'
import { mintPreferencesToken, preferencesAddress } from '../../../domain/consents/consent-tokens.ts'
import { maxRenderedSmsLength } from '../../../domain/email/budget.ts'
import type { Template } from '../../../domain/email/compile.ts'
import { dateText } from '../../../domain/email/messages/dates.ts'
import { renderFault } from '../../../domain/email/liquid/liquid.ts'
import { personalise } from '../../../domain/email/personalise.ts'
import type { TemplateContext } from '../../../domain/email/liquid/variables.ts'
import type { Language } from '../../../domain/languages.ts'
import { displayName } from '../../../domain/messaging/mailbox.ts'
import type { SendResult } from '../../../domain/messaging/messaging.ts'
import { fullName } from '../../../domain/accounts/users.ts'
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

/** Making a token takes time, and most messages have no such link. */
const namesPreferences = ({ subject, html, text }: Template): boolean =>
  [subject, html, text].some((part) => part.includes('preferences'))

async function preferencesOf({ config }: JobCtx, recipient: ChunkRecipient, content: CampaignContent): Promise<string> {
  if (!namesPreferences(content.template)) return ''
  const { organization_id, channel, public_url } = content.context
  const token = await mintPreferencesToken(config.linkSigningKey, {
    user_id: recipient.person.id,
    organization_id,
    channel,
    address: recipient.address,
    made_at: content.created_at,
  })
  return preferencesAddress(public_url, token)
}

async function linksOf(
  job: JobCtx,
  claim: ChunkClaim,
  recipient: ChunkRecipient,
  content: CampaignContent,
): Promise<Links> {
  const { config } = job
  const { n } = recipient
  const address = async (kind: MessageLink, link = 0) => {
    const token = await mintLinkToken(config.linkSigningKey, { kind, campaign_id: claim.campaign_id, n, link })
    return `${content.context.public_url}/t/${pathOf[kind]}/${token}`
  }
  const isEmail = content.context.channel === 'email'
  const [preferences, unsubscribe, pixel, ...clicks] = await Promise.all([
    preferencesOf(job, recipient, content),
    hasUnsubscribe(content) ? address('unsubscribe') : '',
    isEmail ? address('open') : '',
    ...content.positions.map((position) => address('click', position)),
  ])
  return { preferences, unsubscribe, pixel, clicks }
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
      full_name: fullName(person) || (person.email ?? ''),
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
  detail: renderFault(error) ?? (error instanceof Error ? error.message : 'The message could not be made.'),
  retryAfterMs: null,
})

const contentFor = (contents: CampaignContents, language: string): CampaignContent => {
  const content = contents.get(language) ?? contents.values().next().value
  if (!content) throw new Error('the contents of the campaign are not there')
  return content
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : 'localhost')

/** The messages of a chunk, in the order of its recipients. The same chunk always gives the same messages. */
export const composeEmails = (
  job: JobCtx,
  claim: ChunkClaim,
  contents: CampaignContents,
): Promise<ComposedMessage<OutboundEmail>[]> =>
  Promise.all(
    claim.recipients.map(async (recipient): Promise<ComposedMessage<OutboundEmail>> => {
      const { n, address, person, language } = recipient
      const content = contentFor(contents, language)
      const { context } = content
      const links = await linksOf(job, claim, recipient, content)
      try {
        const { subject, html, text } = personalise(content.template, contextOf(recipient, content, links))
        const headers = {
          ...(hasUnsubscribe(content) && {
            'List-Unsubscribe': `<${links.unsubscribe}>`,
            'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          }),
          'List-Id': `<${context.edition_id.replace('_', '-').toLowerCase()}.${hostOf(context.public_url)}>`,
          'Feedback-ID': `${claim.campaign_id}:${context.organization_id}:campaign:${context.edition_id}`,
        }
        const to = { name: displayName(fullName(person)), address }
        const reference = referenceOf(claim.campaign_id, n)
        return {
          n,
          message: {
            from: context.from,
            to,
            replyTo: context.reply_to,
            subject,
            html,
            text,
            headers,
            reference,
          },
        }
      } catch (error) {
        return { n, refusal: refusal(error) }
      }
    }),
  )

export const composeSms = (
  job: JobCtx,
  claim: ChunkClaim,
  contents: CampaignContents,
): Promise<ComposedMessage<OutboundSms>[]> =>
  Promise.all(
    claim.recipients.map(async (recipient): Promise<ComposedMessage<OutboundSms>> => {
      const { n, address, language } = recipient
      const content = contentFor(contents, language)
      const links = await linksOf(job, claim, recipient, content)
      try {
        const { text } = personalise(content.template, contextOf(recipient, content, links), maxRenderedSmsLength)
        const reference = referenceOf(claim.campaign_id, n)
        return { n, message: { from: content.context.sms_sender, to: address, body: text.trim(), reference } }
      } catch (error) {
        return { n, refusal: refusal(error) }
      }
    }),
  )
