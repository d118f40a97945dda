import { eq, type SQL, sql } from 'drizzle-orm'
import { isClaimable } from '../../db/claims.ts'
import { selectFormerIds } from '../../db/customers.ts'
import type { Database, Statement } from '../../db/database.ts'
import { capturedMessages } from '../../db/schema/captures.ts'
import { erasures, editionCustomers, users } from '../../db/schema/customers.ts'
import { purchases } from '../../db/schema/purchases.ts'
import { refundRequests } from '../../db/schema/refunds.ts'
import { transactionalEmails } from '../../db/schema/transactional-emails.ts'
import { update } from '../../db/write.ts'
import { erasedContact } from '../../domain/accounts/users.ts'
import type { ErasedContacts } from '../../domain/erasure.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import type { ChannelAddress } from '../../domain/messaging/suppressions.ts'
import { emailClaimMs, transactionalEmailLifecycle } from '../../domain/messaging/transactional-emails.ts'
import { eraseEvidence } from '../consents/index.ts'
import { buildStoredResultsErasure, buildUndoDataErasure } from '../data-imports/index.ts'
import { eraseSignups } from '../signup-forms/index.ts'
import { hashSuppressions } from '../suppressions/index.ts'
import { eraseWallet } from '../wallet/index.ts'
import { buildOrderErasure, orderColumns } from './orders.ts'

export type ErasureRow = typeof erasures.$inferSelect

const readAddresses = (erasure: Pick<ErasureRow, 'addresses'>): ChannelAddress[] =>
  erasure.addresses.map(([channel, address]) => ({ channel, address }))

export function readContacts(erasure: Pick<ErasureRow, 'addresses'>): ErasedContacts {
  const listOfChannel = (channel: Channel) =>
    erasure.addresses.flatMap(([other, address]) => (other === channel ? [address] : []))
  return { emails: new Set(listOfChannel('email')), phones: new Set(listOfChannel('sms')) }
}

/**
 * Columns of rows that belong to the person. They are erased at once, and again at the end of each pass, because work
 * that had read the person before may write later. The statements can be repeated.
 */
interface OwnPlace {
  columns: readonly string[]
  erase: (erasure: ErasureRow, work: { db: Database; now: number }) => Statement[] | Promise<Statement[]>
}

const contactColumns = Object.keys(erasedContact)

const listContactColumns = (table: string): string[] => contactColumns.map((column) => `${table}.${column}`)

/** The language is not null, so it becomes the default of the edition. */
const erasedEditionContact = {
  ...erasedContact,
  locale: sql`(select default_language from editions where editions.id = edition_id)`,
}

const pendingStatus = transactionalEmailLifecycle.initial

const isExample = (userId: string): SQL => sql`example_user_id in ${selectFormerIds(userId)}`

/**
 * Erases the person's messages, and test messages that show their data. Leaves a message alone while a consumer is sending
 * it. The second pass runs after that claim has ended.
 */
function eraseEmails({ user_id }: ErasureRow, now: number): Statement[] {
  const failure = {
    status: 'failed',
    due_at: null,
    claimed_until: null,
    error_code: 'erased',
    modified_at: now,
  } as const
  return [sql`user_id = ${user_id}`, isExample(user_id)].flatMap((isTheirs) => [
    update(transactionalEmails, failure, sql`${isTheirs} and status = ${pendingStatus} and ${isClaimable(now)}`),
    sql`update transactional_emails set recipient = '', content = null, error_detail = '',
        refund = json_remove(refund, '$.rejection_reason')
      where ${isTheirs} and (status <> ${pendingStatus} or claimed_until <= ${now - emailClaimMs})`,
  ])
}

/** Erases messages that the capture gateways have stored. They are found by their references. */
const eraseCapturedMessages = ({ organization_id, user_id, user_seq }: ErasureRow): Statement =>
  update(
    capturedMessages,
    { recipient: '', subject: '', html: '', body: '', headers: {} },
    sql`reference in (select id from transactional_emails where user_id = ${user_id}
      union all select id from transactional_emails where ${isExample(user_id)}
      union all select campaigns.id || '-' || cast(person.seq as integer) from campaigns
        join (select ${user_seq} as seq union all select seq from user_merges where into_id = ${user_id}) as person
        where campaigns.organization_id = ${organization_id}
      union all select id from wallet_passes
        where purchase_id in (select id from purchases where user_id = ${user_id}))`,
  )

const refundTexts = {
  comment: '',
  note: null,
  rejection_reason: sql`iif(rejection_reason is null, null, '')`,
  failure_message: sql`iif(failure_message is null, null, '')`,
  metadata: {},
}

const hideAuditedValues = ({ organization_id, user_id }: ErasureRow): Statement =>
  sql`update audit_log indexed by audit_log_by_time
    set changes = (select json_group_array(json_object('field', value ->> 'field', 'is_hidden', json('true')))
      from json_each(changes))
    where organization_id = ${organization_id} and resource_id in (select value from ${selectFormerIds(user_id)}
        union all select id from refund_requests where user_id = ${user_id})
      and exists (select 1 from json_each(changes) where value ->> 'is_hidden' is null)
      and action <> 'eraseUser'`

/** Every place in rows of the person. `searchedPlaces` has the places in rows of others. */
export const ownPlaces: readonly OwnPlace[] = [
  {
    columns: listContactColumns('users'),
    erase: ({ user_id }) => [update(users, erasedContact, eq(users.id, user_id))],
  },
  {
    columns: listContactColumns('edition_customers'),
    erase: ({ user_id }) => [
      update(editionCustomers, erasedEditionContact, sql`user_seq = (select seq from users where id = ${user_id})`),
    ],
  },
  {
    columns: ['earlier_addresses.address'],
    erase: ({ user_id }) => [sql`delete from earlier_addresses where user_id = ${user_id}`],
  },
  {
    columns: orderColumns,
    erase: (erasure, { db }) => buildOrderErasure(db, erasure, readContacts(erasure)),
  },
  {
    columns: ['purchases.metadata'],
    erase: ({ user_id }) => [update(purchases, { metadata: {} }, eq(purchases.user_id, user_id))],
  },
  {
    columns: Object.keys(refundTexts).map((column) => `refund_requests.${column}`),
    erase: ({ user_id }) => [update(refundRequests, refundTexts, eq(refundRequests.user_id, user_id))],
  },
  { columns: ['consent_records.evidence'], erase: ({ user_id }) => [eraseEvidence(user_id)] },
  { columns: ['import_orders.undo_data'], erase: ({ user_id }) => buildUndoDataErasure(user_id) },
  {
    columns: ['data_imports.stored_results'],
    erase: ({ organization_id }) => [buildStoredResultsErasure(organization_id)],
  },
  {
    columns: ['recipient', 'content', 'error_detail', 'refund'].map((column) => `transactional_emails.${column}`),
    erase: (erasure, { now }) => eraseEmails(erasure, now),
  },
  {
    columns: ['signup_requests.address', 'signup_requests.evidence'],
    erase: (erasure) => eraseSignups(erasure.organization_id, readContacts(erasure).emails),
  },
  {
    columns: ['wallet_registrations.device_id', 'wallet_registrations.push_token'],
    erase: ({ user_id }, { now }) => eraseWallet(user_id, now),
  },
  {
    columns: ['recipient', 'subject', 'html', 'body', 'headers'].map((column) => `captured_messages.${column}`),
    erase: (erasure) => [eraseCapturedMessages(erasure)],
  },
  {
    columns: ['suppressions.address', 'suppressions.detail', 'soft_bounces.address'],
    erase: (erasure) => hashSuppressions(erasure, readAddresses(erasure)),
  },
  { columns: ['audit_log.changes'], erase: (erasure) => [hideAuditedValues(erasure)] },
]

/** Erases the person in all their own rows. The statements can be repeated. */
export async function buildErasureStatements(db: Database, erasure: ErasureRow, now: number): Promise<Statement[]> {
  const statements = await Promise.all(ownPlaces.map(async ({ erase }) => erase(erasure, { db, now })))
  return statements.flat()
}
