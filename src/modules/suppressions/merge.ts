import { sql } from 'drizzle-orm'
import type { Statement } from '../../db/database.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import { replaceWeakerReason } from './change.ts'

/** An address of a customer, and the one at which they are reached from now on. */
export interface ReplacedAddress {
  organization_id: string
  channel: Channel
  address: string
  new_address: string
}

/**
 * Somebody who unsubscribed or complained gets no marketing at another address either, unless they agreed to marketing
 * later than they unsubscribed. What is known of a mailbox, such as a bounce, stays with its address.
 */
export const suppressNewAddress = (
  { organization_id, channel, address, new_address }: ReplacedAddress,
  marketingGivenAt: number,
): Statement =>
  sql`insert into suppressions (organization_id, channel, address, reason, detail, campaign_id, created_at)
    select organization_id, channel, ${new_address}, reason, detail, campaign_id, created_at from suppressions
    where organization_id = ${organization_id} and channel = ${channel} and address = ${address}
      and (reason = 'complaint' or (reason = 'unsubscribed' and created_at >= ${marketingGivenAt}))
    ${replaceWeakerReason}`
