import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { abortUnless } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { inList } from '../../../db/visibility.ts'
import { pickOrganizationRoles, getReach } from '../../../domain/accounts/access.ts'
import { runningStatuses, statusesBeforeCopy } from '../../../domain/campaigns/lifecycle.ts'
import { type CampaignMessage, findMessageObstacles, type MessageFault } from '../../../domain/campaigns/readiness.ts'
import { AppError, type FieldError, fieldError } from '../../../domain/errors.ts'
import { type Language, languages } from '../../../domain/languages.ts'
import { writers } from '../message-contract.ts'
import type { MessageDetailRow, MessageRow } from '../queries.ts'
import { messageInUse } from './usage.ts'

/**
 * True when a campaign is about to send the message to a segment beyond the editions that the caller may write in. Null
 * for roles in the whole organisation, which reach every segment.
 */
function isSentBeyondReach(ctx: Ctx, message: MessageDetailRow): SQL | null {
  const reach = getReach(ctx.caller, writers)
  if (reach.all || reach.organizations.some((id) => id === message.organization_id)) return null
  const editions = reach.editions.flatMap(({ edition_id }) => edition_id ?? [])
  return sql`exists (select 1 from campaigns join segments on segments.id = campaigns.segment_id
    where campaigns.email_message_id = ${message.id}
      and ${inList(sql`campaigns.status`, ['scheduled', ...runningStatuses])}
      and (segments.edition_id is null or not (${inList(sql`segments.edition_id`, editions)})))`
}

/** Otherwise a role of one edition could change what people of another edition are about to receive. */
export async function checkCampaignsReach(ctx: Ctx, message: MessageDetailRow): Promise<void> {
  const isBeyond = isSentBeyondReach(ctx, message)
  if (isBeyond === null || !(await ctx.db.first(sql`select 1 where ${isBeyond}`))) return
  throw new AppError(
    'permission_denied',
    'A campaign is about to send this message to people outside your editions. Only a role in the whole organisation may change it now.',
    { extra: { required_roles: pickOrganizationRoles(writers) } },
  )
}

/** Aborts the change when such a campaign was scheduled after `checkCampaignsReach`. */
export function guardCampaignReach(ctx: Ctx, message: MessageDetailRow): Statement[] {
  const isBeyond = isSentBeyondReach(ctx, message)
  return isBeyond === null ? [] : [abortUnless(sql`not ${isBeyond}`)]
}

const toCampaignMessage = (row: Pick<MessageRow, 'type' | 'subject' | 'blocks'>): CampaignMessage => ({
  type: row.type,
  subject: row.subject,
  blocks: row.blocks.length,
})

/** Faults that only the changed message has, keyed by the default language of an edition. */
function findNewFaults(before: MessageDetailRow, after: MessageDetailRow): Map<Language, MessageFault[]> {
  const [oldMessage, newMessage] = [toCampaignMessage(before), toCampaignMessage(after)]
  const faultsByLanguage = languages.map((language) => {
    const oldCodes = new Set(findMessageObstacles(oldMessage, language).map(({ code }) => code))
    return [language, findMessageObstacles(newMessage, language).filter(({ code }) => !oldCodes.has(code))] as const
  })
  return new Map(faultsByLanguage.filter(([, faults]) => faults.length > 0))
}

interface UnsendableCampaign {
  type: 'campaign'
  id: string
  name: string
  language: Language
}

const maxCampaigns = 20

/** A campaign copies its message when it starts; later changes of the message do not reach it. */
const selectUnsendableCampaigns = (messageId: string, defaultLanguages: readonly Language[]): SQL<UnsendableCampaign> =>
  sql<UnsendableCampaign>`select 'campaign' as type, campaigns.id, campaigns.name, editions.default_language as language
    from campaigns join editions on editions.id = campaigns.edition_id
    where campaigns.email_message_id = ${messageId} and ${inList(sql`campaigns.status`, statusesBeforeCopy)}
      and ${inList(sql`editions.default_language`, defaultLanguages)} order by campaigns.id limit ${maxCampaigns}`

const findFaultyField = (code: MessageFault['code'], language: Language): string[] =>
  ({ wrong_type: ['type'], no_blocks: ['blocks'], missing_subject: ['subject', language] })[code]

/**
 * Refuses a change after which a campaign could not send the message. Returns statements that abort the change when such
 * a campaign was scheduled after this check.
 */
export async function checkSendable(ctx: Ctx, before: MessageDetailRow, after: MessageDetailRow): Promise<Statement[]> {
  const faults = findNewFaults(before, after)
  if (faults.size === 0) return []
  const campaigns = selectUnsendableCampaigns(before.id, [...faults.keys()])
  const unsendable = await ctx.db.all(campaigns)
  if (unsendable.length === 0) return [abortUnless(sql`not exists (${campaigns})`)]
  const errors = new Map<string, FieldError>()
  for (const { language } of unsendable)
    for (const { code, detail } of faults.get(language) ?? []) {
      const field = findFaultyField(code, language)
      errors.set(field.join('.'), fieldError(field, code, detail))
    }
  const related = unsendable.map(({ language: _, ...campaign }) => campaign)
  throw messageInUse(related, 'A campaign is about to send this message and could not send it after this change.', [
    ...errors.values(),
  ])
}
