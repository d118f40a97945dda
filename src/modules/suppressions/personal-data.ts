import { type SQL, sql } from 'drizzle-orm'
import type { Statement } from '../../db/database.ts'
import { suppressions } from '../../db/schema/consents.ts'
import { softBounces } from '../../db/schema/messaging/campaigns.ts'
import { remove } from '../../db/write.ts'
import { hashAddress, type ChannelAddress } from '../../domain/messaging/suppressions.ts'

/** Addresses with their hashes, as one bound value: `[[channel, address, hash]]`. */
async function hashAddresses(organizationId: string, addresses: readonly ChannelAddress[]): Promise<string> {
  const rows = addresses.map(async (one) => [one.channel, one.address, await hashAddress(organizationId, one)])
  return JSON.stringify(await Promise.all(rows))
}

/** Whether addresses of erased customers are suppressed. */
export const hasSuppressionHashes = (organizationId: string): SQL =>
  sql`exists (select 1 from suppression_hashes where organization_id = ${organizationId})`

/** Statements that suppress addresses again whose hashes an erased customer left. */
export async function restoreSuppressions(
  organizationId: string,
  addresses: readonly ChannelAddress[],
): Promise<Statement[]> {
  if (addresses.length === 0) return []
  const given = await hashAddresses(organizationId, addresses)
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

/** The given addresses that no other customer of the organisation has. Several customers may share a number. */
const selectUnsharedAddresses = (organizationId: string, userId: string, given: string): SQL =>
  sql`select value ->> 0 as channel, value ->> 1 as address, value ->> 2 as hash from json_each(${given})
    where not exists (select 1 from users as others where others.organization_id = ${organizationId}
      and others.id <> ${userId} and case value ->> 0 when 'email' then others.email = value ->> 1
        else others.phone_number = value ->> 1 end)`

/** Statements that replace a customer's own suppressed addresses by their hashes. */
export async function hashSuppressions(
  { organization_id, user_id }: { organization_id: string; user_id: string },
  addresses: readonly ChannelAddress[],
): Promise<Statement[]> {
  if (addresses.length === 0) return []
  const own = selectUnsharedAddresses(organization_id, user_id, await hashAddresses(organization_id, addresses))
  const isOwn = sql`organization_id = ${organization_id} and (channel, address) in (select channel, address from (${own}))`
  return [
    sql`insert into suppression_hashes (organization_id, channel, address_hash, reason, created_at)
      select suppressions.organization_id, suppressions.channel, own.hash, suppressions.reason, suppressions.created_at
      from (${own}) as own cross join suppressions on suppressions.organization_id = ${organization_id}
        and suppressions.channel = own.channel and suppressions.address = own.address
      where true on conflict do nothing`,
    remove(suppressions, isOwn),
    remove(softBounces, isOwn),
  ]
}

/** The suppressions and bounces of a customer. `isOwn` holds for a `channel` and `address` of the customer. */
export const buildSuppressionSections = (organizationId: string, isOwn: SQL) => [
  {
    name: 'suppressions',
    columns: sql`channel, address, reason, detail, campaign_id, created_at`,
    from: sql`suppressions`,
    where: sql`organization_id = ${organizationId} and ${isOwn}`,
    key: sql`channel || ' ' || address`,
  },
  {
    name: 'bounces',
    columns: sql`channel, address, reference, bounced_at`,
    from: sql`soft_bounces`,
    where: sql`organization_id = ${organizationId} and ${isOwn}`,
    key: sql`reference`,
  },
]
