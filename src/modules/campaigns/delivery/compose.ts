import type { JobCtx } from '../../../context.ts'
import { type Contact, formatFullName } from '../../../domain/accounts/users.ts'
import { hasPosition } from '../../../domain/campaigns/conditions.ts'
import { type LinkKind, createLinkMinter, type MintLink } from '../../../domain/campaigns/link-tokens.ts'
import { formatReference } from '../../../domain/campaigns/recipient-events.ts'
import type { ChunkRecipient } from '../../../domain/campaigns/sending-policy.ts'
import type { ContentContext } from '../../../domain/campaigns/snapshots.ts'
import { mintPreferencesToken, buildPreferencesUrl } from '../../../domain/consents/consent-tokens.ts'
import type { Template } from '../../../domain/email/compile.ts'
import { describeRenderError, maxRenderedSmsLength } from '../../../domain/email/liquid/liquid.ts'
import { type LocalDate, toLocalDate } from '../../../domain/email/liquid/local-date.ts'
import { buildCustomerValues, type TemplateContext } from '../../../domain/email/liquid/variables.ts'
import { personalise } from '../../../domain/email/personalise.ts'
import type { Language } from '../../../domain/languages.ts'
import { buildUnsubscribeHeaders, toDisplayName } from '../../../domain/messaging/mailbox.ts'
import type { SendResult } from '../../../domain/messaging/messaging.ts'
import type { OutboundEmail } from '../../../gateways/email/email.ts'
import type { OutboundSms } from '../../../gateways/sms/sms.ts'
import type { CampaignContent, CampaignContents } from './content-snapshot.ts'

/** A message, or the reason why it could not be rendered for this recipient. */
export type ComposedMessage<Message> = { n: number; message: Message } | { n: number; refusal: SendResult }

export type MessageLink = Exclude<LinkKind, 'resubscribe'>

const linkPaths: Record<MessageLink, string> = { click: 'c', open: 'o', unsubscribe: 'u' }

export const buildTrackingUrl = (publicUrl: string, kind: MessageLink, token: string): string =>
  `${publicUrl}/t/${linkPaths[kind]}/${token}`

interface MessageLinks {
  clicks: string[]
  pixel: string
  unsubscribe: string
  preferences: string
}

const preferencesMentions = new WeakMap<Template, boolean>()

/**
 * Signing a token takes time, and few messages link to the preferences. Templates are long, so the result is cached.
 */
function mentionsPreferences(template: Template): boolean {
  const cachedMention = preferencesMentions.get(template)
  if (cachedMention !== undefined) return cachedMention
  const isMentioned = [template.subject, template.html, template.text].some((part) => part.includes('preferences'))
  preferencesMentions.set(template, isMentioned)
  return isMentioned
}

function buildPreferencesLink({ config }: JobCtx, recipient: ChunkRecipient, content: CampaignContent): string {
  if (!mentionsPreferences(content.template)) return ''
  const { organization_id, channel, public_url } = content.context
  const token = mintPreferencesToken(config.linkSigningKey, {
    user_id: recipient.person.id,
    organization_id,
    channel,
    address: recipient.address,
    made_at: content.created_at,
  })
  return buildPreferencesUrl(public_url, token)
}

function buildLinks(job: JobCtx, mint: MintLink, recipient: ChunkRecipient, content: CampaignContent): MessageLinks {
  const { n } = recipient
  const buildUrl = (kind: MessageLink, link = 0) =>
    buildTrackingUrl(content.context.public_url, kind, mint({ kind, n, link }))
  return {
    preferences: buildPreferencesLink(job, recipient, content),
    unsubscribe: content.context.has_unsubscribe ? buildUrl('unsubscribe') : '',
    pixel: content.context.channel === 'email' ? buildUrl('open') : '',
    clicks: content.positions.map((position) => buildUrl('click', position)),
  }
}

/** Days are cached, because formatting one takes longer than composing a message. */
const days = new Map<string, LocalDate | ''>()
function getDay(at: number | null, timeZone: string, language: Language): LocalDate | '' {
  const key = `${at} ${timeZone} ${language}`
  const cachedDay = days.get(key)
  if (cachedDay !== undefined) return cachedDay
  const day = toLocalDate(at, language, timeZone, 'day')
  if (days.size > 1000) days.clear()
  days.set(key, day)
  return day
}

/** The values of a campaign's message for one person. */
export function buildTemplateContext(person: Contact, context: ContentContext, links: MessageLinks): TemplateContext {
  const { edition, organization_name, campaign_name, language } = context
  return {
    customer: buildCustomerValues(person, language),
    edition: {
      name: edition.name,
      start_date: getDay(edition.start_at, edition.timezone, language),
      end_date: getDay(edition.end_at, edition.timezone, language),
      timezone: edition.timezone,
    },
    organization: { name: organization_name },
    campaign: { name: campaign_name },
    links: { unsubscribe: links.unsubscribe, preferences: links.preferences, portal: '' },
    tracking: { links: links.clicks, pixel: links.pixel },
  }
}

const toRefusal = (error: unknown): SendResult => ({
  ok: false,
  kind: 'permanent',
  code: 'not_renderable',
  detail: describeRenderError(error) ?? (error instanceof Error ? error.message : 'The message could not be rendered.'),
  retryAfterMs: null,
})

const chooseContent = (contents: CampaignContents, language: string): CampaignContent => {
  const content = contents.get(language) ?? contents.values().next().value
  if (!content) throw new Error('the campaign has no contents')
  return content
}

const getHost = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : 'localhost')

export const buildListHeader = ({ edition_id, public_url }: ContentContext): Record<string, string> => ({
  'List-Id': `<${edition_id.replace('_', '-').toLowerCase()}.${getHost(public_url)}>`,
})

/** Builds the headers that are the same for all recipients. */
const buildSharedHeaders = (campaignId: string, { context }: CampaignContent): Record<string, string> => ({
  ...buildListHeader(context),
  'Feedback-ID': `${campaignId}:${context.organization_id}:campaign:${context.edition_id}`,
})

/** Composes messages in the order of the recipients. The same recipients always get the same messages. */
type Composer<Message> = (recipients: readonly ChunkRecipient[]) => ComposedMessage<Message>[]

function createComposer<Message>(
  job: JobCtx,
  campaignId: string,
  contents: CampaignContents,
  composeMessage: (recipient: ChunkRecipient, content: CampaignContent, links: MessageLinks) => Message,
): Composer<Message> {
  const mint = createLinkMinter(job.config.linkSigningKey, campaignId)
  return (recipients) =>
    recipients.map((recipient) => {
      const { n, language } = recipient
      const content = chooseContent(contents, language)
      const links = buildLinks(job, mint, recipient, content)
      try {
        return { n, message: composeMessage(recipient, content, links) }
      } catch (error) {
        return { n, refusal: toRefusal(error) }
      }
    })
}

export function createEmailComposer(
  job: JobCtx,
  campaignId: string,
  contents: CampaignContents,
): Composer<OutboundEmail> {
  const sharedHeaders = new Map(
    [...contents.values()].map((content) => [content, buildSharedHeaders(campaignId, content)]),
  )
  return createComposer(job, campaignId, contents, (recipient, content, links) => {
    const { n, address, person } = recipient
    const { context, conditions } = content
    const block_conditions = conditions.map((position) => hasPosition(recipient.conditions, position))
    const texts = personalise(content.template, {
      ...buildTemplateContext(person, context, links),
      block_conditions,
    })
    const headers = {
      ...(context.has_unsubscribe && buildUnsubscribeHeaders(links.unsubscribe)),
      ...sharedHeaders.get(content),
    }
    const to = { name: toDisplayName(formatFullName(person)), address }
    const reference = formatReference(campaignId, n)
    return { from: context.from, to, replyTo: context.reply_to, ...texts, headers, reference }
  })
}

export const createSmsComposer = (job: JobCtx, campaignId: string, contents: CampaignContents): Composer<OutboundSms> =>
  createComposer(job, campaignId, contents, (recipient, content, links) => {
    const { n, address } = recipient
    const { text } = personalise(
      content.template,
      buildTemplateContext(recipient.person, content.context, links),
      maxRenderedSmsLength,
    )
    const reference = formatReference(campaignId, n)
    return { from: content.context.sms_sender, to: address, body: text.trim(), reference }
  })
