import { type SQL, sql } from 'drizzle-orm'
import { abortUnless, requireChanges, requireOneChange } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { earlierAddresses, userMerges, users } from '../../../db/schema/customers.ts'
import { insert, insertAll, updateVersion } from '../../../db/write.ts'
import { type mergeUserValues, mergeValues } from '../../../domain/accounts/merged-users.ts'
import { buildSearchColumns } from '../../../domain/accounts/users.ts'
import type { Channel } from '../../../domain/messaging/messaging.ts'
import type { ChannelAddress } from '../../../domain/messaging/suppressions.ts'
import { combineEngagement } from '../../campaigns/index.ts'
import { buildConsentMerge, type ConsentMerge } from '../../consents/index.ts'
import { removeFromSegments } from '../../segments/index.ts'
import { suppressNewAddress } from '../../suppressions/index.ts'
import { markSelectedPassesChanged } from '../../wallet/index.ts'
import { type EditionRow, type MergeFacts, selectFingerprint, type UserPair } from './merge-queries.ts'

/** A merge that has been decided. */
export interface MergePlan extends UserPair {
  facts: MergeFacts
  values: ReturnType<typeof mergeUserValues>
  consents: ConsentMerge
  /** Editions that know both, each with the values that it has of the customer from then on. */
  sharedEditions: readonly { own: EditionRow; other: EditionRow; values: EditionRow }[]
  /** The other's addresses at which nothing is sent to the customer. */
  earlierAddresses: readonly ChannelAddress[]
}

/** Pairs what both have in an edition. */
export function mergeEditions({ ownEditions, otherEditions }: MergeFacts): MergePlan['sharedEditions'] {
  return otherEditions.flatMap((other) => {
    const ownRow = ownEditions.find(({ edition_id }) => edition_id === other.edition_id)
    if (!ownRow) return []
    const values = mergeValues(ownRow, other)
    return [{ own: ownRow, other, values: { ...ownRow, ...values, ...buildSearchColumns(values) } }]
  })
}

interface Addresses {
  email: string | null
  phone_number: string | null
}

/** Lists the addresses of the other that are neither the customer's nor an edition's from then on. */
export function listEarlierAddresses(
  { other }: UserPair,
  { email, phone_number }: Addresses,
  sharedEditions: MergePlan['sharedEditions'],
): ChannelAddress[] {
  const rows: Addresses[] = [other, ...sharedEditions.map((edition) => edition.other)]
  const addressesOf = (channel: Channel, present: string | null, listed: readonly (string | null)[]) =>
    [...new Set(listed)].flatMap((address) => (address === null || address === present ? [] : [{ channel, address }]))
  return [
    ...addressesOf(
      'email',
      email,
      rows.map((row) => row.email),
    ),
    ...addressesOf(
      'sms',
      phone_number,
      rows.map((row) => row.phone_number),
    ),
  ]
}

const moveRows = (table: string, { own, other }: UserPair): Statement =>
  sql`update ${sql.raw(table)} set user_id = ${own.id} where user_id = ${other.id}`

/** Tables whose rows name a customer in `user_id` and only have to name the other one. */
export const movedTables = ['orders', 'purchases', 'refund_requests', 'transactional_emails', 'import_orders'] as const

function buildMergeRecord({ own, other, facts }: MergePlan, now: number): Statement[] {
  return [
    sql`update user_merges set into_id = ${own.id} where into_id = ${other.id}`,
    insert(userMerges, {
      id: other.id,
      seq: other.seq,
      organization_id: own.organization_id,
      into_id: own.id,
      edition_ids: facts.otherEditions.map(({ edition_id }) => edition_id),
      merged_at: now,
    }),
  ]
}

const editionColumns = [
  'created_at',
  'email',
  'phone_number',
  'first_name',
  'last_name',
  'metadata',
  'phone_digits',
  'search_text',
] as const satisfies (keyof EditionRow)[]

/** An edition that knows both keeps one row. Its passes may show another name from then on. */
function buildEditionStatements({ own, other, sharedEditions }: MergePlan, now: number): Statement[] {
  const editionIds = JSON.stringify(sharedEditions.map(({ own: row }) => row.edition_id))
  const isShared = sql`edition_id in (select value from json_each(${editionIds}))`
  const rows = JSON.stringify(
    sharedEditions.map(({ values }) => ({ ...values, metadata: JSON.stringify(values.metadata) })),
  )
  const assignments = editionColumns.map((name) => sql.raw(`${name} = item.value ->> '${name}'`))
  const moveOthers = sql`update edition_customers set user_seq = ${own.seq} where user_seq = ${other.seq}`
  if (sharedEditions.length === 0) return [moveOthers]
  return [
    markSelectedPassesChanged(
      sql`select id from purchases indexed by purchases_of_user
        where user_id in (${own.id}, ${other.id}) and ${isShared}`,
      now,
    ),
    sql`delete from edition_customers where user_seq = ${other.seq} and ${isShared}`,
    sql`update edition_customers set ${sql.join(assignments, sql`, `)} from json_each(${rows}) as item
      where edition_customers.seq = item.value ->> 'seq'`,
    requireChanges(sharedEditions.length),
    moveOthers,
  ]
}

/** Both may have got the same campaign, or may be counted by the same dry run. */
const buildMessageStatements = ({ own, other }: MergePlan): Statement[] => [
  sql`insert into campaign_receipts (organization_id, user_id, campaign_id, state, reason, missed_at, received_at,
      delivered_at, opened_at, clicked_at, bounced_at, complained_at, unsubscribed_at, clicked_links)
    select organization_id, ${own.id}, campaign_id, state, reason, missed_at, received_at, delivered_at, opened_at,
      clicked_at, bounced_at, complained_at, unsubscribed_at, clicked_links from campaign_receipts
    where user_id = ${other.id} on conflict (user_id, campaign_id) do update set ${combineEngagement}`,
  sql`delete from campaign_receipts where user_id = ${other.id}`,
  sql`update or ignore refund_batch_customers set user_id = ${own.id} where user_id = ${other.id}`,
  sql`delete from refund_batch_customers where user_id = ${other.id}`,
]

function buildAddressStatements({ own, other, values, consents, ...plan }: MergePlan, now: number): Statement[] {
  const { organization_id } = own
  const replaced = [
    { channel: 'email' as const, address: other.email, new_address: values.email },
    { channel: 'sms' as const, address: other.phone_number, new_address: values.phone_number },
  ]
  const rows = plan.earlierAddresses.map((address) => ({
    ...address,
    user_id: own.id,
    organization_id,
    created_at: now,
  }))
  return [
    sql`insert into earlier_addresses (user_id, channel, address, organization_id, created_at)
      select ${own.id}, channel, address, organization_id, created_at from earlier_addresses
      where user_id = ${other.id} on conflict do nothing`,
    sql`delete from earlier_addresses where user_id = ${other.id}`,
    ...insertAll(earlierAddresses, rows).map((statement) => sql`${statement} on conflict do nothing`),
    ...replaced.flatMap(({ channel, address, new_address }) =>
      address === null || new_address === null || address === new_address
        ? []
        : [suppressNewAddress({ organization_id, channel, address, new_address }, consents.marketing_given_at)],
    ),
  ]
}

const isSame = (pair: UserPair, { fingerprint }: MergeFacts): SQL => sql`${selectFingerprint(pair)} = ${fingerprint}`

/** Moves everything in one transaction, whatever its size: each table takes one statement. */
export function buildMergeStatements(plan: MergePlan, now: number): Statement[] {
  const { own, other, facts, values, consents } = plan
  return [
    abortUnless(isSame(plan, facts)),
    abortUnless(sql`not ${facts.isBusy}`),
    ...buildMergeRecord(plan, now),
    ...buildEditionStatements(plan, now),
    ...movedTables.map((table) => moveRows(table, plan)),
    ...buildMessageStatements(plan),
    ...buildConsentMerge({ id: own.id, other_id: other.id }, consents, now),
    ...buildAddressStatements(plan, now),
    ...removeFromSegments(own.organization_id, [other.seq]),
    sql`update users set is_of_organization = 1
      where id = ${own.id} and exists (select 1 from users where id = ${other.id} and is_of_organization = 1)`,
    sql`delete from users where id = ${other.id} and version = ${other.version}`,
    requireOneChange(),
    ...updateVersion(users, own, { ...values, ...buildSearchColumns(values), modified_at: now }),
  ]
}
