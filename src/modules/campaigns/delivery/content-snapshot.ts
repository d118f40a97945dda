import { and, desc, eq, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { isStartApproved, recordApprovedRun } from '../../../db/campaign-approvals.ts'
import { abortUnless, commitPart } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { parseViolatedIndex } from '../../../db/failures.ts'
import { campaignConditions, campaignContents, campaignLinks } from '../../../db/schema/campaigns.ts'
import { segments } from '../../../db/schema/segments.ts'
import { decodeAs, fromFlag, type RowOf, select, selectValues, buildSelectList } from '../../../db/select.ts'
import { insertAll } from '../../../db/write.ts'
import { maxPersonNameLength } from '../../../domain/accounts/users.ts'
import { describeMissingApproval, formatApprovalFault, isApprovalMissing } from '../../../domain/campaigns/approval.ts'
import { maxStoredConditions } from '../../../domain/campaigns/conditions.ts'
import { chooseSmsLanguage } from '../../../domain/campaigns/content-faults.ts'
import { describeFaults } from '../../../domain/campaigns/readiness.ts'
import type { ContentContext } from '../../../domain/campaigns/snapshots.ts'
import { type Compiled, decideUnsubscribe, type Template } from '../../../domain/email/compile.ts'
import { buildSampleContext } from '../../../domain/email/liquid/variables.ts'
import { personalise } from '../../../domain/email/personalise.ts'
import { trackable } from '../../../domain/email/trackable.ts'
import { AppError, fieldError } from '../../../domain/errors.ts'
import type { Language } from '../../../domain/languages.ts'
import { type Mailbox, chooseSender } from '../../../domain/messaging/mailbox.ts'
import { toSmsSender, buildTrackableSms } from '../../../domain/messaging/sms.ts'
import { loadTemplate } from '../../email-messages/index.ts'
import { isVerifiedSender } from '../../sender-domains/index.ts'
import { type CampaignRow, findCampaignFaults, loadTexts } from './campaign-row.ts'

/** The texts of a campaign in one language, as of its start. */
export interface CampaignContent {
  template: Template
  /** The position of each link of the template among the campaign's links. */
  positions: readonly number[]
  context: ContentContext
  /** The position of each condition of the template among the campaign's conditions. */
  conditions: readonly number[]
  /** When the content was stored. Links contain this time, so that a repeated call has the same links. */
  created_at: number
}

const platformSender = 'Tickets'

const chooseSmsSender = (row: CampaignRow): string =>
  row.edition_sms_sender_name === 'Platform' ? platformSender : (toSmsSender(row.organization_name) ?? platformSender)

/** The sender is stored with the content, so that a repeated call has the same one even after the edition changed. */
export async function loadEmailSender(job: Pick<JobCtx, 'db' | 'config'>, row: CampaignRow) {
  const address = row.edition_email_sender_address
  const fields = { is_verified: fromFlag(isVerifiedSender(sql`${row.organization_id}`, sql`${address}`)) }
  const domain = await job.db.first(decodeAs(fields, sql<RowOf<typeof fields>>`select ${buildSelectList(fields)}`))
  return chooseSender(
    {
      names: [row.edition_email_sender_name, row.organization_name],
      address,
      reply_to: row.edition_email_reply_to,
      is_verified: domain?.is_verified === true,
    },
    job.config.emailFrom,
  )
}

/** True if the sender of the newest content may still be used. Content keeps its sender. */
export async function isSenderVerified(
  job: Pick<JobCtx, 'db' | 'config'>,
  row: Pick<CampaignRow, 'id' | 'channel' | 'organization_id'>,
): Promise<boolean> {
  if (row.channel !== 'email') return true
  const address = sql`json_extract(${campaignContents.context}, '$.from.address')`
  const isUsable = sql`${address} = ${job.config.emailFrom.address}
    or ${isVerifiedSender(sql`${row.organization_id}`, address)}`
  const newestContent = await job.db.first(
    select({ is_usable: fromFlag(isUsable) })
      .from(campaignContents)
      .where(eq(campaignContents.campaign_id, row.id))
      .orderBy(desc(campaignContents.run))
      .limit(1),
  )
  return newestContent?.is_usable !== false
}

/** Lists the languages in which a campaign is sent. */
export const listContentLanguages = (
  row: Pick<CampaignRow, 'edition_default_language' | 'edition_enabled_languages'>,
): Set<Language> => new Set([row.edition_default_language, ...row.edition_enabled_languages])

/** Loads the template for each language. An SMS without a text in a language gets the default language. */
async function loadTemplates(job: JobCtx, row: CampaignRow, isMarketing: boolean): Promise<Map<Language, Compiled>> {
  const templates = new Map<Language, Compiled>()
  const bodies = row.sms_body
  for (const language of listContentLanguages(row)) {
    if (row.channel === 'sms') {
      const textLanguage = chooseSmsLanguage(bodies, language, row.edition_default_language)
      const template = buildTrackableSms(bodies[textLanguage] ?? '', textLanguage, isMarketing)
      templates.set(language, { ...template, language: textLanguage, conditions: [] })
      continue
    }
    const template = await loadTemplate(job, row.email_message_id ?? '', language, row.edition_id)
    if (template) templates.set(language, decideUnsubscribe({ ...template, ...trackable(template) }, isMarketing))
  }
  return templates
}

interface MessageSender {
  from: Mailbox
  replyTo: string | null
}

export const buildContentContext = (
  { config }: Pick<JobCtx, 'config'>,
  row: CampaignRow,
  segment: ContentContext['segment'],
  sender: MessageSender,
): Omit<ContentContext, 'language'> => ({
  public_url: config.publicUrl,
  organization_id: row.organization_id,
  edition_id: row.edition_id,
  message_edition_id: row.channel === 'email' ? row.message_edition_id : null,
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
  sms_sender: chooseSmsSender(row),
  has_unsubscribe: segment.communication_type !== 'transactional',
  default_language: row.edition_default_language,
})

/** Assigns positions to the campaign's links. Links of an earlier run keep theirs; `newLinks` lists the new ones. */
async function assignLinkPositions(job: JobCtx, row: CampaignRow, templates: ReadonlyMap<Language, Compiled>) {
  const storedLinks = await job.db.all(
    select({ position: campaignLinks.position, url: campaignLinks.url })
      .from(campaignLinks)
      .where(eq(campaignLinks.campaign_id, row.id)),
  )
  const positions = new Map(storedLinks.map(({ position, url }) => [url, position]))
  for (const { links } of templates.values())
    for (const url of links) if (!positions.has(url)) positions.set(url, positions.size)
  const newLinks = [...positions]
    .filter(([, position]) => position >= storedLinks.length)
    .map(([url, position]) => ({ campaign_id: row.id, position, url }))
  return { positions, newLinks }
}

const tooManyConditions = `The messages of this campaign had more than ${maxStoredConditions} different conditions since it was first started. Create a new campaign.`

/**
 * Assigns positions to the conditions of blocks, like those of links. A recipient of an earlier run keeps a number with
 * the positions of that run.
 */
async function assignConditionPositions(job: JobCtx, row: CampaignRow, templates: ReadonlyMap<Language, Compiled>) {
  const conditions = [...templates.values()].flatMap((template) => template.conditions)
  if (conditions.length === 0) return { positions: new Map<string, number>(), newConditions: [] }
  const storedConditions = await job.db.all(
    select({ position: campaignConditions.position, expression: campaignConditions.expression })
      .from(campaignConditions)
      .where(eq(campaignConditions.campaign_id, row.id)),
  )
  const positions = new Map(storedConditions.map(({ position, expression }) => [expression, position]))
  // A merge of products can have made stored expressions equal, so there may be more positions than expressions.
  let count = storedConditions.length
  for (const expression of conditions) if (!positions.has(expression)) positions.set(expression, count++)
  if (count > maxStoredConditions)
    throw new AppError('campaign_not_ready', 'The campaign cannot be sent yet.', {
      errors: [fieldError(['email_message_id'], 'max_items', tooManyConditions)],
    })
  const newConditions = [...positions]
    .filter(([, position]) => position >= storedConditions.length)
    .map(([expression, position]) => ({ campaign_id: row.id, position, expression }))
  return { positions, newConditions }
}

const isContentOfRun = (campaignId: string, run: number) =>
  and(eq(campaignContents.campaign_id, campaignId), eq(campaignContents.run, run))

/** Builds the statements that store the campaign's content for a run. Null: the message was deleted. */
export async function buildContentSnapshot(job: JobCtx, row: CampaignRow, run: number): Promise<Statement[] | null> {
  const storedSegment = await job.db.first(
    select({ edition_id: segments.edition_id, communication_type: segments.communication_type })
      .from(segments)
      .where(eq(segments.seq, row.segment_seq)),
  )
  const segment = storedSegment ?? { edition_id: null, communication_type: 'marketing' as const }
  const templates = await loadTemplates(job, row, segment.communication_type !== 'transactional')
  if (templates.size === 0) return null
  const context = buildContentContext(job, row, segment, await loadEmailSender(job, row))
  const { positions, newLinks } = await assignLinkPositions(job, row, templates)
  const { positions: conditionPositions, newConditions } = await assignConditionPositions(job, row, templates)
  const contents = [...templates].map(([language, template]) => ({
    campaign_id: row.id,
    run,
    language,
    subject: template.subject,
    html: template.html,
    text: template.text,
    links: template.links.flatMap((url) => positions.get(url) ?? []),
    conditions: template.conditions.flatMap((expression) => conditionPositions.get(expression) ?? []),
    context: { ...context, language: template.language },
    created_at: job.now(),
  }))
  return [
    ...insertAll(campaignLinks, newLinks),
    ...insertAll(campaignConditions, newConditions),
    ...insertAll(campaignContents, contents),
  ]
}

/**
 * Builds statements that abort the start of a run unless the content was built from what stands there when it commits, and
 * that is approved.
 */
export const guardContent = (row: CampaignRow, run: number): Statement[] => [
  abortUnless(sql`${isStartApproved(row.id)}
    and exists (select 1 from editions where id = ${row.edition_id} and version = ${row.edition_version})
    and exists (select 1 from organizations where id = ${row.organization_id} and version = ${row.organization_version})
    and (${row.message_id} is null
      or exists (select 1 from email_messages where id = ${row.message_id} and version = ${row.message_version}))`),
  recordApprovedRun(row.id, run),
]

async function hasContent(job: JobCtx, campaignId: string, run: number): Promise<boolean> {
  const isStored = sql`exists (select 1 from ${campaignContents} where ${isContentOfRun(campaignId, run)})`
  return (await job.db.first(selectValues({ is_stored: fromFlag(isStored) })))?.is_stored === true
}

/** The parts of the content of a run that concern its recipients. */
export interface ContentOutline {
  languages: ReadonlySet<Language>
  /** The language of recipients whose own language has no text. */
  fallback: Language
  message_edition_id: string | null
  /** Positions of the conditions of blocks. */
  conditions: readonly number[]
  created_at: number
}

export async function loadContentOutline(
  job: JobCtx,
  row: Pick<CampaignRow, 'id' | 'run' | 'edition_default_language'>,
): Promise<ContentOutline> {
  const { language, context, conditions, created_at } = campaignContents
  const fallback = sql<Language | null>`${context} ->> '$.default_language'`
  const message_edition_id = sql<string | null>`${context} ->> '$.message_edition_id'`
  const rows = await job.db.all(
    select({ language, fallback, message_edition_id, conditions, created_at })
      .from(campaignContents)
      .where(isContentOfRun(row.id, row.run)),
  )
  const [first] = rows
  return {
    languages: new Set(rows.map((content) => content.language)),
    fallback: first?.fallback ?? row.edition_default_language,
    message_edition_id: first?.message_edition_id ?? null,
    conditions: [...new Set(rows.flatMap((content) => content.conditions))],
    created_at: first?.created_at ?? job.now(),
  }
}

/**
 * Stores the campaign's content for a run, unless the request that started the run or an earlier attempt has stored it.
 * Returns an error when the campaign cannot be sent, and throws LostRace when what it sends changes meanwhile.
 */
export async function storeContentSnapshot(
  job: JobCtx,
  row: CampaignRow,
  run: number,
): Promise<{ error: string | null }> {
  if (await hasContent(job, row.id, run)) return { error: null }
  if (isApprovalMissing(row)) return { error: formatApprovalFault(describeMissingApproval(row.approval)) }
  const { faults } = findCampaignFaults(job, row, await loadTexts(job, row), row.accepted_translations)
  if (faults.length) return { error: describeFaults(faults) }
  try {
    const statements = await buildContentSnapshot(job, row, run)
    if (!statements) return { error: 'The message was deleted.' }
    await commitPart(job, [...guardContent(row, run), ...statements])
  } catch (error) {
    if (error instanceof AppError && error.code === 'campaign_not_ready') return { error: describeFaults(error.errors) }
    // Another attempt stored the same content meanwhile.
    if (parseViolatedIndex(error) === null) throw error
  }
  return { error: null }
}

type CampaignContentRow = typeof campaignContents.$inferSelect

export const selectContents = (campaignId: string, run: number) =>
  select(getTableColumns(campaignContents)).from(campaignContents).where(isContentOfRun(campaignId, run))

export type CampaignContents = ReadonlyMap<string, CampaignContent>

/** The approximate length of a tracked link. */
const linkLength = 120

export const readContents = (rows: readonly CampaignContentRow[]): CampaignContents =>
  new Map(
    rows.map((row) => [
      row.language,
      {
        template: { subject: row.subject, html: row.html, text: row.text, links: [] },
        positions: row.links,
        conditions: row.conditions,
        context: row.context,
        created_at: row.created_at,
      },
    ]),
  )

const measuredLengths = new WeakMap<CampaignContents, number>()

/** Messages are measured with the longest names, so that no call needs more memory than a Worker has. */
const longName = 'x'.repeat(maxPersonNameLength)
const longNames = { first_name: longName, last_name: longName, full_name: `${longName} ${longName}` }

/** Measures the longest message of the campaign, in characters. */
export function measureContents(contents: CampaignContents): number {
  const measuredLength = measuredLengths.get(contents)
  if (measuredLength !== undefined) return measuredLength
  const length = Math.max(0, ...[...contents.values()].map(measureContent))
  measuredLengths.set(contents, length)
  return length
}

function measureContent({ template, positions, conditions }: CampaignContent): number {
  const tracking = { links: positions.map(() => 'x'.repeat(linkLength)), pixel: 'x'.repeat(linkLength) }
  try {
    const sample = buildSampleContext()
    const customer = { ...sample.customer, ...longNames }
    const block_conditions = conditions.map(() => true)
    const { html, text } = personalise(template, { ...sample, customer, tracking, block_conditions })
    return html.length + text.length
  } catch {
    // A template that cannot be rendered is sent to nobody.
    return template.html.length + template.text.length
  }
}

/** Stored contents never change once a message was sent, so the Worker caches a few. */
const cachedContents = new Map<string, CampaignContents>()
const maxCachedContents = 8

export const findCachedContents = (campaignId: string, run: number): CampaignContents | undefined =>
  cachedContents.get(`${campaignId} ${run}`)

export function cacheContents(campaignId: string, run: number, contents: CampaignContents): void {
  cachedContents.set(`${campaignId} ${run}`, contents)
  for (const oldestKey of cachedContents.keys()) {
    if (cachedContents.size <= maxCachedContents) return
    cachedContents.delete(oldestKey)
  }
}
