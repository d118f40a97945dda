import { ApiError } from '@event-commerce/client'
import type { RefusalReason } from './judgement'
import { changeScan, readScans, type Scan } from './scan-store'

type Send = (scan: Scan) => Promise<{ use: string; usedAt: string }>

interface Options {
  send: Send
  /** True for an error after which nobody knows whether the ticket is used. */
  isUnanswered: (error: unknown) => boolean
  pause: () => Promise<void>
  /** Called when the first try has no answer. */
  onWait?: () => void
}

const reasons: Readonly<Record<string, RefusalReason>> = {
  pending: 'pending',
  refunded: 'refunded',
  expired: 'expired',
  cancelled: 'cancelled',
}

/** The reason for which the service refuses the use. Undefined for other errors, such as a missing role. */
export function readReason(error: unknown): RefusalReason | undefined {
  if (!(error instanceof ApiError)) return undefined
  if (error.code === 'no_uses_left') return 'used'
  const { current_status } = error.problem as { current_status?: string }
  return error.code === 'purchase_not_usable' ? reasons[current_status ?? ''] : undefined
}

const running = new Set<string>()

/**
 * Uses the ticket of a scan, and repeats the call with the same key until the service answers. Returns the scan with its
 * outcome. Throws errors that are no answer about the ticket.
 */
export async function redeem(scan: Scan, { send, isUnanswered, pause, onWait }: Options): Promise<Scan> {
  running.add(scan.id)
  try {
    for (let tries = 1; ; tries++)
      try {
        const { use, usedAt } = await send(scan)
        return settle(scan, { outcome: 'in', use, at: usedAt })
      } catch (error) {
        const reason = readReason(error)
        if (reason) return settle(scan, { outcome: 'refused', reason })
        if (!isUnanswered(error)) {
          // The session is over, perhaps after a call whose answer was lost. The next session sends it again.
          if (!(error instanceof ApiError && error.status === 401)) settle(scan, { outcome: 'failed' })
          throw error
        }
        if (tries === 1) onWait?.()
        await pause()
      }
  } finally {
    running.delete(scan.id)
  }
}

function settle(scan: Scan, change: Partial<Scan>): Scan {
  changeScan(scan.id, change)
  return { ...scan, ...change }
}

/** The scans that wait for an answer and that nothing repeats, such as after the page was loaded again. */
export const listForgotten = (): readonly Scan[] =>
  readScans().filter(({ id, outcome }) => outcome === 'waiting' && !running.has(id))
