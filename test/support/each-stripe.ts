import { afterEach, beforeEach, vi } from 'vitest'
import { createFakeStripe, type FakeStripe, serveStripe } from './fake-stripe.ts'
import { clearDueRefunds } from './refund-payments.ts'

/** Gives each test of a file a Stripe of its own, and no refunds that earlier tests left due. */
export function serveStripeToEachTest(take: (fake: FakeStripe, network: ReturnType<typeof serveStripe>) => void): void {
  beforeEach(async () => {
    await clearDueRefunds()
    const fake = createFakeStripe()
    take(fake, serveStripe(fake))
  })
  afterEach(() => vi.restoreAllMocks())
}
