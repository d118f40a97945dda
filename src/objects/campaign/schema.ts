import { type Counters, counterNames } from '../../domain/campaigns/counters.ts'
import { type CampaignStatus, isRunning } from '../../domain/campaigns/lifecycle.ts'
import { stampNames } from '../../domain/campaigns/recipient-events.ts'
import type { SendWindow } from '../../domain/campaigns/send-window.ts'
import type { CampaignSnapshot } from '../../domain/campaigns/sender.ts'
import type { RecipientState } from '../../domain/campaigns/sending-policy.ts'
import { timelineNames } from '../../domain/campaigns/timeline.ts'
import { noWindowWait, pickWindowWait, type WindowWait } from '../../domain/campaigns/waits.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import { isRecord, readJson } from '../../domain/text/json.ts'
import { heldReason, noWait, pickWait, type Wait } from '../../domain/waiting.ts'

/** The part of the storage that the object uses. Tests replace it to cause faults. */
export type ObjectStorage = Pick<
  DurableObjectStorage,
  'sql' | 'transactionSync' | 'getAlarm' | 'setAlarm' | 'deleteAlarm' | 'deleteAll'
>

/** Quotes a state for SQL. */
export const quoteRecipientState = (state: RecipientState): string => `'${state}'`

/**
 * Lists of recipients filter by `recipients_state` and sort by the other two indexes. Chunks are made along
 * `recipients_state` too, which has pending recipients in the order of their numbers. Addresses are not unique, because
 * a skipped recipient may share one. Recipients without an address and erased ones have null.
 *
 * `minutes` counts what the stamps of recipients say by minute since 1970. `link_clicks` has the times of a recipient's
 * clicks, by which a repeated event is recognised, and `link_counts` adds them up.
 */
const schema = `
create table if not exists record (
  singleton integer primary key check (singleton = 1),
  campaign_id text not null,
  channel text not null default 'email',
  run integer not null default 0,
  content_run integer not null default 0,
  status text not null default 'draft',
  error_message text not null default '',
  step text not null default '',
  segment_epoch integer not null default 0,
  added_up_to integer not null default 0,
  chunked_up_to integer not null default 0,
  limited_until integer not null default 0,
  waiting_reason text,
  waiting_since integer,
  next_attempt_at integer,
  paused_at integer,
  held_since integer,
  send_window text,
  timezone text not null default 'UTC',
  window_waiting_since integer,
  window_opens_at integer,
  concurrency integer not null default 16,
  user_count integer not null default 0,
  ${counterNames.map((name) => `${name} integer not null default 0`).join(',\n  ')},
  started_at integer,
  completed_at integer,
  revision integer not null default 0,
  projected_revision integer not null default 0,
  projected_at integer not null default 0
) strict;
create table if not exists recipients (
  n integer primary key,
  user_id text not null,
  address text,
  language text not null,
  person text not null,
  conditions integer not null default 0,
  search_text text not null,
  state text not null,
  reason text,
  code text not null default '',
  detail text not null default '',
  attempts integer not null default 0,
  provider_id text,
  sent_at integer,
  ${stampNames.map((name) => `${name} integer`).join(',\n  ')}
) strict;
create index if not exists recipients_state on recipients (state, reason, n);
create index if not exists recipients_address on recipients (address, n);
create index if not exists recipients_sent_at on recipients (sent_at, n);
create table if not exists chunks (
  number integer primary key,
  run integer not null,
  content_run integer not null,
  members text not null,
  state text not null,
  is_repeat integer not null default 0,
  tries integer not null default 0,
  first_tried_at integer,
  not_before integer not null,
  claim_id text,
  claimed_until integer,
  fault text
) strict;
create table if not exists minutes (
  minute integer primary key,
  ${timelineNames.map((name) => `${name} integer not null default 0`).join(',\n  ')}
) strict;
create table if not exists link_clicks (
  link integer not null,
  n integer not null,
  times text not null,
  is_machine_clicked integer not null check (is_machine_clicked in (0, 1)),
  primary key (n, link)
) strict, without rowid;
create table if not exists link_counts (
  link integer primary key,
  clicks integer not null default 0,
  people integer not null default 0,
  machine_clicked integer not null default 0
) strict;
create table if not exists engagement_changes (
  number integer primary key,
  members text not null
) strict;`

/** Creates the tables, also where an object of an earlier release has only some of them. */
export const createTables = (sql: { exec: (query: string) => unknown }): void => void sql.exec(schema)

/** `Wait` says why a campaign in status `sending` waits for its provider. */
export interface CampaignRecord extends Counters, Wait, WindowWait {
  campaign_id: string
  channel: Channel
  run: number
  /** The run whose content snapshot is sent. A retry sends the snapshot of an earlier run. */
  content_run: number
  status: CampaignStatus
  error_message: string
  /** The next step of the audience calculation. It is empty when no calculation is under way. */
  step: '' | 'content' | 'segment' | 'members'
  segment_epoch: number
  /** The calculation has added the members of the segment up to this number. */
  added_up_to: number
  /** Recipients up to this number are in chunks of this run. */
  chunked_up_to: number
  /** The provider limits sending until this time. */
  limited_until: number
  /** Since when a running campaign is paused. It means nothing in other statuses. */
  paused_at: number | null
  /** Since when a campaign that is sending waits for the operator, who holds all that goes out. */
  held_since: number | null
  /** JSON of `SendWindow`, in local time of `timezone`. */
  send_window: string | null
  timezone: string
  /** The number of chunks that consumers may hold at once. A rate limit halves it. */
  concurrency: number
  user_count: number
  started_at: number | null
  completed_at: number | null
  revision: number
  /** The last revision that was copied to the campaign's row. */
  projected_revision: number
  projected_at: number
}

const isSendWindow = (value: unknown): value is SendWindow => isRecord(value) && 'days' in value

export const readSendWindow = (json: string): SendWindow => readJson(json, isSendWindow)

const describeSendingWait = (record: CampaignRecord): Wait =>
  record.held_since === null
    ? pickWait(record)
    : { ...noWait, waiting_reason: heldReason, waiting_since: record.held_since }

export const toSnapshot = (record: CampaignRecord): CampaignSnapshot => ({
  ...(Object.fromEntries(counterNames.map((name) => [name, record[name]])) as unknown as Counters),
  campaign_id: record.campaign_id,
  run: record.run,
  revision: record.revision,
  status: record.status,
  error_message: record.error_message,
  user_count: record.user_count,
  started_at: record.started_at,
  completed_at: record.completed_at,
  ...(record.status === 'sending' ? describeSendingWait(record) : noWait),
  send_window: record.send_window === null ? null : readSendWindow(record.send_window),
  paused_at: isRunning(record.status) ? record.paused_at : null,
  ...(record.status === 'sending' ? pickWindowWait(record) : noWindowWait),
})
