import { withTimeLimit } from '../time-limit/time-limit.ts'

const failureCacheMs = 60_000
const timeLimitMs = 5000
const mostAddresses = 100

/**
 * Addresses that failed lately, with the time until which they are not called again. Shared by the requests of this
 * isolate.
 */
const failing = new Map<string, { until: number; cause: unknown }>()

/** The identity provider gave an invalid answer, or none. */
export class ProviderFailure extends Error {
  /** Milliseconds until the next call of the provider. */
  readonly waitMs: number

  constructor(waitMs: number, cause: unknown) {
    super('The identity provider does not answer as it should.', { cause })
    this.waitMs = waitMs
  }
}

/**
 * The JSON behind an address, when it is what `isWanted` says. After a failure it is not called again for a minute, so
 * that a provider that hangs holds up the requests of its first seconds alone.
 */
export async function fetchWithFailureCache<Wanted>(
  url: string,
  isWanted: (json: unknown) => json is Wanted,
): Promise<Wanted> {
  const known = failing.get(url)
  if (known && known.until > Date.now()) throw new ProviderFailure(known.until - Date.now(), known.cause)
  // One request calls again; the others do not wait for it.
  if (known) failing.set(url, { ...known, until: Date.now() + timeLimitMs })
  try {
    const json = await withTimeLimit(timeLimitMs, async (signal) => {
      const response = await fetch(url, { signal, redirect: 'manual' })
      if (!response.ok) throw new Error(`The identity provider answered ${response.status}.`)
      return response.json()
    })
    if (!isWanted(json)) throw new Error('The identity provider answered something else.')
    failing.delete(url)
    return json
  } catch (cause) {
    if (failing.size >= mostAddresses) failing.clear()
    failing.set(url, { until: Date.now() + failureCacheMs, cause })
    throw new ProviderFailure(failureCacheMs, cause)
  }
}
