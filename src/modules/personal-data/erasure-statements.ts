import { sql } from 'drizzle-orm'
import type { Statement } from '../../db/database.ts'
import type { erasures } from '../../db/schema/personal-data.ts'
import type { ChannelAddress } from '../../domain/messaging/suppressions.ts'
import { emailLeaseMs, transactionalEmailLifecycle } from '../../domain/messaging/transactional-emails.ts'
import { erasedAnswers } from '../consents/index.ts'
import { forgetForUndo } from '../data-imports/index.ts'
import { hashedSuppressions } from '../suppressions/index.ts'
import { eraseWallet } from '../wallet/index.ts'

export type ErasureRow = typeof erasures.$inferSelect

export const addressesOf = (erasure: Pick<ErasureRow, 'addresses'>): ChannelAddress[] =>
  (JSON.parse(erasure.addresses) as [ChannelAddress['channel'], string][]).map(([channel, address]) => ({
    channel,
    address,
  }))

const ended = transactionalEmailLifecycle.targetsOf('pending').filter((status) => status === 'failed')[0] ?? 'failed'

/** A message under way is left to its sender: the second pass comes after it. */
function emailStatements({ user_id }: ErasureRow, now: number): Statement[] {
  return [
    sql`update transactional_emails set status = ${ended}, next_attempt_at = null, lease_until = null,
        error_code = 'erased', modified_at = ${now}
      where user_id = ${user_id} and status = 'pending' and coalesce(lease_until, 0) <= ${now}`,
    sql`update transactional_emails set recipient = '', content = null, error_detail = '',
        refund = json_remove(refund, '$.rejection_reason')
      where user_id = ${user_id} and (status <> 'pending' or lease_until <= ${now - emailLeaseMs})`,
  ]
}

/** What the capture gateways keep of messages to the person, by what each message is known by. */
const capturedStatement = ({ organization_id, user_id, user_seq }: ErasureRow): Statement =>
  sql`update captured_messages set recipient = '', subject = '', html = '', body = '', headers = '{}'
    where reference in (select id from transactional_emails where user_id = ${user_id}
      union all select id || ${`-${user_seq}`} from campaigns where organization_id = ${organization_id}
      union all select id from wallet_passes where purchase_id in (select id from purchases where user_id = ${user_id}))`

/** Texts about a refund, in which a person may be named. */
const refundStatement = ({ user_id }: ErasureRow): Statement =>
  sql`update refund_requests set comment = '', note = null, rejection_reason = iif(rejection_reason is null, null, ''),
      metadata = '{}'
    where user_id = ${user_id}`

const auditStatement = ({ organization_id, user_id }: ErasureRow): Statement =>
  sql`update audit_log indexed by audit_log_of_resource set changes = (select json_group_array(json_object('field', value ->> 'field',
      'is_hidden', json('true'))) from json_each(changes))
    where organization_id = ${organization_id} and resource_id in (select ${user_id}
        union all select id from refund_requests where user_id = ${user_id})
      and exists (select 1 from json_each(changes) where value ->> 'is_hidden' is null)
      and action <> 'eraseUser'`

/** Everything of a person in the database but their own row and the events of webhooks. Repeating it does no harm. */
export async function blankingStatements(erasure: ErasureRow, now: number): Promise<Statement[]> {
  const { user_id } = erasure
  return [
    sql`update user_editions set email = null, phone_number = null, first_name = '', last_name = '', locale = null,
        name_folded = '', email_folded = '', phone_digits = ''
      where user_id = ${user_id}`,
    sql`update orders set search = search_own, metadata = '{}' where user_id = ${user_id}`,
    sql`update purchases set metadata = '{}' where user_id = ${user_id}`,
    refundStatement(erasure),
    ...forgetForUndo(user_id),
    erasedAnswers(user_id),
    ...emailStatements(erasure, now),
    ...eraseWallet(user_id, now),
    capturedStatement(erasure),
    ...(await hashedSuppressions(erasure, addressesOf(erasure))),
    auditStatement(erasure),
  ]
}
