import { type Clock, readSharedTime } from '../../domain/time/instants.ts'
import type { VerifiedIdentity } from '../../gateways/identity/identity.ts'

/** When the person signed in at the identity provider, on the clock of this service. Null: the provider does not say it. */
export function computeSignInTime(clock: Clock, { authenticated_at }: VerifiedIdentity): number | null {
  if (authenticated_at === null) return null
  return clock.now() - Math.max(0, readSharedTime(clock) - authenticated_at)
}
