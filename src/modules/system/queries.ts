import { eq, type SQL, sql } from 'drizzle-orm'
import type { Ctx, JobCtx } from '../../context.ts'
import type { OutageRow } from '../../db/outages.ts'
import { deadMessages } from '../../db/schema/dead-messages.ts'
import { type RowOf, select } from '../../db/select.ts'
import { countRecent, type RecentCount, type WorkCount } from '../../db/work-counts.ts'
import { joinAlarms, type ShownAlarm } from '../../domain/alarms.ts'
import { notFound } from '../../domain/errors.ts'
import { maxCounted, type SweepRuns } from '../../domain/system.ts'
import { hourMs } from '../../domain/time/instants.ts'
import { describeOutgoing } from '../../domain/waiting.ts'
import { selectRunningWork, selectScheduledWork } from '../campaigns/index.ts'
import { selectMergeWork } from '../catalogue/index.ts'
import { selectImportWork } from '../data-imports/index.ts'
import { selectScanWork } from '../files/index.ts'
import { selectErasureWork } from '../personal-data/index.ts'
import { selectBatchWork } from '../refund-batches/index.ts'
import { selectRefundWork } from '../refund-payments/index.ts'
import { selectCalculationWork } from '../segments/index.ts'
import { selectEmailWork } from '../transactional-emails/index.ts'
import { selectEditionWork, selectPassWork } from '../wallet/index.ts'
import { selectDeliveryWork } from '../webhooks/index.ts'
import { maxBodyLength } from './contract.ts'
import { findCauses, selectAlarms, symptomStatements } from './symptoms.ts'

const workSelections: readonly ((now: number) => SQL<WorkCount>)[] = [
  selectDeliveryWork,
  selectEmailWork,
  selectScheduledWork,
  selectRunningWork,
  selectRefundWork,
  selectBatchWork,
  selectMergeWork,
  selectImportWork,
  selectCalculationWork,
  selectScanWork,
  selectPassWork,
  selectEditionWork,
  selectErasureWork,
]

interface DeadMessageGroup {
  queue: string
  count: number
  latest_at: number
  latest_error: string | null
}

/** With `max`, SQLite takes the other columns from the latest message of the group. */
const selectDeadMessageGroups = sql<DeadMessageGroup>`select queue, count(*) as count, max(created_at) as latest_at,
    error as latest_error
  from (select queue, created_at, error from dead_messages where retried_at is null
    order by id desc limit ${maxCounted})
  group by queue order by queue`

/** With `min`, SQLite takes the other columns from the outage that has lasted longest. */
const selectOutageGroups = sql<OutageRow & { count: number }>`select service, count(*) as count, min(since) as since,
    resource_id, reason, next_attempt_at
  from service_outages group by service order by service`

interface Sizes {
  orders: number
  customers: number
  edition_customers: number
  stored_file_bytes: number
}

const selectSizes = sql<Sizes>`select
  (select coalesce(max(seq), 0) from orders) as orders,
  (select coalesce(max(seq), 0) from users) as customers,
  (select coalesce(max(seq), 0) from edition_customers) as edition_customers,
  (select coalesce(sum(used_bytes), 0) from organization_storage) as stored_file_bytes`

export interface StatusRows {
  outgoing: 'sending' | 'held'
  alarms: ShownAlarm[]
  work: WorkCount[]
  recent: RecentCount[]
  sweeps: SweepRuns
  deadMessages: DeadMessageGroup[]
  outages: (OutageRow & { count: number })[]
  sizes: Sizes
  databaseBytes: number | null
}

export type MetricsCtx = Pick<JobCtx, 'db' | 'now' | 'config' | 'clockOffsetMs'>

/** Loads the numbers of the status. Each statement reads at most some ranges of `maxCounted` rows. */
export async function loadStatus(job: MetricsCtx): Promise<StatusRows> {
  const { db, config } = job
  const at = job.now()
  const since = at - hourMs
  const [overview, work, recent] = await Promise.all([
    db.batchNamed({
      ...symptomStatements,
      storedAlarms: selectAlarms,
      deadMessages: selectDeadMessageGroups,
      outages: selectOutageGroups,
      sizes: selectSizes,
    }),
    db.batch(workSelections.map((selectKind) => selectKind(at))),
    db.batch([
      countRecent(since, 'orders', 'order'),
      countRecent(since, 'webhook_deliveries', 'webhook_delivery'),
      countRecent(since, 'transactional_emails', 'transactional_email'),
      countRecent(since, 'refund_requests', 'refund_request'),
      countRecent(since, 'data_imports', 'data_import'),
    ]),
  ])
  const { runs = [], storedAlarms = [], deadMessages: groups = [], outages = [], sizes = [] } = overview
  return {
    outgoing: describeOutgoing(config),
    alarms: joinAlarms(storedAlarms, await findCauses(job, overview)),
    work: work.flat(),
    recent: recent.flat(),
    sweeps: runs[0]?.sweeps ?? {},
    deadMessages: groups,
    outages,
    sizes: sizes[0] ?? { orders: 0, customers: 0, edition_customers: 0, stored_file_bytes: 0 },
    databaseBytes: db.sizeBytes,
  }
}

const { id, created_at, queue, error, retried_at } = deadMessages

export const deadMessageColumns = {
  id,
  created_at,
  queue,
  body: sql<string>`substr(${deadMessages.body}, 1, ${maxBodyLength})`,
  error,
  retried_at,
}

export type DeadMessageRow = RowOf<typeof deadMessageColumns>
/** Its body is complete. */
export type LoadedDeadMessage = DeadMessageRow & { tenant: null }

/** Only the superuser calls operations on dead messages, so every one is visible. */
export async function findDeadMessage(ctx: Ctx, messageId: string): Promise<LoadedDeadMessage> {
  const columns = { ...deadMessageColumns, body: deadMessages.body }
  const row = await ctx.db.first(select(columns).from(deadMessages).where(eq(id, messageId)))
  if (!row) throw notFound()
  return { ...row, tenant: null }
}
