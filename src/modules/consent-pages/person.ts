import { and, eq, isNull, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { selectPresentId } from '../../db/customers.ts'
import { users } from '../../db/schema/customers.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { fromJson, select } from '../../db/select.ts'
import { type LinkAddress, findTaggedAddress } from '../../domain/consents/consent-tokens.ts'

/** The person that a link belongs to, and the address that it was sent to. */
export interface LinkedPerson extends LinkAddress {
  id: string
  organization_name: string
  locale: string
}

/** The addresses to which the person gets or got mail and messages, with the channel. */
const currentAddresses = fromJson<[LinkAddress['channel'], string][]>(sql`(
  select json_group_array(json_array(channel, address)) from (
    select 'email' as channel, users.email as address where users.email is not null
    union select 'sms', users.phone_number where users.phone_number is not null
    union select channel, address from earlier_addresses where user_id = users.id))`)

/**
 * Finds the person of a link while the address that it was sent to is still theirs. After a merge it is the customer who
 * took the place of the other one. Returns null for a person who was deleted or erased, or has another address now.
 */
export async function findPerson(
  job: Pick<JobCtx, 'db' | 'config'>,
  { user_id, tag }: { user_id: string; tag: Uint8Array },
): Promise<LinkedPerson | null> {
  const row = await job.db.first(
    select({
      id: users.id,
      organization_id: users.organization_id,
      organization_name: organizations.name,
      locale: users.locale,
      addresses: currentAddresses,
    })
      .from(users)
      .innerJoin(organizations, eq(organizations.id, users.organization_id))
      .where(and(eq(users.id, selectPresentId(sql`${user_id}`)), isNull(users.erased_at))),
  )
  if (!row) return null
  const { id, organization_id, organization_name, locale } = row
  const addresses = row.addresses.map(([channel, address]): LinkAddress => ({ organization_id, channel, address }))
  const address = findTaggedAddress(job.config.linkReadingKeys, tag, addresses)
  return address && { ...address, id, organization_name, locale }
}
