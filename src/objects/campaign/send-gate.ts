import { findWindowState, type SendWindow, type WindowState } from '../../domain/campaigns/send-window.ts'
import type { RunChanges } from '../../domain/campaigns/sender.ts'
import { type ChunkStore } from './chunk-store.ts'
import type { RecipientStore } from './recipient-store.ts'
import { type CampaignRecord, readSendWindow } from './schema.ts'

/** The state of a window that was computed last, which holds until it changes. */
interface ComputedState extends WindowState {
  window: string
  timezone: string
  computedAt: number
}

/** A campaign that is held looks this often whether it is released. */
const heldLookMs = 20_000

/**
 * Decides when a campaign hands out chunks: not while it is paused or the operator holds all that goes out, and only in
 * its send window.
 */
export class SendGate {
  readonly #store: RecipientStore
  readonly #chunks: ChunkStore
  readonly #isHeld: boolean
  #computedState: ComputedState | null = null

  constructor(store: RecipientStore, chunks: ChunkStore, isHeld: boolean) {
    this.#store = store
    this.#chunks = chunks
    this.#isHeld = isHeld
  }

  /**
   * Finds until when no chunk is handed out at least: 0 while chunks are, and infinity while the campaign is paused. While
   * it is held, it looks again after a while.
   */
  findEnd(record: CampaignRecord, now: number): number {
    if (record.paused_at !== null) return Number.POSITIVE_INFINITY
    return this.#isHeld ? now + heldLookMs : this.#findOpening(record, now)
  }

  /** Finds when the window opens: 0 if it is open. */
  #findOpening(record: CampaignRecord, now: number): number {
    const state = this.#findWindowState(record, now)
    return state === null || state.isOpen ? 0 : state.changesAt
  }

  /** Finds when the window opens or closes next. Null: it does not matter, because there is none or nothing is sent. */
  findWindowChange(record: CampaignRecord, now: number): number | null {
    if (this.#isHeld || record.paused_at !== null || record.status !== 'sending') return null
    return this.#findWindowState(record, now)?.changesAt ?? null
  }

  #findWindowState({ send_window, timezone }: CampaignRecord, now: number): WindowState | null {
    if (send_window === null) return null
    const state = this.#computedState
    const isCurrent = state?.window === send_window && state.timezone === timezone
    if (state && isCurrent && state.computedAt <= now && now < state.changesAt) return state
    const window: SendWindow = readSendWindow(send_window)
    this.#computedState = {
      ...findWindowState(window, timezone, now),
      window: send_window,
      timezone,
      computedAt: now,
    }
    return this.#computedState
  }

  /** Notes whether a campaign that is sending waits for its release or for its window. */
  update(now: number): void {
    const record = this.#store.readRecord()
    if (record?.status !== 'sending' || record.paused_at !== null) return
    if (this.#isHeld !== (record.held_since !== null)) {
      this.#endWait(record.held_since ?? record.window_waiting_since, now)
      if (this.#isHeld) this.#store.changeRecord({ held_since: now })
    }
    if (!this.#isHeld) this.#updateWindow(now)
  }

  #updateWindow(now: number): void {
    const record = this.#store.readRecord()
    if (!record || (record.send_window === null && record.window_opens_at === null)) return
    const window_opens_at = this.#findOpening(record, now) || null
    if (window_opens_at === record.window_opens_at) return
    if (window_opens_at === null) this.#endWait(record.window_waiting_since, now)
    else this.#store.changeRecord({ window_opens_at, window_waiting_since: record.window_waiting_since ?? now })
  }

  /** The time of a wait does not count as time in which temporary faults are tried again. */
  #endWait(since: number | null, now: number): void {
    if (since !== null) this.#chunks.postponeFirstTries(now - since)
    this.#store.changeRecord({ held_since: null, window_opens_at: null, window_waiting_since: null })
  }

  /** Changes what decides when a campaign that is running hands out chunks. */
  change({ is_paused, send_window }: RunChanges, now: number): void {
    const record = this.#store.readRecord()
    if (!record) return
    if (send_window) {
      const { timezone } = send_window
      const window = send_window.window && JSON.stringify(send_window.window)
      if (window !== record.send_window || timezone !== record.timezone)
        this.#store.changeRecord({ send_window: window, timezone })
    }
    if (is_paused === true && record.paused_at === null) {
      this.#endWait(record.held_since ?? record.window_waiting_since, now)
      this.#store.changeRecord({ paused_at: now })
    }
    if (is_paused === false && record.paused_at !== null) {
      this.#endWait(record.paused_at, now)
      this.#store.changeRecord({ paused_at: null })
    }
    this.update(now)
  }
}
