import { sql } from 'drizzle-orm'
import { editions } from '../../../../src/db/schema/editions.ts'
import { merchantAccounts } from '../../../../src/db/schema/merchant-accounts.ts'
import { insert, insertAll, update } from '../../../../src/db/write.ts'
import { buildSortKey } from '../../../../src/domain/text/fold.ts'
import { create } from '../../api.ts'
import { freshId, next, seededAt, write } from '../rows.ts'

export const aMerchantAccount = (organization: { id: string }, fields: object = {}) => ({
  organization_id: organization.id,
  name: 'Nordlys Stripe',
  type: 'stripe',
  supported_currencies: ['dkk', 'eur'],
  ...fields,
})

/** Builds an account at Stripe, without secrets unless `fields` has them. */
export const givenMerchantAccount = (organization: { id: string }, fields: object = {}, token?: string) =>
  create('/v1/merchant-accounts', aMerchantAccount(organization, fields), token)

/** Seeds an account of any type, without secrets, and chooses it for the edition if one is named. */
export async function seedMerchantAccount(
  organization: { id: string },
  { name = 'Main', ...columns }: Partial<typeof merchantAccounts.$inferInsert> = {},
  edition?: string,
): Promise<string> {
  const id = freshId('merchant_account')
  const names = { name, name_key: buildSortKey(name) }
  const row = { id, organization_id: organization.id, ...names, type: 'manual' as const, ...columns }
  await write(
    insert(merchantAccounts, { supported_currencies: ['dkk', 'eur'], ...row }),
    ...(edition ? [update(editions, { merchant_account_id: id }, sql`id = ${edition}`)] : []),
  )
  return id
}

const prefix = 'Spare account'

/** Seeds accounts that nothing uses. */
export async function seedMerchantAccounts(organization: string, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => {
    const name = `${prefix} ${next()}`
    return {
      id: freshId('merchant_account'),
      organization_id: organization,
      name,
      name_key: buildSortKey(name),
      type: 'manual' as const,
      supported_currencies: ['dkk'] as const,
      created_at: seededAt + Math.floor(next() / 3) * 1000,
      modified_at: seededAt,
    }
  })
  await write(...insertAll(merchantAccounts, rows))
  return rows.map(({ id }) => id)
}

export const dropMerchantAccounts = (organization: string): Promise<void> =>
  write(sql`delete from merchant_accounts where organization_id = ${organization} and name like ${`${prefix}%`}`)
