import type { CampaignRecord } from './schema.ts'

/** The campaign's row is at most this far behind the object. */
export const projectEveryMs = 2000
/** Alarms have at least this distance, so that calls from outside get their turn. */
const alarmDistanceMs = 50

export interface AlarmReasons {
  now: number
  /** True if a run was requested after the alarm had read the campaign's row. */
  isRequested: boolean
  /** When the campaign is due, if it is scheduled. */
  scheduledAt: number | null
  /** The time at which the next chunk may be claimed or the next claim ends. */
  nextChunkAt: number | null
  /** Until when no chunk is handed out. Infinity: until somebody resumes the campaign. */
  closedUntil: number
  /** The instant at which the send window of a campaign that is sending opens or closes next. */
  windowChangesAt: number | null
  /** True if a consumer holds a chunk, or would get one. */
  isBusy: boolean
  isProjectionBehind: boolean
}

/** Consumers at work change the counters, which have to be projected. Nothing changes while no chunk is handed out. */
function computeSendingAlarm({ now, isBusy, nextChunkAt, closedUntil }: AlarmReasons): number | null {
  const isClosed = closedUntil > now
  if (isBusy || (nextChunkAt === null && !isClosed)) return now + projectEveryMs
  return isClosed && Number.isFinite(closedUntil) ? closedUntil : null
}

/** Computes when the object's next alarm has to go off. Null: there is nothing to do until something happens. */
export function computeNextAlarm(record: CampaignRecord, reasons: AlarmReasons): number | null {
  const { now, isRequested, scheduledAt, nextChunkAt, windowChangesAt, isProjectionBehind } = reasons
  const times = [
    scheduledAt,
    nextChunkAt,
    windowChangesAt,
    isRequested || record.status === 'calculating' ? now : null,
    isProjectionBehind ? record.projected_at + projectEveryMs : null,
    record.status === 'sending' ? computeSendingAlarm(reasons) : null,
  ].filter((at) => at !== null)
  return times.length ? Math.max(Math.min(...times), now + alarmDistanceMs) : null
}
