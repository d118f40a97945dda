import { next } from '../seeding/rows.ts'
import { dropMerchantAccounts, seedMerchantAccounts } from '../seeding/sales/merchant-accounts.ts'
import type { World } from '../world.ts'
import { buildPathId, buildQueryId, type Sample, type SampleOf } from './sample.ts'

const makeAccount = async ({ a, b }: World): Promise<Sample> => ({
  path: { id: (await seedMerchantAccounts(a.id, 1))[0] ?? '' },
  references: [buildPathId('id', (await seedMerchantAccounts(b.id, 1))[0] ?? '')],
})

export const merchantAccountSamples: Record<string, SampleOf> = {
  listMerchantAccounts: {
    make: ({ a, b }) => ({
      query: { organization_id: a.id },
      references: [buildQueryId('organization_id', b.id)],
    }),
    fill: async ({ a }, count) => void (await seedMerchantAccounts(a.id, count)),
  },

  createMerchantAccount: {
    make: async ({ a }) => {
      await dropMerchantAccounts(a.id)
      return {
        body: {
          organization_id: a.id,
          name: `Spare account ${next()}`,
          description: 'Festival shop',
          type: 'stripe',
          supported_currencies: ['dkk', 'eur'],
          provider_account: 'acct_1NordlysExample',
          api_key: 'rk_test_51NordlysExample',
          webhook_secret: 'whsec_NordlysExample',
          settle_manually: false,
          is_active: true,
        },
      }
    },
  },

  getMerchantAccount: { make: makeAccount },

  updateMerchantAccount: {
    make: async (world) => ({
      ...(await makeAccount(world)),
      body: {
        name: `Spare account ${next()}`,
        description: 'Festival shop',
        supported_currencies: ['eur'],
        settle_manually: true,
        is_active: true,
      },
    }),
  },

  deleteMerchantAccount: { make: makeAccount },
}
