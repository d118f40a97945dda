import { dayMs } from '../../../time/instants.ts'
import { findInstant, readWallClock } from '../../../time/time-zones.ts'

const weekMs = 7 * dayMs
const maxKept = 5000

/** Offsets are cached, because asking the platform for every row takes too long. */
class ZoneOffsets {
  readonly #zone: string
  readonly #offsets = new Map<number, number>()

  constructor(zone: string) {
    this.#zone = zone
  }

  at(instant: number): number {
    const cachedOffset = this.#offsets.get(instant)
    if (cachedOffset !== undefined) return cachedOffset
    const { offset } = readWallClock(this.#zone, instant)
    if (this.#offsets.size >= maxKept) this.#offsets.clear()
    this.#offsets.set(instant, offset)
    return offset
  }

  /** Null if the clocks change near the time. No zone changes them twice in three weeks. */
  steady(wall: number): number | null {
    const week = Math.floor(wall / weekMs) * weekMs
    const offset = this.at(week)
    if ([week - weekMs, week + weekMs, week + 2 * weekMs].every((instant) => this.at(instant) === offset)) return offset
    const day = Math.floor(wall / dayMs) * dayMs
    const before = this.at(day - dayMs)
    return before === this.at(day + 2 * dayMs) ? before : null
  }
}

const zones = new Map<string, ZoneOffsets>()
const maxZones = 20

function getZoneOffsets(timeZone: string): ZoneOffsets {
  const cachedOffset = zones.get(timeZone)
  if (cachedOffset) return cachedOffset
  if (zones.size >= maxZones) zones.clear()
  const offsets = new ZoneOffsets(timeZone)
  zones.set(timeZone, offsets)
  return offsets
}

/**
 * Returns the first of two possible instants, and null for a local time that daylight saving skips, like
 * `findInstant`.
 */
export function createLocalTimeReader(timeZone: string): (wall: number) => number | null {
  const offsets = getZoneOffsets(timeZone)
  return (wall) => {
    const offset = offsets.steady(wall)
    return offset === null ? findInstant(timeZone, wall) : wall - offset
  }
}
