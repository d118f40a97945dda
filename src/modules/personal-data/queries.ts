import { eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { erasures } from '../../db/schema/customers.ts'
import { select } from '../../db/select.ts'
import { selectWork, type WorkCount } from '../../db/work-counts.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import type { ChannelAddress } from '../../domain/messaging/suppressions.ts'
import type { LoadedUser } from '../users/index.ts'
import type { ErasureRow } from './places.ts'

export { findUser } from '../users/index.ts'

export const findErasure = ({ db }: Pick<JobCtx, 'db'>, userId: string): Promise<ErasureRow | undefined> =>
  db.first(select(getTableColumns(erasures)).from(erasures).where(eq(erasures.user_id, userId)))

/** Lists all addresses of a customer: of the organisation, of editions, earlier ones, and of e-mails that were sent. */
export async function listAddresses({ db }: Pick<JobCtx, 'db'>, user: LoadedUser): Promise<[Channel, string][]> {
  const rows = await db.all(sql<ChannelAddress>`
    select value ->> 0 as channel, value ->> 1 as address from users
      join json_each(json_array(json_array('email', email), json_array('sms', phone_number)))
      where users.id = ${user.id} and value ->> 1 is not null
    union select 'email', email from edition_customers where user_seq = ${user.seq} and email is not null
    union select 'sms', phone_number from edition_customers where user_seq = ${user.seq} and phone_number is not null
    union select channel, address from earlier_addresses where user_id = ${user.id}
    union select 'email', recipient from transactional_emails where user_id = ${user.id} and recipient <> ''`)
  return rows.map(({ channel, address }) => [channel, address])
}

export const selectErasureWork = (now: number): SQL<WorkCount> =>
  selectWork(now, {
    kind: 'erasures',
    from: sql`erasures indexed by erasures_due`,
    where: sql`due_at is not null`,
    dueAt: sql`due_at`,
  })
