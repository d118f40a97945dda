import type { JobCtx } from '../../../context.ts'
import { isCalculationApproved } from '../../../db/campaign-approvals.ts'
import { abortUnless, commitPart, retryLostRaces } from '../../../db/commit.ts'
import { formatApprovalFault } from '../../../domain/campaigns/approval.ts'
import type { NewRecipient } from '../../../domain/campaigns/sender.ts'
import { LostRace } from '../../../domain/errors.ts'
import { advanceCalculation, listAudience } from './audience.ts'
import { type CampaignRow, readCampaign } from './campaign-row.ts'
import { storeContentSnapshot } from './content-snapshot.ts'
import { snapshotCalculatedSegment } from './projection.ts'

const membersPerPage = 1000

/** The step that a campaign's Durable Object needs next. */
export interface AudienceStep {
  campaign_id: string
  run: number
  /** `''`: the audience is complete, or no run has begun. */
  step: '' | 'content' | 'segment' | 'members'
  /** The calculation of the segment that was begun for this run, or 0. */
  segment_epoch: number
  /** The object has stored the members of the segment up to this number. */
  added_up_to: number
}

/** The findings of a step, for the Durable Object to store. */
export type AudienceProgress =
  /** The campaign was deleted or started again. */
  | { type: 'overtaken' }
  | { type: 'failed'; error: string }
  | { type: 'content_stored' }
  /** `has_more` is false while another consumer calculates. */
  | { type: 'segment_calculating'; epoch: number; has_more: boolean }
  | { type: 'segment_calculated'; epoch: number; count: number }
  /** Another calculation of the segment has deleted the members, so this one begins again. */
  | { type: 'members_deleted' }
  /** `after` is null on the last page. */
  | { type: 'members'; people: readonly NewRecipient[]; after: number | null }

/** A change of what the campaign sends makes it decide again. */
async function storeContent(job: JobCtx, { campaign_id, run }: AudienceStep): Promise<AudienceProgress> {
  const { error } = await retryLostRaces(async () => {
    const row = await readCampaign(job, campaign_id)
    return row ? storeContentSnapshot(job, row, run) : { error: 'The campaign was deleted.' }
  })
  return error ? { type: 'failed', error } : { type: 'content_stored' }
}

const segmentChanged = formatApprovalFault('The segment has changed since the campaign was approved.')

async function calculateSegment(job: JobCtx, row: CampaignRow, awaitedEpoch: number): Promise<AudienceProgress> {
  const { approval } = row
  if (approval?.run === row.run && !approval.is_segment_current) return { type: 'failed', error: segmentChanged }
  const state = await advanceCalculation(job, row, awaitedEpoch)
  if ('error' in state) return { type: 'failed', error: state.error }
  const { epoch } = state
  if (!state.is_ready) return { type: 'segment_calculating', epoch, has_more: state.has_more }
  try {
    await commitPart(job, [
      abortUnless(isCalculationApproved(row.id, row.run, epoch)),
      snapshotCalculatedSegment(row, epoch),
    ])
  } catch (error) {
    if (!(error instanceof LostRace)) throw error
    return { type: 'segment_calculating', epoch, has_more: true }
  }
  return { type: 'segment_calculated', epoch, count: state.count }
}

async function listMembers(job: JobCtx, row: CampaignRow, step: AudienceStep): Promise<AudienceProgress> {
  const place = { epoch: step.segment_epoch, after: step.added_up_to, limit: membersPerPage }
  const page = await listAudience(job, row, place)
  if (!page) return { type: 'members_deleted' }
  return 'error' in page ? { type: 'failed', error: page.error } : { type: 'members', ...page }
}

/**
 * Takes the next step from a campaign to its recipients: it copies the content, calculates the segment, and lists the
 * members page by page. Repeating a step changes nothing.
 */
export async function advanceAudience(job: JobCtx, step: AudienceStep): Promise<AudienceProgress> {
  const row = await readCampaign(job, step.campaign_id)
  if (!row || row.run !== step.run) return { type: 'overtaken' }
  switch (step.step) {
    case 'content':
      return storeContent(job, step)
    case 'segment':
      return calculateSegment(job, row, step.segment_epoch)
    default:
      return listMembers(job, row, step)
  }
}
