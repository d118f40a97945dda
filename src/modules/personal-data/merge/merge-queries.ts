import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { editionCustomers } from '../../../db/schema/customers.ts'
import { decodeAs, fromJson, type RowOf } from '../../../db/select.ts'
import { listNumberForms } from '../../../domain/accounts/users.ts'
import { AppError } from '../../../domain/errors.ts'
import { isImporting } from '../../data-imports/index.ts'
import { isInRunningAudience } from '../../segments/index.ts'
import type { LoadedUser } from '../../users/index.ts'
import { listAddresses } from '../queries.ts'

/** The customer who stays, and the one who is merged into them. */
export interface UserPair {
  own: LoadedUser
  other: LoadedUser
}

export type EditionRow = typeof editionCustomers.$inferSelect

/** The numbers of rows that a merge moves. */
export interface MovedCounts {
  orders: number
  purchases: number
  refunds: number
  wallet_passes: number
  consent_records: number
  emails: number
  campaigns: number
  editions: number
}

const countRows = (table: string, otherId: string): SQL =>
  sql`(select count(*) from ${sql.raw(table)} where user_id = ${otherId})`

/** Counts what belongs to the other customer. */
const selectCounts = ({ other }: UserPair): SQL => sql`json_object(
  'orders', ${countRows('orders', other.id)},
  'purchases', ${countRows('purchases', other.id)},
  'refunds', ${countRows('refund_requests', other.id)},
  'wallet_passes', (select count(*) from wallet_passes
    where purchase_id in (select id from purchases where user_id = ${other.id})),
  'consent_records', ${countRows('consent_records', other.id)},
  'emails', ${countRows('transactional_emails', other.id)},
  'campaigns', ${countRows('campaign_receipts', other.id)},
  'editions', (select count(*) from edition_customers where user_seq = ${other.seq}))`

/** Everything that a merge is decided by. It differs when anything of it has changed. */
export const selectFingerprint = (pair: UserPair): SQL => {
  const { own, other } = pair
  return sql`json_array(${selectCounts(pair)},
    (select json_group_array(json_array(seq, edition_id, user_seq, email, phone_number, first_name, last_name, locale,
        metadata, created_at))
      from (select * from edition_customers where user_seq in (${own.seq}, ${other.seq}) order by seq)),
    (select json_group_array(record_hash) from (select record_hash from consent_records
      where user_id in (${own.id}, ${other.id}) order by user_id, consent_id, number)))`
}

/** True if an import or an undo is writing about the customer, or a campaign is sending to them. */
export const selectBusyReason = (pair: UserPair, person: LoadedUser, addresses: BusyAddresses): SQL =>
  sql`(select case when ${isInRunningAudience(sql`u`)} then 'campaign'
      when ${isImporting(pair.own.organization_id, person.id, addresses)} then 'import' end
    from users u where u.id = ${person.id})`

/** The addresses of a customer as files write them. */
export interface BusyAddresses {
  emails: readonly string[]
  /** The digits of phone numbers, without their country codes. */
  digits: readonly string[]
}

export async function listBusyAddresses(ctx: Ctx, user: LoadedUser): Promise<BusyAddresses> {
  const addresses = await listAddresses(ctx, user)
  const listOf = (channel: string) => addresses.flatMap(([other, address]) => (other === channel ? [address] : []))
  return {
    emails: listOf('email'),
    digits: listOf('sms').flatMap((number) => listNumberForms(number).at(-1) ?? []),
  }
}

const busyDetails = {
  campaign: 'A campaign is being sent to one of these customers.',
  import: 'An import is writing about one of these customers.',
} as const

const factFields = {
  fingerprint: sql<string>`fingerprint`,
  counts: fromJson<MovedCounts>(sql`counts`),
  own_busy: sql<keyof typeof busyDetails | null>`own_busy`,
  other_busy: sql<keyof typeof busyDetails | null>`other_busy`,
}

export interface MergeFacts {
  counts: MovedCounts
  fingerprint: string
  isBusy: SQL
  ownEditions: readonly EditionRow[]
  otherEditions: readonly EditionRow[]
  /** Campaigns that both got. */
  campaigns: readonly string[]
}

/** Loads what a merge moves. Throws while one of the two is being imported or sent to. */
export async function loadMergeFacts(ctx: Ctx, pair: UserPair): Promise<MergeFacts> {
  const { own, other } = pair
  const ownBusy = selectBusyReason(pair, own, await listBusyAddresses(ctx, own))
  const otherBusy = selectBusyReason(pair, other, await listBusyAddresses(ctx, other))
  const [[facts], editions, campaigns] = await ctx.db.batch([
    decodeAs(
      factFields,
      sql<RowOf<typeof factFields>>`select ${selectFingerprint(pair)} as fingerprint, ${selectCounts(pair)} as counts,
        ${ownBusy} as own_busy, ${otherBusy} as other_busy`,
    ),
    decodeAs(
      getTableColumns(editionCustomers),
      sql<EditionRow>`select * from edition_customers where user_seq in (${own.seq}, ${other.seq}) order by seq`,
    ),
    sql<{ campaign_id: string }>`select campaign_id from campaign_receipts as own where user_id = ${own.id}
      and exists (select 1 from campaign_receipts where user_id = ${other.id} and campaign_id = own.campaign_id)
      order by campaign_id`,
  ])
  if (!facts) throw new Error('The facts of a merge are one row.')
  const { own_busy, other_busy } = facts
  const reason = own_busy ?? other_busy
  if (reason)
    throw new AppError('user_busy', busyDetails[reason], {
      extra: { reason, user_id: own_busy ? own.id : other.id },
    })
  return {
    ...facts,
    isBusy: sql`(${ownBusy} is not null or ${otherBusy} is not null)`,
    ownEditions: editions.filter(({ user_seq }) => user_seq === own.seq),
    otherEditions: editions.filter(({ user_seq }) => user_seq === other.seq),
    campaigns: campaigns.map(({ campaign_id }) => campaign_id),
  }
}
