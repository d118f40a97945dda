/** Reads the milliseconds by which the zone is ahead of UTC at the instant. */
function readOffset(at: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at)
  const read = (type: string) => Number(parts.find((part) => part.type === type)?.value)
  const local = Date.UTC(read('year'), read('month') - 1, read('day'), read('hour'), read('minute'), read('second'))
  return local - Math.floor(at / 1000) * 1000
}

/** The instant of a local time such as `2026-06-01T10:00`. A time that the change to summer skips is read an hour later. */
export function toInstant(local: string, timeZone: string): string {
  const asUtc = new Date(`${local}Z`).getTime()
  const guess = asUtc - readOffset(asUtc, timeZone)
  return new Date(asUtc - readOffset(guess, timeZone)).toISOString()
}

/** The local time of an instant, as fields of the type `datetime-local` write it. */
export function toLocal(at: string, timeZone: string): string {
  const time = new Date(at).getTime()
  return new Date(time + readOffset(time, timeZone)).toISOString().slice(0, 16)
}

export const toDay = (at: string, timeZone: string): string => toLocal(at, timeZone).slice(0, 10)
export const dayStart = (day: string, timeZone: string): string => toInstant(`${day}T00:00`, timeZone)
export const dayEnd = (day: string, timeZone: string): string => toInstant(`${day}T23:59:59.999`, timeZone)
