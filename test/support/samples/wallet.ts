import { seedPurchaseLike } from '../seeding/sales/trades.ts'
import { enableWallet, seedPasses } from '../seeding/sales/wallet-passes.ts'
import type { World } from '../world.ts'
import { buildPathId, type SampleOf } from './sample.ts'

const buildPlace = (organization: { id: string }, edition: { id: string }) => ({
  organization: organization.id,
  edition: edition.id,
})

const firstEdition = ({ a }: World) => buildPlace(a, a.editions[0])

const purchaseIds = ({ a, b }: World) => buildPathId('id', b.editions[0].purchase, a.editions[1].purchase)

/** Makes a pass of the purchase that replaces the first id of a path, so that both fit. */
const seedPassAt = async (organization: { id: string }, edition: { id: string; purchase: string }): Promise<string> =>
  (await seedPasses(buildPlace(organization, edition), edition.purchase, 1))[0] ?? ''

export const walletSamples: Record<string, SampleOf> = {
  listWalletPasses: {
    make: (world) => ({
      path: { id: world.a.editions[0].purchase },
      references: [purchaseIds(world)],
    }),
    fill: (world, count) => seedPasses(firstEdition(world), world.a.editions[0].purchase, count),
  },

  createWalletPass: {
    make: async (world) => {
      const purchase = await seedPurchaseLike(world.a.editions[0].purchase)
      await enableWallet(firstEdition(world), purchase)
      return { path: { id: purchase }, body: { platform: 'apple' }, references: [purchaseIds(world)] }
    },
  },

  voidWalletPass: {
    make: async (world) => {
      const { a, b } = world
      const purchase = await seedPurchaseLike(a.editions[0].purchase)
      const active = { status: 'active', voided_at: null } as const
      const [pass = ''] = await seedPasses(firstEdition(world), purchase, 1, active)
      return {
        path: { id: purchase, pass_id: pass },
        references: [
          purchaseIds(world),
          buildPathId('pass_id', await seedPassAt(b, b.editions[0]), await seedPassAt(a, a.editions[1])),
        ],
      }
    },
  },
}
