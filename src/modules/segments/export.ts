import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { viewCustomers } from '../../db/customers.ts'
import { readFurtherPages } from '../../db/paginate.ts'
import { segmentExports } from '../../db/schema/segments.ts'
import { insert } from '../../db/write.ts'
import { rowsPerPage, streamTable, type Table } from '../../domain/text/table-file.ts'
import { slugify } from '../../domain/text/text.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import { selectConsentStatus } from './calculation/audience.ts'
import type { SegmentMember } from './calculation/members.ts'
import type { ExportColumn } from './contract.ts'
import { checkReady, type LoadedSegment } from './queries.ts'

interface ExportRow extends Omit<SegmentMember, 'excluded_for'> {
  created_at: number
  last_seen_at: number | null
  consent_status: string
}

const cells: Table<ExportColumn, ExportRow>['cells'] = {
  id: (row) => row.id,
  email: (row) => row.email,
  phone_number: (row) => row.phone_number,
  first_name: (row) => row.first_name,
  last_name: (row) => row.last_name,
  locale: (row) => row.locale,
  date_joined: (row) => toIso(row.created_at),
  last_seen: (row) => toIsoOrNull(row.last_seen_at),
  consent_status: (row) => row.consent_status,
}

const personColumns = [
  'email',
  'phone_number',
  'first_name',
  'last_name',
  'locale',
  'created_at',
  'last_seen_at',
] as const

function selectPage(ctx: Ctx, segment: LoadedSegment, columns: readonly ExportColumn[], after: number) {
  const view = viewCustomers(ctx.caller, sql`u`)
  return sql<ExportRow>`select m.user_seq, u.id, ${view.columns(personColumns)}, ${columns.includes('consent_status') ? selectConsentStatus(segment, sql`u.id`, ctx.now()) : sql`''`} as consent_status
    from segment_members m cross join users u on u.seq = m.user_seq ${view.join}
    where m.segment_seq = ${segment.seq} and m.epoch = ${segment.members_epoch} and m.user_seq > ${after}
      and m.excluded_for is null
    order by m.user_seq limit ${rowsPerPage}`
}

/** Builds the CSV file of a segment's members. The export is recorded before the first row is sent. */
export function exportSegmentUsers(
  ctx: Ctx,
  segment: LoadedSegment,
  options: { columns: readonly ExportColumn[]; bom?: boolean | undefined },
) {
  const { columns, bom = true } = options
  checkReady(segment)
  const now = ctx.now()
  return {
    name: `segment-${slugify(segment.name, 'segment')}-${toIso(now).slice(0, 10)}.csv`,
    open: async () => {
      const [, rows] = await ctx.db.batch([
        insert(segmentExports, {
          id: ctx.newId('segment_export'),
          segment_id: segment.id,
          organization_id: segment.organization_id,
          caller_id: ctx.caller.id,
          request_id: ctx.requestId,
          columns,
          user_count: segment.user_count,
          created_at: now,
        }),
        selectPage(ctx, segment, columns, 0),
        ...(await ctx.recordWrite({ columns, user_count: segment.user_count }, true)),
      ])
      // All pages have the members that were current when the export started.
      const others = readFurtherPages(rows, rowsPerPage, ({ user_seq }) =>
        ctx.db.all(selectPage(ctx, segment, columns, user_seq)),
      )
      return streamTable({ format: 'csv', columns, bom, cells }, rows, others)
    },
  }
}
