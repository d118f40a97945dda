import { type SQL, sql } from 'drizzle-orm'
import type { Statement } from '../../db/database.ts'
import { suppressions, softBounces } from '../../db/schema/suppressions.ts'
import { remove } from '../../db/write.ts'
import { hashAddress, type ChannelAddress } from '../../domain/messaging/suppressions.ts'

/** Hashes addresses. Returns JSON, as one bound value: `[[channel, address, hash]]`. */
async function hashAddresses(organizationId: string, addresses: readonly ChannelAddress[]): Promise<string> {
  const rows = addresses.map(async (address) => [
    address.channel,
    address.address,
    await hashAddress(organizationId, address),
  ])
  return JSON.stringify(await Promise.all(rows))
}

/** Holds when addresses of erased customers are suppressed. */
export const hasSuppressionHashes = (organizationId: string): SQL =>
  sql`exists (select 1 from suppression_hashes where organization_id = ${organizationId})`

/** Builds the statements that suppress addresses again when they belonged to an erased customer. */
export async function restoreSuppressions(
  organizationId: string,
  addresses: readonly ChannelAddress[],
): Promise<Statement[]> {
  if (addresses.length === 0) return []
  const hashedAddresses = await hashAddresses(organizationId, addresses)
  return [
    sql`insert into suppressions (organization_id, channel, address, reason, created_at)
      select hashes.organization_id, hashes.channel, address.value ->> 1, hashes.reason, hashes.created_at
      from json_each(${hashedAddresses}) address cross join suppression_hashes as hashes
        on hashes.organization_id = ${organizationId} and hashes.channel = address.value ->> 0
        and hashes.address_hash = address.value ->> 2
      where true on conflict do nothing`,
    sql`delete from suppression_hashes where organization_id = ${organizationId}
      and (channel, address_hash) in (select value ->> 0, value ->> 2 from json_each(${hashedAddresses}))`,
  ]
}

/** Selects the addresses that no other customer of the organisation has. Several customers may share a phone number. */
const selectUnsharedAddresses = (organizationId: string, userId: string, hashedAddresses: string): SQL =>
  sql`select value ->> 0 as channel, value ->> 1 as address, value ->> 2 as hash from json_each(${hashedAddresses})
    where not exists (select 1 from users as others where others.organization_id = ${organizationId}
      and others.id <> ${userId} and case value ->> 0 when 'email' then others.email = value ->> 1
        else others.phone_number = value ->> 1 end)`

/**
 * Builds the statements that replace a customer's suppressed addresses by their hashes, unless another customer has
 * them.
 */
export async function hashSuppressions(
  { organization_id, user_id }: { organization_id: string; user_id: string },
  addresses: readonly ChannelAddress[],
): Promise<Statement[]> {
  if (addresses.length === 0) return []
  const unsharedAddresses = selectUnsharedAddresses(
    organization_id,
    user_id,
    await hashAddresses(organization_id, addresses),
  )
  const isUnshared = sql`organization_id = ${organization_id}
    and (channel, address) in (select channel, address from (${unsharedAddresses}))`
  return [
    sql`insert into suppression_hashes (organization_id, channel, address_hash, reason, created_at)
      select suppressions.organization_id, suppressions.channel, unshared.hash, suppressions.reason, suppressions.created_at
      from (${unsharedAddresses}) as unshared cross join suppressions on suppressions.organization_id = ${organization_id}
        and suppressions.channel = unshared.channel and suppressions.address = unshared.address
      where true on conflict do nothing`,
    remove(suppressions, isUnshared),
    remove(softBounces, isUnshared),
  ]
}

/** Builds the sections of an export with a customer's suppressions and bounces. `isOwn` holds for their addresses. */
export const buildSuppressionSections = (organizationId: string, isOwn: SQL) => [
  {
    name: 'suppressions' as const,
    columns: sql`channel, address, reason, detail, campaign_id, created_at`,
    from: sql`suppressions`,
    where: sql`organization_id = ${organizationId} and ${isOwn}`,
    key: sql`channel || ' ' || address`,
  },
  {
    name: 'bounces' as const,
    columns: sql`channel, address, reference, bounced_at`,
    from: sql`soft_bounces`,
    where: sql`organization_id = ${organizationId} and ${isOwn}`,
    key: sql`reference`,
  },
]
