import { formatInZone } from '../time/time-zones.ts'
import { noWait, pickWait, type Wait } from '../waiting.ts'

/** Since when a campaign waits for its send window, and when the window opens. Null while it does not wait for it. */
export interface WindowWait {
  window_waiting_since: number | null
  window_opens_at: number | null
}

export const noWindowWait: WindowWait = { window_waiting_since: null, window_opens_at: null }

export const pickWindowWait = ({ window_waiting_since, window_opens_at }: WindowWait): WindowWait => ({
  window_waiting_since,
  window_opens_at,
})

/** The columns of a campaign that say what it waits for. */
export interface CampaignWaits extends Wait, WindowWait {
  paused_at: number | null
  edition_timezone: string
}

/** Says what a campaign waits for first of all: the end of its pause, its send window or its provider. */
export function describeCampaignWait(campaign: CampaignWaits): Wait {
  const { paused_at, window_waiting_since, window_opens_at, edition_timezone } = campaign
  if (paused_at !== null) return { ...noWait, waiting_reason: 'The campaign is paused.', waiting_since: paused_at }
  if (window_opens_at === null) return pickWait(campaign)
  return {
    waiting_reason: `Outside its send window until ${formatInZone(window_opens_at, edition_timezone)}.`,
    waiting_since: window_waiting_since,
    next_attempt_at: window_opens_at,
  }
}
