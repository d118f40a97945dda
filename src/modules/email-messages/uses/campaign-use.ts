import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { abortUnless } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import type { Statement } from '../../../db/database.ts'
import { campaigns } from '../../../db/schema/campaigns.ts'
import { editions } from '../../../db/schema/editions.ts'
import { segments } from '../../../db/schema/segments.ts'
import { decodeAs, buildSelectList, type RowOf } from '../../../db/select.ts'
import { pickOrganizationRoles, getReach, managers } from '../../../domain/accounts/access.ts'
import { findContentFaults } from '../../../domain/campaigns/content-faults.ts'
import { runningStatuses, statusesBeforeCopy } from '../../../domain/campaigns/lifecycle.ts'
import { findMessageObstacles, type MessageFault } from '../../../domain/campaigns/readiness.ts'
import { AppError, type FieldError, fieldError } from '../../../domain/errors.ts'
import { type Language, languages } from '../../../domain/languages.ts'
import type { MessageDetailRow } from '../queries.ts'
import { type MessageReference, messageInUse } from './usage.ts'

/**
 * True when a campaign is about to send the message to a segment beyond the editions that the caller may write in. Null
 * for roles in the whole organisation, which reach every segment.
 */
function isSentBeyondReach(ctx: Ctx, message: MessageDetailRow): SQL | null {
  const reach = getReach(ctx.caller, managers)
  if (reach.all || reach.organizations.some((id) => id === message.organization_id)) return null
  const editionIds = reach.editions.flatMap(({ edition_id }) => edition_id ?? [])
  return sql`exists (select 1 from campaigns join segments on segments.id = campaigns.segment_id
    where campaigns.email_message_id = ${message.id}
      and ${inList(sql`campaigns.status`, ['scheduled', ...runningStatuses])}
      and (segments.edition_id is null or not (${inList(sql`segments.edition_id`, editionIds)})))`
}

/**
 * Throws if a campaign is about to send the message beyond the caller's editions. Otherwise a role of one edition could
 * change what people of another edition receive.
 */
export async function checkCampaignsReach(ctx: Ctx, message: MessageDetailRow): Promise<void> {
  const isBeyond = isSentBeyondReach(ctx, message)
  if (isBeyond === null || !(await ctx.db.first(sql`select 1 where ${isBeyond}`))) return
  throw new AppError(
    'permission_denied',
    'A campaign is about to send this message to people outside your editions. Only a role in the whole organisation may change it now.',
    { extra: { required_roles: pickOrganizationRoles(managers) } },
  )
}

/** Aborts the change when such a campaign was scheduled after `checkCampaignsReach`. */
export function guardCampaignReach(ctx: Ctx, message: MessageDetailRow): Statement[] {
  const isBeyond = isSentBeyondReach(ctx, message)
  return isBeyond === null ? [] : [abortUnless(sql`not ${isBeyond}`)]
}

type Draft = Pick<MessageDetailRow, 'type' | 'subject' | 'preheader' | 'blocks' | 'edition_id'>

/** Facts that decide whether a campaign can send a message. Campaigns with the same values are one group. */
const groupFields = {
  default_language: editions.default_language,
  enabled_languages: editions.enabled_languages,
  accepted_translations: campaigns.accepted_translations,
  communication_type: segments.communication_type,
  segment_edition_id: sql<string | null>`${segments.edition_id}`,
}

type CampaignGroup = RowOf<typeof groupFields>

const groupKey = sql`json_array(${groupFields.default_language}, ${groupFields.enabled_languages},
  ${groupFields.accepted_translations}, ${groupFields.communication_type}, ${groupFields.segment_edition_id})`

/** A campaign copies its message when it starts; later changes of the message do not reach it. */
const campaignsBeforeCopy = (messageId: string): SQL =>
  sql`${campaigns} join ${editions} on ${editions.id} = ${campaigns.edition_id}
    join ${segments} on ${segments.id} = ${campaigns.segment_id}
    where ${campaigns.email_message_id} = ${messageId} and ${inList(sql`${campaigns.status}`, statusesBeforeCopy)}`

const listGroups = (ctx: Ctx, messageId: string): Promise<(CampaignGroup & { key: string })[]> => {
  const fields = { ...groupFields, key: sql<string>`${groupKey}` }
  return ctx.db.all(
    decodeAs(
      fields,
      sql<RowOf<typeof fields>>`select distinct ${buildSelectList(fields)} from ${campaignsBeforeCopy(messageId)}`,
    ),
  )
}

const findFaultyField = (code: MessageFault['code'], language: Language): string[] =>
  ({ wrong_type: ['type'], no_blocks: ['blocks'], missing_subject: ['subject', language] })[code]

const listObstacles = ({ type, subject, blocks }: Draft, language: Language): FieldError[] =>
  findMessageObstacles({ type, subject, blocks: blocks.length }, language).map(({ code, detail }) =>
    fieldError(findFaultyField(code, language), code, detail),
  )

function listContentFaults({ subject, preheader, blocks, edition_id }: Draft, group: CampaignGroup): FieldError[] {
  const message = { subject, preheader, blocks }
  const texts = { ...group, channel: 'email' as const, message, message_edition_id: edition_id, sms_body: {} }
  return findContentFaults(texts, group.accepted_translations).errors.map(({ code, path, detail }) =>
    fieldError(path, code, detail),
  )
}

/** Lists why campaigns of a group cannot send the message, as errors of its fields. */
function listDraftFaults(draft: Draft, group: CampaignGroup): FieldError[] {
  return [...listObstacles(draft, group.default_language), ...listContentFaults(draft, group)]
}

const groupByKind = (faults: readonly FieldError[]): Map<string, FieldError[]> =>
  Map.groupBy(faults, ({ code, detail }) => `${code} ${detail}`)

/** Lists the faults of the kinds that occur more often after a change than before it. */
function pickNew(oldFaults: readonly FieldError[], faults: readonly FieldError[]): FieldError[] {
  const oldKinds = groupByKind(oldFaults)
  return [...groupByKind(faults)].flatMap(([kind, sameFaults]) =>
    sameFaults.length > (oldKinds.get(kind)?.length ?? 0) ? sameFaults : [],
  )
}

/** Stands for the segments of all editions but that of the message. */
const anyOtherEdition = ''

/**
 * True if no campaign fails because of the change, whatever the languages of its edition are. Faults of the content count
 * even when they are old, because what a campaign accepted is not known here.
 */
const isHarmless = (before: Draft, after: Draft): boolean =>
  languages.every(
    (language) => pickNew(listObstacles(before, language), listObstacles(after, language)).length === 0,
  ) &&
  listContentFaults(after, {
    default_language: 'en',
    enabled_languages: languages,
    accepted_translations: [],
    communication_type: 'marketing',
    segment_edition_id: anyOtherEdition,
  }).length === 0

const maxCampaigns = 20

/**
 * Refuses a change after which a campaign could not send the message. Returns statements that abort the change when
 * another campaign was scheduled after this check.
 */
export async function checkSendable(ctx: Ctx, before: MessageDetailRow, after: MessageDetailRow): Promise<Statement[]> {
  if (isHarmless(before, after)) return []
  const groups = (await listGroups(ctx, before.id)).map((group) => ({
    key: group.key,
    faults: pickNew(listDraftFaults(before, group), listDraftFaults(after, group)),
  }))
  const faultyGroups = groups.filter(({ faults }) => faults.length > 0)
  if (faultyGroups.length === 0) {
    const keys = groups.map(({ key }) => key)
    return [
      abortUnless(
        sql`not exists (select 1 from ${campaignsBeforeCopy(before.id)} and not (${inList(groupKey, keys)}))`,
      ),
    ]
  }
  const relatedCampaigns = await ctx.db.all(
    sql<MessageReference>`select 'campaign' as type, campaigns.id, campaigns.name from ${campaignsBeforeCopy(before.id)}
      and ${inList(
        groupKey,
        faultyGroups.map(({ key }) => key),
      )} order by campaigns.id limit ${maxCampaigns}`,
  )
  const errors = new Map(
    faultyGroups.flatMap(({ faults }) => faults).map((fault) => [`${fault.code} ${fault.pointer}`, fault]),
  )
  throw messageInUse(
    relatedCampaigns,
    'A campaign is about to send this message and could not send it after this change.',
    [...errors.values()],
  )
}
