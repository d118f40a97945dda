import { seedCategory } from '../seeding/catalogue.ts'
import { next, type Place } from '../seeding/rows.ts'
import { seedProduct } from '../seeding/sales/trades.ts'
import type { World } from '../world.ts'
import {
  buildPathId,
  buildQueryId,
  getFirstPlace,
  getForeignPlace,
  getSiblingPlace,
  type Sample,
  type SampleOf,
} from './sample.ts'

/** A category with a product. */
async function seedUsedCategory({ organization, edition }: Place): Promise<string> {
  const id = await seedCategory({ organization, edition })
  await seedProduct({ organization, edition }, { category_id: id })
  return id
}

const makeProduct = async (world: World): Promise<Sample> => ({
  path: { id: await seedProduct(getFirstPlace(world)) },
  references: [buildPathId('id', await seedProduct(getForeignPlace(world)), await seedProduct(getSiblingPlace(world)))],
})

/** A body with every field that refers to nothing else. */
const buildBody = () => ({
  name: `Weekend ticket ${next()}`,
  name_translations: { da: 'Weekendbillet' },
  price: 250,
  deposit: 0.5,
  is_variant_required: true,
  is_pickup_required: false,
  is_wallet_enabled: true,
  is_draft: false,
  aliases: [`Week-end ${next()}`],
  variants: [{ name: 'Adult', is_active: true }, { name: 'Child' }],
  options: [{ name: 'Parking', price_mod: -10, deposit_mod: 0 }],
})

export const productSamples: Record<string, SampleOf> = {
  listProducts: {
    make: async (world) => {
      const { a, b } = world
      const [foreign, sibling] = await Promise.all(
        [getForeignPlace(world), getSiblingPlace(world)].map(seedUsedCategory),
      )
      return {
        query: { organization_id: a.id, edition_id: a.editions[0].id },
        references: [
          buildQueryId('edition_id', b.editions[0].id, a.editions[1].id),
          buildQueryId('organization_id', b.id),
          buildQueryId('category_id', foreign ?? '', sibling),
        ],
      }
    },
    fill: async (world, count) => {
      for (let index = 0; index < count; index++) await seedProduct(getFirstPlace(world))
    },
  },

  createProduct: {
    make: ({ a }) => ({ body: { organization_id: a.id, edition_id: a.editions[0].id, ...buildBody() } }),
  },

  getProduct: { make: makeProduct },

  updateProduct: { make: async (world) => ({ ...(await makeProduct(world)), body: buildBody() }) },

  deleteProduct: { make: makeProduct },

  mergeProducts: {
    make: async (world) => ({
      ...(await makeProduct(world)),
      body: { product_id: await seedProduct(getFirstPlace(world)) },
    }),
  },
}
