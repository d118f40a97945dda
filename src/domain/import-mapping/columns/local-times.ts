import { dayMs } from '../../instants.ts'
import { instantOfWallClock, wallClockAt } from '../../time-zones.ts'

const maxDays = 4000

/**
 * The instants of a zone's local times, as `instantOfWallClock` answers them: the first of two, null for one that daylight
 * saving skips. Keeps what it found of each day, because asking the platform for every row takes too long.
 */
export function localTimesOf(timeZone: string): (wall: number) => number | null {
  const offsets = new Map<number, number | null>()
  return (wall) => {
    const day = Math.floor(wall / dayMs)
    let offset = offsets.get(day)
    if (offset === undefined) {
      const before = wallClockAt(timeZone, (day - 1) * dayMs).offset
      // Clocks that stand the same a day before and a day after were not changed between.
      offset = before === wallClockAt(timeZone, (day + 2) * dayMs).offset ? before : null
      if (offsets.size < maxDays) offsets.set(day, offset)
    }
    return offset === null ? instantOfWallClock(timeZone, wall) : wall - offset
  }
}
