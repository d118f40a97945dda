import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { segments } from '../../db/schema/segments.ts'
import { insert } from '../../db/write.ts'
import { doesNotExist } from '../../domain/errors.ts'
import { segmentLifecycle } from '../../domain/segments.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import { openEditions } from '../editions/index.ts'
import { emptyCalculation } from './calculation/start-and-reset.ts'
import type { CreateSegmentInput } from './contract.ts'
import { buildExpressionColumns } from './expressions/validate.ts'
import { loadSummaries, type SegmentRow } from './queries.ts'

export async function createSegment(ctx: Ctx, input: CreateSegmentInput): Promise<SegmentRow> {
  const { organization_id, edition_id = null, name, description, communication_type, communication_channel } = input
  const summaries = await loadSummaries(ctx, { organization_id, edition_id })
  if (!summaries) throw doesNotExist('organization_id')
  if (edition_id !== null && summaries.edition_full_name === null) throw doesNotExist('edition_id')
  const expression = buildExpressionColumns(input.expression)
  const now = ctx.now()
  const row = {
    id: ctx.newId('segment'),
    organization_id,
    edition_id,
    name,
    name_key: buildSortKey(name),
    description,
    search: buildSearchText(name, description),
    communication_type,
    communication_channel,
    ...expression,
    status: segmentLifecycle.initial,
    version: 1,
    created_at: now,
    modified_at: now,
  }
  const initialState = {
    seq: 0,
    epoch: 0,
    ...emptyCalculation,
    content_version: 1,
    content_changed_by: null,
    content_changed_at: null,
    deleted_at: null,
    campaigns_count: 0,
  }
  return commit(ctx, { ...row, ...initialState, ...summaries }, [
    ...openEditions(row.edition_id),
    insert(segments, row),
  ])
}
