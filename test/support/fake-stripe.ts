import { vi } from 'vitest'
import type { FakeStripe } from '../../scripts/support/fake-stripe.ts'

export * from '../../scripts/support/fake-stripe.ts'

const hanging = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

/** Routes calls of Stripe's API to the fake. Restore all mocks afterwards. */
export function serveStripe(fake: FakeStripe, base = 'https://api.stripe.com') {
  const network = globalThis.fetch
  return vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    if (!request.url.startsWith(`${base}/`)) return network(input, init)
    const answer = await fake.respond(request)
    if (answer === 'cut') throw new TypeError('Network connection lost.')
    if (answer === 'hang') return hanging(request.signal)
    return Response.json(answer.body, { status: answer.status })
  })
}
