import { withTimeLimit } from '../time-limit/time-limit.ts'

const failureCacheMs = 60_000
const timeLimitMs = 5000
const maxUrls = 100

/** URLs that failed recently, and until when they are not called again, in this isolate. */
const failures = new Map<string, { until: number; cause: unknown }>()

/** The identity provider sent an invalid response, or none. */
export class ProviderFailure extends Error {
  /** Milliseconds until the provider is called again. */
  readonly waitMs: number

  constructor(waitMs: number, cause: unknown) {
    super('The identity provider does not answer as it should.', { cause })
    this.waitMs = waitMs
  }
}

/**
 * Fetches JSON that must satisfy `isExpected`. A URL that failed is not called again for a minute, so that a provider
 * that hangs delays only the requests of the first seconds.
 */
export async function fetchWithFailureCache<Value>(
  url: string,
  isExpected: (json: unknown) => json is Value,
): Promise<Value> {
  const failure = failures.get(url)
  if (failure && failure.until > Date.now()) throw new ProviderFailure(failure.until - Date.now(), failure.cause)
  // One request calls again, and the others keep failing in the meantime.
  if (failure) failures.set(url, { ...failure, until: Date.now() + timeLimitMs })
  try {
    const json = await withTimeLimit(timeLimitMs, async (signal) => {
      const response = await fetch(url, { signal, redirect: 'manual' })
      if (!response.ok) throw new Error(`The identity provider answered ${response.status}.`)
      return response.json()
    })
    if (!isExpected(json)) throw new Error('The identity provider sent unexpected JSON.')
    failures.delete(url)
    return json
  } catch (cause) {
    if (failures.size >= maxUrls) failures.clear()
    failures.set(url, { until: Date.now() + failureCacheMs, cause })
    throw new ProviderFailure(failureCacheMs, cause)
  }
}
