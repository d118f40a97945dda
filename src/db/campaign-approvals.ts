import { type SQL, sql } from 'drizzle-orm'
import type { Approval } from '../domain/campaigns/approval.ts'
import type { Database } from './database.ts'
import { fromJson, jsonFlag } from './select.ts'

/**
 * The content of the campaign `c`, apart from its segment: its own version, the version of its message, and everything
 * that names its sender.
 */
const content = sql`json_array(c.content_version, m.version, e.full_name, e.email_sender_name, e.email_sender_address,
  e.email_reply_to, e.sms_sender_name, o.name)`

const changes = sql`json_array(json_array(c.content_changed_by, c.content_changed_at),
  json_array(m.modified_by, iif(m.modified_by is null, null, m.modified_at)),
  json_array(s.content_changed_by, s.content_changed_at), json_array(e.sender_changed_by, e.sender_changed_at))`

const contentTables = sql`join editions as e on e.id = c.edition_id join organizations as o on o.id = c.organization_id
  join segments as s on s.id = c.segment_id left join email_messages as m on m.id = c.email_message_id`

const fromApproval = (campaignId: SQL | string): SQL =>
  sql`from (select ${campaignId} as id) as wanted cross join campaign_approvals as a on a.campaign_id = wanted.id
    cross join campaigns as c on c.id = a.campaign_id ${contentTables}`

const isCurrent = sql`a.content = ${content} and a.segment_version = s.content_version`
const isApproved = sql`a.status = 'approved' and ${isCurrent}`

/** The approval of a campaign, or null. `campaignId` may be a column of the query around it. */
export const selectApproval = (campaignId: SQL): SQL<Approval | null> =>
  fromJson<Approval | null>(sql`(select json_object('status', a.status, 'requested_by', a.requested_by,
      'requested_at', a.requested_at, 'request_note', a.request_note, 'decided_by', a.decided_by,
      'decided_at', a.decided_at, 'note', a.note, 'run', a.run, 'is_content_current', ${jsonFlag(sql`a.content = ${content}`)},
      'is_segment_current', ${jsonFlag(sql`a.segment_version = s.content_version`)}, 'changes', ${changes})
    from campaign_approvals as a cross join campaigns as c on c.id = a.campaign_id ${contentTables}
    where a.campaign_id = ${campaignId})`)

/** True while the campaign has this approval for what it sends now, and no other account has changed that. */
export const holdsApproval = (campaignId: string, approval: Approval): SQL =>
  sql`exists (select 1 ${fromApproval(campaignId)} where a.status = ${approval.status} and ${isCurrent}
    and ${changes} = ${JSON.stringify(approval.changes)})`

/** True if the campaign may be started as it is now: it is approved, or its organisation requires no approval. */
export const isStartApproved = (campaignId: string): SQL =>
  sql`(exists (select 1 ${fromApproval(campaignId)} where ${isApproved})
    or not exists (select 1 from campaigns as c join organizations as o on o.id = c.organization_id
      where c.id = ${campaignId} and o.requires_campaign_approval = 1))`

/** True unless the run was started with an approval for other members than the ones that this calculation found. */
export const isCalculationApproved = (campaignId: string, run: number, epoch: number): SQL =>
  sql`not exists (select 1 ${fromApproval(campaignId)} where a.run = ${run}
    and not (a.segment_version = s.content_version and s.status = 'ready' and s.members_epoch = ${epoch}))`

/** Notes that the run was started with the approval, where the organisation requires one. */
export const recordApprovedRun = (campaignId: string, run: number): SQL =>
  sql`update campaign_approvals set run = ${run} where campaign_id = ${campaignId}
    and exists (select 1 from campaigns as c join organizations as o on o.id = c.organization_id
      where c.id = ${campaignId} and o.requires_campaign_approval = 1)`

/** Replaces the request for approval by one for what the campaign sends now. */
export const replaceApprovalRequest = (
  campaignId: string,
  request: Pick<Approval, 'requested_by' | 'requested_at' | 'request_note'>,
): SQL =>
  sql`insert into campaign_approvals (campaign_id, status, requested_by, requested_at, request_note, content,
      segment_version)
    select c.id, 'requested', ${request.requested_by}, ${request.requested_at}, ${request.request_note}, ${content},
      s.content_version
    from campaigns as c ${contentTables} where c.id = ${campaignId}
    on conflict (campaign_id) do update set status = excluded.status, requested_by = excluded.requested_by,
      requested_at = excluded.requested_at, request_note = excluded.request_note, decided_by = null, decided_at = null,
      note = null, content = excluded.content, segment_version = excluded.segment_version`

/** Conditions for campaigns that send a message, to a segment, or in the name of an edition, an event or an organisation. */
export const campaignsSending = {
  message: (id: string): SQL => sql`c.email_message_id = ${id}`,
  segment: (id: string): SQL => sql`c.segment_id = ${id}`,
  edition: (id: string): SQL => sql`c.edition_id = ${id}`,
  event: (id: string): SQL => sql`c.edition_id in (select id from editions where event_id = ${id})`,
  organization: (id: string): SQL => sql`c.organization_id = ${id}`,
}

async function countScheduled(db: Database, condition: SQL): Promise<number> {
  const row = await db.first(
    sql<{ count: number }>`select count(*) as count from campaigns as c ${contentTables}
      left join campaign_approvals as a on a.campaign_id = c.id where c.status = 'scheduled' and ${condition}`,
  )
  return row?.count ?? 0
}

/** Counts the scheduled campaigns that need an approval, have it, and lose it when this part of their content changes. */
export const countApprovedCampaigns = (db: Database, condition: SQL): Promise<number> =>
  countScheduled(db, sql`${condition} and o.requires_campaign_approval = 1 and ${isApproved}`)

/** Counts the scheduled campaigns of an organisation that cannot start once it requires approvals. */
export const countUnapprovedCampaigns = (db: Database, organizationId: string): Promise<number> =>
  countScheduled(db, sql`${campaignsSending.organization(organizationId)} and coalesce(${isApproved}, 0) = 0`)
