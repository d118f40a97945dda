import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildEditionColumn, buildOrganizationView } from '../../db/customers.ts'
import { managers, mayAt } from '../../domain/accounts/access.ts'
import type { Contact } from '../../domain/accounts/users.ts'
import { hashAddress, type SuppressionReason } from '../../domain/messaging/suppressions.ts'
import { selectHashedSuppression } from '../suppressions/index.ts'
import { selectTestTimes } from '../transactional-emails/index.ts'

export { findAuthorizedCampaign, presentCampaign } from '../campaigns/index.ts'
export { findMessage, presentMessage } from '../email-messages/index.ts'

/** The owner of a tested message. `edition_id` is null for a template of the organisation. */
export interface TestPlace {
  organization_id: string
  edition_id: string | null
}

export type ExampleCustomer = Contact & { seq: number; locale: string }

/**
 * Selects a customer as the roles that may send tests see them: as the organisation knows them, or, for a role of the
 * edition, as the edition does.
 */
function selectExample(ctx: Ctx, { organization_id, edition_id }: TestPlace, userId: string | null) {
  const user = sql`users`
  const isFull = mayAt(ctx.caller, managers, { organization_id, editions: [] })
  const view = buildOrganizationView(user)
  const join = isFull
    ? sql``
    : sql`join edition_customers as edition_contact on edition_contact.user_seq = users.seq
        and edition_contact.edition_id = ${edition_id}`
  const column = (name: 'email' | 'first_name' | 'last_name' | 'locale' | 'phone_number') =>
    isFull ? view.column(name) : buildEditionColumn(name, sql`edition_contact`, user)
  return sql<ExampleCustomer>`select users.seq, ${column('email')} as email, ${column('phone_number')} as phone_number,
      ${column('first_name')} as first_name, ${column('last_name')} as last_name, ${column('locale')} as locale
    from users ${join}
    where users.id = ${userId} and users.organization_id = ${organization_id} and users.erased_at is null`
}

/** Selects which of the addresses belong to members who have a role in the place. */
const selectMembers = ({ organization_id, edition_id }: TestPlace, addresses: readonly string[]) =>
  sql<{ email: string }>`select distinct accounts.email
    from accounts join members on members.organization_id = ${organization_id} and members.account_id = accounts.id
      and (members.edition_id is null or members.edition_id = ${edition_id})
    where accounts.email in (select value from json_each(${JSON.stringify(addresses)}))`

async function selectSuppressed({ organization_id }: TestPlace, addresses: readonly string[]) {
  const hashedAddresses = await Promise.all(
    addresses.map(async (address) => ({
      organization_id,
      address,
      address_hash: await hashAddress(organization_id, { channel: 'email', address }),
    })),
  )
  const selects = hashedAddresses.map(
    (hashedAddress) => sql`(${hashedAddress.address}, ${selectHashedSuppression('reason', hashedAddress)})`,
  )
  return sql<{ address: string; reason: SuppressionReason | null }>`select column1 as address, column2 as reason
    from (values ${sql.join(selects, sql`, `)}) where column2 is not null`
}

interface TestRequest {
  addresses: readonly string[]
  userId: string | null
}

/** Loads everything that decides who gets the test, and whose data it shows. */
export async function loadTestFacts(ctx: Ctx, place: TestPlace, { addresses, userId }: TestRequest) {
  const { organization_id, edition_id } = place
  const [members, suppressedAddresses, times, [example], [archivedEdition]] = await ctx.db.batch([
    selectMembers(place, addresses),
    await selectSuppressed(place, addresses),
    selectTestTimes(organization_id, ctx.now()),
    selectExample(ctx, place, userId),
    sql`select 1 from editions where id = ${edition_id} and is_archived = 1`,
  ])
  return {
    members: new Set(members.map(({ email }) => email)),
    suppressions: new Map(suppressedAddresses.map(({ address, reason }) => [address, reason])),
    times: times.map(({ created_at }) => created_at),
    example,
    isArchived: archivedEdition !== undefined,
  }
}
