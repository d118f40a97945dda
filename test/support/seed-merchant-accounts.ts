import { sql } from 'drizzle-orm'
import { merchantAccounts } from '../../src/db/schema/editions.ts'
import { insertAll } from '../../src/db/write.ts'
import { freshId, next, seededAt, write } from './seed.ts'

const prefix = 'Spare account'

/** Accounts that nothing uses. */
export async function seedMerchantAccounts(organization: string, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => ({
    id: freshId('merchant_account'),
    organization_id: organization,
    name: `${prefix} ${next()}`,
    type: 'manual' as const,
    supported_currencies: ['dkk'] as const,
    created_at: seededAt + Math.floor(next() / 3) * 1000,
    modified_at: seededAt,
  }))
  await write(...insertAll(merchantAccounts, rows))
  return rows.map(({ id }) => id)
}

export const dropMerchantAccounts = (organization: string): Promise<void> =>
  write(sql`delete from merchant_accounts where organization_id = ${organization} and name like ${`${prefix}%`}`)
