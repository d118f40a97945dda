import { dayMs } from '../../../time/instants.ts'
import { findInstant, readWallClock } from '../../../time/time-zones.ts'

const weekMs = 7 * dayMs
const maxKept = 5000

/** Offsets by instant, kept from call to call: asking the platform for every row takes too long. */
class ZoneOffsets {
  readonly #zone: string
  readonly #offsets = new Map<number, number>()

  constructor(zone: string) {
    this.#zone = zone
  }

  at(instant: number): number {
    const known = this.#offsets.get(instant)
    if (known !== undefined) return known
    const { offset } = readWallClock(this.#zone, instant)
    if (this.#offsets.size >= maxKept) this.#offsets.clear()
    this.#offsets.set(instant, offset)
    return offset
  }

  /** The offset around a local time if the clocks are not changed near it: no zone changes them twice in three weeks. */
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

function offsetsOf(timeZone: string): ZoneOffsets {
  const known = zones.get(timeZone)
  if (known) return known
  if (zones.size >= maxZones) zones.clear()
  const made = new ZoneOffsets(timeZone)
  zones.set(timeZone, made)
  return made
}

/**
 * The instants of a zone's local times, as `findInstant` answers them: the first of two, null for one that daylight
 * saving skips.
 */
export function localTimesOf(timeZone: string): (wall: number) => number | null {
  const offsets = offsetsOf(timeZone)
  return (wall) => {
    const offset = offsets.steady(wall)
    return offset === null ? findInstant(timeZone, wall) : wall - offset
  }
}
