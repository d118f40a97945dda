import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import type { LoadedUser } from '../users/index.ts'
import type { ErasureRow } from './erasure-statements.ts'

export { findUser } from '../users/index.ts'

export const findErasure = ({ db }: Pick<JobCtx, 'db'>, userId: string): Promise<ErasureRow | undefined> =>
  db.first(sql<ErasureRow>`select * from erasures where user_id = ${userId}`)

/** Every address that the person is known by, as `[channel, address]`: their own, and those of their editions and receipts. */
export async function knownAddresses({ db }: Pick<JobCtx, 'db'>, user: LoadedUser): Promise<[string, string][]> {
  const rows = await db.all(sql<{ channel: string; address: string }>`
    select 'email' as channel, email as address from users where id = ${user.id} and email is not null
    union select 'sms', phone_number from users where id = ${user.id} and phone_number is not null
    union select 'email', email from user_editions where user_id = ${user.id} and email is not null
    union select 'sms', phone_number from user_editions where user_id = ${user.id} and phone_number is not null
    union select 'email', recipient from transactional_emails where user_id = ${user.id} and recipient <> ''`)
  return rows.map(({ channel, address }) => [channel, address])
}
