import { lifecycle } from './lifecycle.ts'
import { dayMs } from './time/instants.ts'

export const segmentLifecycle = lifecycle('draft', {
  draft: ['calculating'],
  calculating: ['ready', 'failed', 'draft'],
  ready: ['calculating', 'draft'],
  failed: ['calculating', 'draft'],
})
export const segmentStatuses = segmentLifecycle.states
export type SegmentStatus = (typeof segmentStatuses)[number]

export const communicationTypes = ['marketing', 'transactional'] as const
export type CommunicationType = (typeof communicationTypes)[number]

export const maxSegmentNameLength = 255
export const maxExpressionLength = 4000
export const maxDescriptionLength = 2000

/** Why a person for whom the expression holds is not a member. The first reason that applies counts. */
export const exclusionReasons = ['no_address', 'no_consent', 'unsubscribed', 'bounced', 'inactive'] as const
export type ExclusionReason = (typeof exclusionReasons)[number]

/** Campaigns with these statuses still need their segment and their message. */
export const campaignStatusesInNeed = ['draft', 'scheduled', 'calculating', 'sending'] as const

/** A calculation without progress for this long is given to another consumer. */
export const quietAfterMs = 2 * 60_000
/** A calculation without progress for this long fails. */
export const lostAfterMs = 15 * 60_000

const staleAfterMs = dayMs

export const isStale = (segment: { status: string; calculated_at: number | null }, now: number): boolean =>
  segment.status === 'ready' && segment.calculated_at !== null && now - segment.calculated_at >= staleAfterMs

/** From 0 to 1, rounded down to hundredths. */
export function calculateSegmentProgress(segment: {
  status: string
  walked_count: number
  population_count: number
}): number {
  if (segment.status === 'ready') return 1
  if (segment.status === 'draft' || segment.population_count === 0) return 0
  return Math.floor((100 * Math.min(segment.walked_count, segment.population_count)) / segment.population_count) / 100
}
