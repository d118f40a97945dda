import { normalizeEmail, normalizePhone } from '../accounts/users.ts'
import { sha256, toHex } from '../text/encoding.ts'
import { dayMs } from '../time/instants.ts'
import type { Channel } from './messaging.ts'

export const suppressionReasons = ['unsubscribed', 'complaint', 'hard_bounce', 'invalid'] as const
export type SuppressionReason = (typeof suppressionReasons)[number]

export const maxSuppressionDetailLength = 500

/** The form in which addresses are suppressed. Null: the text is no address of the channel. */
export const normalizeAddress = (channel: Channel, text: string): string | null =>
  channel === 'email' ? normalizeEmail(text) : normalizePhone(text, null)

/** These reasons stop all messages to an address. The others stop marketing only. */
export const deadAddressReasons = ['hard_bounce', 'invalid'] as const satisfies readonly SuppressionReason[]

export const isDeadAddress = (reason: string): boolean => deadAddressReasons.some((deadReason) => deadReason === reason)

/** An address with this many soft bounces within `softBounceMemoryMs` is suppressed. */
export const softBouncesUntilDead = 3
export const softBounceMemoryMs = 14 * dayMs

export interface ChannelAddress {
  channel: Channel
  address: string
}

export interface SuppressedAddress extends ChannelAddress {
  organization_id: string
}

/** Hashes a suppressed address. The hash replaces the address when its customer is erased. */
export const hashAddress = async (organizationId: string, { channel, address }: ChannelAddress): Promise<string> =>
  toHex(await sha256(`suppression\0${organizationId}\0${channel}\0${address}`))
