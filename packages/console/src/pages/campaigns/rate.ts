/** The number of messages that were out at a time. */
export interface Sample {
  at: number
  sent: number
}

const windowMs = 30_000
const minimumMs = 2000

/** Adds a sample, and forgets those that are too old to say how fast sending is now. */
export const addSample = (samples: readonly Sample[], sample: Sample): Sample[] => [
  ...samples.filter(({ at, sent }) => sample.at - at <= windowMs && sent <= sample.sent),
  sample,
]

/** Computes how many messages go out in a second. Null until enough time has passed to tell. */
export function computeRate(samples: readonly Sample[]): number | null {
  const [first, last] = [samples[0], samples.at(-1)]
  if (!first || !last || last.at - first.at < minimumMs) return null
  return ((last.sent - first.sent) * 1000) / (last.at - first.at)
}

/** Computes the seconds until everybody was sent to. Null if nothing moves. */
export const computeTimeLeft = (pending: number, rate: number | null): number | null =>
  rate === null || rate === 0 ? null : Math.ceil(pending / rate)
