import { sql } from 'drizzle-orm'
import type { Statement } from '../../db/database.ts'
import { sha256, toHex } from '../../domain/encoding.ts'
import type { Channel } from '../../domain/messaging.ts'

export interface ChannelAddress {
  channel: Channel
  address: string
}

/** Addresses with their hashes, as one bound value: `[[channel, address, hash]]`. */
export async function hashedAddresses(organizationId: string, addresses: readonly ChannelAddress[]): Promise<string> {
  const rows = addresses.map(async ({ channel, address }) => [
    channel,
    address,
    toHex(await sha256(`suppression\0${organizationId}\0${channel}\0${address}`)),
  ])
  return JSON.stringify(await Promise.all(rows))
}

/** Statements that suppress those addresses again of which an erased customer left no more than a hash. */
export async function restoredSuppressions(
  organizationId: string,
  addresses: readonly ChannelAddress[],
): Promise<Statement[]> {
  if (addresses.length === 0) return []
  const given = await hashedAddresses(organizationId, addresses)
  return [
    sql`insert into suppressions (organization_id, channel, address, reason, created_at)
      select hashes.organization_id, hashes.channel, given.value ->> 1, hashes.reason, hashes.created_at
      from json_each(${given}) given cross join suppression_hashes as hashes
        on hashes.organization_id = ${organizationId} and hashes.channel = given.value ->> 0
        and hashes.address_hash = given.value ->> 2
      where true on conflict do nothing`,
    sql`delete from suppression_hashes where organization_id = ${organizationId}
      and (channel, address_hash) in (select value ->> 0, value ->> 2 from json_each(${given}))`,
  ]
}
