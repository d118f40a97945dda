import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { segments } from '../../db/schema/segments.ts'
import type { RowOf } from '../../db/select.ts'
import { calculateSegmentProgress, exclusionReasons, isStale } from '../../domain/segments.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import type { SegmentSummary } from '../../http/fields.ts'
import { presentEditionOrNull } from '../editions/index.ts'
import { presentOrganizationSummary } from '../organizations/index.ts'
import { presentUser } from '../users/index.ts'
import type { Segment, SegmentUser, UserSegment } from './contract.ts'
import { decideMembership } from './expressions/present-cel.ts'
import type { SegmentUserRow, UserSegmentRow } from './list.ts'
import type { SegmentRow } from './queries.ts'

type SegmentWire = z.input<typeof Segment>

const presentExcluded = (counts: SegmentRow['excluded']): SegmentWire['excluded'] =>
  Object.fromEntries(exclusionReasons.map((reason) => [reason, counts[reason] ?? 0])) as SegmentWire['excluded']

export const presentSegment = (row: SegmentRow, ctx: Ctx): SegmentWire => ({
  id: row.id,
  name: row.name,
  description: row.description,
  organization_id: row.organization_id,
  edition_id: row.edition_id,
  organization: presentOrganizationSummary(row, ctx),
  edition: presentEditionOrNull(row),
  communication_type: row.communication_type,
  communication_channel: row.communication_channel,
  expression: row.expression,
  is_time_dependent: row.is_time_dependent,
  status: row.status,
  user_count: row.user_count,
  excluded: presentExcluded(row.excluded),
  calculated_at: toIsoOrNull(row.calculated_at),
  calculation_started_at: toIsoOrNull(row.calculation_started_at),
  progress: calculateSegmentProgress(row),
  is_stale: isStale(row, ctx.now()),
  error_message: row.error_message,
  campaigns_count: row.campaigns_count,
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})

export const presentSegmentUser = (row: SegmentUserRow): z.input<typeof SegmentUser> => ({
  ...presentUser(row),
  consent_status: row.consent_status,
})

export const presentUserSegment = ({ segment, explanation }: UserSegmentRow): z.input<typeof UserSegment> => ({
  id: segment.id,
  name: segment.name,
  edition_id: segment.edition_id,
  communication_type: segment.communication_type,
  communication_channel: segment.communication_channel,
  status: segment.status,
  ...(explanation ? decideMembership(explanation) : { is_member: false, excluded_for: 'expression' }),
  was_member: explanation?.wasMember ?? null,
  created: toIso(segment.created_at),
})

/** The columns that the summary of a joined segment needs. Campaigns also show deleted segments. */
export const segmentSummaryFields = {
  segment_id: segments.id,
  segment_name: segments.name,
  segment_communication_type: segments.communication_type,
  segment_communication_channel: segments.communication_channel,
  segment_status: segments.status,
  segment_user_count: segments.user_count,
}

type SegmentSummaryRow = RowOf<typeof segmentSummaryFields>

export const presentSegmentSummary = (row: SegmentSummaryRow): z.input<typeof SegmentSummary> => ({
  id: row.segment_id,
  name: row.segment_name,
  communication_type: row.segment_communication_type,
  communication_channel: row.segment_communication_channel,
  status: row.segment_status,
  user_count: row.segment_user_count,
})
