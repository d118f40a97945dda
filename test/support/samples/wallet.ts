import { post } from '../api.ts'
import { seedVoidPasses, seedWalletTrade } from '../wallet.ts'
import type { World } from '../world.ts'
import { pathId, type SampleOf } from './sample.ts'

const firstEdition = ({ a }: World) => ({ organization: a.id, edition: a.editions[0].id })

const purchaseIds = ({ a, b }: World) => [pathId('id', b.editions[0].purchase, a.editions[1].purchase)]

export const walletSamples: Record<string, SampleOf> = {
  listWalletPasses: {
    make: (world) => ({
      path: { id: world.a.editions[0].purchase },
      references: purchaseIds(world),
    }),
    fill: (world, count) => seedVoidPasses(firstEdition(world), world.a.editions[0].purchase, count),
  },

  createWalletPass: {
    make: async (world) => ({
      path: { id: (await seedWalletTrade(firstEdition(world))).purchase },
      body: { platform: 'apple' },
      references: purchaseIds(world),
    }),
  },

  voidWalletPass: {
    make: async (world) => {
      const { purchase } = await seedWalletTrade(firstEdition(world))
      const { body } = await post(`/v1/purchases/${purchase}/wallet-passes`, { platform: 'google' })
      return {
        path: { id: purchase, pass_id: body.id },
        references: purchaseIds(world),
      }
    },
  },
}
