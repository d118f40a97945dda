import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { abortUnless } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { inList } from '../../../db/visibility.ts'
import { pickOrganizationRoles, getReach } from '../../../domain/accounts/access.ts'
import { runningStatuses, statusesBeforeCopy } from '../../../domain/campaigns/lifecycle.ts'
import { type CampaignMessage, findMessageFaults, type MessageFault } from '../../../domain/campaigns/readiness.ts'
import { AppError, type FieldError, fieldError } from '../../../domain/errors.ts'
import { type Language, languages } from '../../../domain/languages.ts'
import { writers } from '../message-contract.ts'
import type { MessageDetailRow, MessageRow } from '../queries.ts'
import { inUse } from './usage.ts'

/**
 * Holds for campaigns that are about to send the message to segments beyond the editions that the caller may write to;
 * null for roles in the whole organisation.
 */
function beyondReach(ctx: Ctx, message: MessageDetailRow): SQL | null {
  const reach = getReach(ctx.caller, writers)
  if (reach.all || reach.organizations.some((id) => id === message.organization_id)) return null
  const editions = reach.editions.flatMap(({ edition_id }) => edition_id ?? [])
  return sql`exists (select 1 from campaigns join segments on segments.id = campaigns.segment_id
    where campaigns.email_message_id = ${message.id}
      and ${inList(sql`campaigns.status`, ['scheduled', ...runningStatuses])}
      and (segments.edition_id is null or not (${inList(sql`segments.edition_id`, editions)})))`
}

/** Refuses to change a message that a campaign is about to send to people whom the caller's roles do not reach. */
export async function checkCampaignsReach(ctx: Ctx, message: MessageDetailRow): Promise<void> {
  const isBeyond = beyondReach(ctx, message)
  if (isBeyond === null || !(await ctx.db.first(sql`select 1 where ${isBeyond}`))) return
  throw new AppError(
    'permission_denied',
    'A campaign is about to send this message to a segment beyond your editions. Only roles of the organisation may change it now.',
    { extra: { required_roles: pickOrganizationRoles(writers) } },
  )
}

/** Statements that abort the change when there is such a campaign by now. */
export function noCampaignBeyond(ctx: Ctx, message: MessageDetailRow): Statement[] {
  const isBeyond = beyondReach(ctx, message)
  return isBeyond === null ? [] : [abortUnless(sql`not ${isBeyond}`)]
}

const asSent = (row: Pick<MessageRow, 'type' | 'subject' | 'blocks'>): CampaignMessage => ({
  type: row.type,
  subject: row.subject,
  blocks: row.blocks.length,
})

/** The faults that a change causes, by the default language of an edition. */
function newFaults(before: MessageDetailRow, after: MessageDetailRow): Map<Language, MessageFault[]> {
  const [old, changed] = [asSent(before), asSent(after)]
  const found = languages.map((language) => {
    const known = new Set(findMessageFaults(old, language).map(({ code }) => code))
    return [language, findMessageFaults(changed, language).filter(({ code }) => !known.has(code))] as const
  })
  return new Map(found.filter(([, faults]) => faults.length > 0))
}

interface Unsendable {
  type: 'campaign'
  id: string
  name: string
  language: Language
}

const campaignsShown = 20

/** Campaigns that have not taken their copy of the message yet, in editions with one of these default languages. */
const aboutToSend = (messageId: string, unsendable: readonly Language[]): SQL<Unsendable> =>
  sql<Unsendable>`select 'campaign' as type, campaigns.id, campaigns.name, editions.default_language as language
    from campaigns join editions on editions.id = campaigns.edition_id
    where campaigns.email_message_id = ${messageId} and ${inList(sql`campaigns.status`, statusesBeforeCopy)}
      and ${inList(sql`editions.default_language`, unsendable)} order by campaigns.id limit ${campaignsShown}`

const fieldOf = (code: MessageFault['code'], language: Language): string[] =>
  ({ wrong_type: ['type'], no_blocks: ['blocks'], missing_subject: ['subject', language] })[code]

/**
 * Refuses a change after which a campaign that is about to send the message could not be sent. Answers statements that
 * abort the change when there is such a campaign by now.
 */
export async function checkSendable(ctx: Ctx, before: MessageDetailRow, after: MessageDetailRow): Promise<Statement[]> {
  const faults = newFaults(before, after)
  if (faults.size === 0) return []
  const campaigns = aboutToSend(before.id, [...faults.keys()])
  const unsendable = await ctx.db.all(campaigns)
  if (unsendable.length === 0) return [abortUnless(sql`not exists (${campaigns})`)]
  const errors = new Map<string, FieldError>()
  for (const { language } of unsendable)
    for (const { code, detail } of faults.get(language) ?? []) {
      const field = fieldOf(code, language)
      errors.set(field.join('.'), fieldError(field, code, detail))
    }
  const related = unsendable.map(({ language: _, ...campaign }) => campaign)
  throw inUse(related, 'A campaign is about to send this message, and could not send it after this change.', [
    ...errors.values(),
  ])
}
