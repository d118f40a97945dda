import { and, desc, eq, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import { parseViolatedIndex } from '../../../db/failures.ts'
import { campaignContents, campaignLinks } from '../../../db/schema/messaging/campaigns.ts'
import { segments } from '../../../db/schema/messaging/segments.ts'
import { decodeAs, fromFlag, type RowOf, select, buildSelectList } from '../../../db/select.ts'
import { insertAll, remove } from '../../../db/write.ts'
import { isBlank, missingFor } from '../../../domain/campaigns/readiness.ts'
import type { ContentContext } from '../../../domain/campaigns/snapshots.ts'
import type { Compiled, Template } from '../../../domain/email/compile.ts'
import { personalise } from '../../../domain/email/personalise.ts'
import { trackable } from '../../../domain/email/trackable.ts'
import { sampleContext } from '../../../domain/email/liquid/variables.ts'
import type { Language } from '../../../domain/languages.ts'
import { type Mailbox, senderOf } from '../../../domain/messaging/mailbox.ts'
import { maxPersonNameLength } from '../../../domain/accounts/users.ts'
import { senderNameOf, trackableSms } from '../../../domain/messaging/sms.ts'
import { templateOf } from '../../email-messages/index.ts'
import { isVerifiedSender } from '../../sender-domains/index.ts'
import { type CampaignRow, readinessOf } from './campaign-row.ts'

/** The text of a campaign in one language, as of its start. */
export interface CampaignContent {
  template: Template
  /** For each link of the template, its position among the campaign's links. */
  positions: readonly number[]
  context: ContentContext
  /** When the content was kept. Links carry this time, so that a repeated call is the same. */
  created_at: number
}

const platformSender = 'Tickets'

const smsSenderOf = (row: CampaignRow): string =>
  row.edition_sms_sender_name === 'Platform' ? platformSender : (senderNameOf(row.organization_name) ?? platformSender)

/** Kept with the content, so that a repeated call has the same sender even when the domain has changed. */
async function emailSenderOf(job: JobCtx, row: CampaignRow) {
  const address = row.edition_email_sender_address
  const fields = { is_verified: fromFlag(isVerifiedSender(sql`${row.organization_id}`, sql`${address}`)) }
  const found = await job.db.first(decodeAs(fields, sql<RowOf<typeof fields>>`select ${buildSelectList(fields)}`))
  return senderOf(
    {
      names: [row.edition_email_sender_name, row.organization_name],
      address,
      reply_to: row.edition_email_reply_to,
      is_verified: found?.is_verified === true,
    },
    job.config.emailFrom,
  )
}

/** Whether the sender of the newest content is still verified. Content keeps its sender. */
export async function hasSender(
  job: Pick<JobCtx, 'db' | 'config'>,
  row: Pick<CampaignRow, 'id' | 'channel' | 'organization_id'>,
): Promise<boolean> {
  if (row.channel !== 'email') return true
  const address = sql`json_extract(${campaignContents.surroundings}, '$.from.address')`
  const isGood = sql`${address} = ${job.config.emailFrom.address}
    or ${isVerifiedSender(sql`${row.organization_id}`, address)}`
  const found = await job.db.first(
    select({ is_good: fromFlag(isGood) })
      .from(campaignContents)
      .where(eq(campaignContents.campaign_id, row.id))
      .orderBy(desc(campaignContents.content))
      .limit(1),
  )
  return found?.is_good !== false
}

/** By the recipient's language. An SMS has one text, so it is never in two languages. */
async function templatesOf(job: JobCtx, row: CampaignRow, isMarketing: boolean): Promise<Map<Language, Compiled>> {
  const languages = new Set([row.edition_default_language, ...row.edition_enabled_languages])
  const found = new Map<Language, Compiled>()
  const bodies = row.sms_body
  for (const language of languages) {
    if (row.channel === 'sms') {
      const written = isBlank(bodies[language]) ? row.edition_default_language : language
      const template = trackableSms(bodies[written] ?? '', written, isMarketing)
      found.set(language, { ...template, language: written })
      continue
    }
    const template = await templateOf(job, row.email_message_id ?? '', language, row.edition_id)
    if (template) found.set(language, { ...trackable(template), language: template.language })
  }
  return found
}

interface MessageSender {
  from: Mailbox
  replyTo: string | null
}

const contextOf = (
  { config }: Pick<JobCtx, 'config'>,
  row: CampaignRow,
  segment: ContentContext['segment'],
  sender: MessageSender,
): ContentContext => ({
  public_url: config.publicUrl,
  organization_id: row.organization_id,
  edition_id: row.edition_id,
  segment,
  channel: row.channel,
  campaign_name: row.name,
  edition: {
    name: row.edition_name,
    start_at: row.edition_start_at,
    end_at: row.edition_end_at,
    timezone: row.edition_timezone,
  },
  organization_name: row.organization_name,
  from: sender.from,
  reply_to: sender.replyTo,
  sms_sender: smsSenderOf(row),
  has_unsubscribe: segment.communication_type !== 'transactional',
})

/** The campaign's links with their positions. Links of an earlier run keep theirs; `added` are the new ones. */
async function linkPositions(job: JobCtx, row: CampaignRow, templates: ReadonlyMap<Language, Compiled>) {
  const known = await job.db.all(
    select({ position: campaignLinks.position, url: campaignLinks.url })
      .from(campaignLinks)
      .where(eq(campaignLinks.campaign_id, row.id)),
  )
  const positions = new Map(known.map(({ position, url }) => [url, position]))
  for (const { links } of templates.values())
    for (const url of links) if (!positions.has(url)) positions.set(url, positions.size)
  const added = [...positions]
    .filter(([, position]) => position >= known.length)
    .map(([url, position]) => ({ campaign_id: row.id, position, url }))
  return { positions, added }
}

const isContent = (campaignId: string, content: number) =>
  and(eq(campaignContents.campaign_id, campaignId), eq(campaignContents.content, content))

/** Keeps the campaign's present content. Answers an error when the campaign cannot be sent. */
export async function keepContent(job: JobCtx, row: CampaignRow, content: number): Promise<{ error: string | null }> {
  const missing = missingFor(readinessOf(job, row))
  if (missing.length) return { error: missing.map(({ detail }) => detail).join(' ') }
  const found = await job.db.first(
    select({ edition_id: segments.edition_id, communication_type: segments.communication_type })
      .from(segments)
      .where(eq(segments.seq, row.segment_seq)),
  )
  const segment = found ?? { edition_id: null, communication_type: 'marketing' as const }
  const templates = await templatesOf(job, row, segment.communication_type !== 'transactional')
  if (templates.size === 0) return { error: 'The message is not there any more.' }
  const context = contextOf(job, row, segment, await emailSenderOf(job, row))
  const { positions, added } = await linkPositions(job, row, templates)
  const contents = [...templates].map(([language, template]) => ({
    campaign_id: row.id,
    content,
    language,
    subject: template.subject,
    html: template.html,
    text: template.text,
    links: template.links.flatMap((url) => positions.get(url) ?? []),
    surroundings: { ...context, language: template.language },
    created_at: job.now(),
  }))
  // After a crash it replaces the earlier snapshot, which was not sent to anybody yet.
  const statements: Statement[] = [
    remove(campaignContents, isContent(row.id, content)),
    ...insertAll(campaignLinks, added),
    ...insertAll(campaignContents, contents),
  ]
  try {
    await job.db.batch(statements)
  } catch (error) {
    // Another attempt has kept the same content meanwhile.
    if (parseViolatedIndex(error) === null) throw error
  }
  return { error: null }
}

type CampaignContentRow = typeof campaignContents.$inferSelect

export const contentStatement = (campaignId: string, content: number) =>
  select(getTableColumns(campaignContents)).from(campaignContents).where(isContent(campaignId, content))

export type CampaignContents = ReadonlyMap<string, CampaignContent>

/** About the length of a tracked link. */
const linkLength = 120

export const contentsOf = (rows: readonly CampaignContentRow[]): CampaignContents =>
  new Map(
    rows.map((row) => [
      row.language,
      {
        template: { subject: row.subject, html: row.html, text: row.text, links: [] },
        positions: row.links,
        context: row.surroundings,
        created_at: row.created_at,
      },
    ]),
  )

const weights = new WeakMap<CampaignContents, number>()

/** The longest names, so that no call needs more memory than a Worker has. */
const longName = 'x'.repeat(maxPersonNameLength)
const longNames = { first_name: longName, last_name: longName, full_name: `${longName} ${longName}` }

/** Characters of the campaign's longest message, with long values in it. */
export function weightOf(contents: CampaignContents): number {
  const known = weights.get(contents)
  if (known !== undefined) return known
  const weight = Math.max(0, ...[...contents.values()].map(lengthOf))
  weights.set(contents, weight)
  return weight
}

function lengthOf({ template, positions }: CampaignContent): number {
  const tracking = { links: positions.map(() => 'x'.repeat(linkLength)), pixel: 'x'.repeat(linkLength) }
  try {
    const sample = sampleContext()
    const customer = { ...sample.customer, ...longNames }
    const { html, text } = personalise(template, { ...sample, customer, tracking })
    return html.length + text.length
  } catch {
    // A template that cannot be rendered is sent to nobody.
    return template.html.length + template.text.length
  }
}

/** Contents never change once messages of them are sent, so the Worker caches a few. */
const kept = new Map<string, CampaignContents>()
const maxKept = 8

export const keptContents = (campaignId: string, content: number): CampaignContents | undefined =>
  kept.get(`${campaignId} ${content}`)

export function keepContents(campaignId: string, content: number, contents: CampaignContents): void {
  kept.set(`${campaignId} ${content}`, contents)
  for (const oldest of kept.keys()) {
    if (kept.size <= maxKept) return
    kept.delete(oldest)
  }
}
