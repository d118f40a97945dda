import { sha256, toHex } from '../text/encoding.ts'
import { dayMs } from '../time/instants.ts'
import type { Channel } from './messaging.ts'

export const suppressionReasons = ['unsubscribed', 'complaint', 'hard_bounce', 'invalid'] as const
export type SuppressionReason = (typeof suppressionReasons)[number]

/** Reasons that stop all messages to an address. The other reasons stop marketing only. */
export const deadAddressReasons = ['hard_bounce', 'invalid'] as const satisfies readonly SuppressionReason[]

export const isDeadAddress = (reason: string): boolean => deadAddressReasons.some((one) => one === reason)

/** The number of soft bounces, and the days, after which an address is suppressed. */
export const softBouncesUntilDead = 3
export const softBounceMemoryMs = 14 * dayMs

export interface ChannelAddress {
  channel: Channel
  address: string
}

export interface SuppressedAddress extends ChannelAddress {
  organization_id: string
}

/** Replaces a suppressed address once its customer is erased. */
export const hashAddress = async (organizationId: string, { channel, address }: ChannelAddress): Promise<string> =>
  toHex(await sha256(`suppression\0${organizationId}\0${channel}\0${address}`))
