import { eq, sql } from 'drizzle-orm'
import { isClaimable } from '../../db/claims.ts'
import type { Database, Statement } from '../../db/database.ts'
import { capturedMessages } from '../../db/schema/messaging/dev-mailbox.ts'
import { transactionalEmails } from '../../db/schema/messaging/transactional-emails.ts'
import type { erasures } from '../../db/schema/personal-data.ts'
import { orders, purchases } from '../../db/schema/sales/orders.ts'
import { refundRequests } from '../../db/schema/sales/refunds.ts'
import { editionCustomers } from '../../db/schema/users.ts'
import { rebuildOrderText } from '../../db/search.ts'
import { update } from '../../db/write.ts'
import { erasedContact } from '../../domain/accounts/users.ts'
import { containsContact, type ErasedContacts } from '../../domain/erasure.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import type { ChannelAddress } from '../../domain/messaging/suppressions.ts'
import { emailClaimMs, transactionalEmailLifecycle } from '../../domain/messaging/transactional-emails.ts'
import { eraseEvidence } from '../consents/index.ts'
import { buildMappingErasure, buildUndoDataErasure } from '../data-imports/index.ts'
import { hashSuppressions } from '../suppressions/index.ts'
import { eraseWallet } from '../wallet/index.ts'

export type ErasureRow = typeof erasures.$inferSelect

const readAddresses = (erasure: Pick<ErasureRow, 'addresses'>): ChannelAddress[] =>
  erasure.addresses.map(([channel, address]) => ({ channel, address }))

export function readContacts(erasure: Pick<ErasureRow, 'addresses'>): ErasedContacts {
  const listOfChannel = (channel: Channel) =>
    erasure.addresses.flatMap(([other, address]) => (other === channel ? [address] : []))
  return { emails: new Set(listOfChannel('email')), phones: new Set(listOfChannel('sms')) }
}

const pending = transactionalEmailLifecycle.initial

/** Leaves a message alone while a consumer is sending it. The second pass runs after that claim has ended. */
function eraseEmails({ user_id }: ErasureRow, now: number): Statement[] {
  const isUnsent = sql`user_id = ${user_id} and status = ${pending} and ${isClaimable(now)}`
  const failure = { status: 'failed', due_at: null, claimed_until: null, error_code: 'erased' } as const
  return [
    update(transactionalEmails, { ...failure, modified_at: now }, isUnsent),
    sql`update transactional_emails set recipient = '', content = null, error_detail = '',
        refund = json_remove(refund, '$.rejection_reason')
      where user_id = ${user_id} and (status <> ${pending} or claimed_until <= ${now - emailClaimMs})`,
  ]
}

/** Erases messages that the capture gateways have stored. They are found by their references. */
const eraseCapturedMessages = ({ organization_id, user_id, user_seq }: ErasureRow): Statement =>
  update(
    capturedMessages,
    { recipient: '', subject: '', html: '', body: '', headers: {} },
    sql`reference in (select id from transactional_emails where user_id = ${user_id}
      union all select id || ${`-${user_seq}`} from campaigns where organization_id = ${organization_id}
      union all select id from wallet_passes
        where purchase_id in (select id from purchases where user_id = ${user_id}))`,
  )

interface OrderIds {
  id: string
  order_number: string | null
  external_id: string
}

/** Replaces ids of the person's orders that contain an address, because files of some shops have no other id. */
async function eraseOrderIds(db: Database, erasure: ErasureRow): Promise<Statement[]> {
  const contacts = readContacts(erasure)
  const ordersWithIds = await db.all(sql<OrderIds>`select id, order_number, external_id from orders
    where user_id = ${erasure.user_id} and external_id is not null`)
  return ordersWithIds.flatMap(({ id, order_number, external_id }) => {
    if (!containsContact(external_id, contacts)) return []
    const erasedId = `erased ${id}`
    const search_text = rebuildOrderText({ id, order_number, external_id: erasedId })
    return [update(orders, { external_id: erasedId, search_text }, eq(orders.id, id))]
  })
}

/** The texts of a refund may name the person. */
const eraseRefundTexts = ({ user_id }: ErasureRow): Statement =>
  update(
    refundRequests,
    { comment: '', note: null, rejection_reason: sql`iif(rejection_reason is null, null, '')`, metadata: {} },
    eq(refundRequests.user_id, user_id),
  )

const hideAuditedValues = ({ organization_id, user_id }: ErasureRow): Statement =>
  sql`update audit_log indexed by audit_log_by_time
    set changes = (select json_group_array(json_object('field', value ->> 'field', 'is_hidden', json('true')))
      from json_each(changes))
    where organization_id = ${organization_id} and resource_id in (select ${user_id}
        union all select id from refund_requests where user_id = ${user_id})
      and exists (select 1 from json_each(changes) where value ->> 'is_hidden' is null)
      and action <> 'eraseUser'`

/** The language is not null, so it becomes the default of the edition. */
const erasedEditionContact = {
  ...erasedContact,
  locale: sql`(select default_language from editions where editions.id = edition_id)`,
}

/** Erases a person in all tables except `users` and `webhook_events`. The statements can be repeated. */
export async function buildErasureStatements(db: Database, erasure: ErasureRow, now: number): Promise<Statement[]> {
  const { user_id } = erasure
  return [
    update(editionCustomers, erasedEditionContact, sql`user_seq = (select seq from users where id = ${user_id})`),
    update(orders, { metadata: {}, imported_address: null }, eq(orders.user_id, user_id)),
    ...(await eraseOrderIds(db, erasure)),
    update(purchases, { metadata: {} }, eq(purchases.user_id, user_id)),
    eraseRefundTexts(erasure),
    ...buildUndoDataErasure(user_id),
    ...buildMappingErasure(erasure.organization_id, readContacts(erasure)),
    eraseEvidence(user_id),
    ...eraseEmails(erasure, now),
    ...eraseWallet(user_id, now),
    eraseCapturedMessages(erasure),
    ...(await hashSuppressions(erasure, readAddresses(erasure))),
    hideAuditedValues(erasure),
  ]
}
