import {
  seedCategories,
  seedCategory,
  seedFeeRule,
  seedFeeRules,
  seedLocation,
  seedLocations,
  seedPassDesign,
  seedPassDesigns,
} from '../seeding/catalogue.ts'
import { seedFile } from '../seeding/files.ts'
import { next, type Place } from '../seeding/rows.ts'
import { seedProduct } from '../seeding/sales/trades.ts'
import type { World } from '../world.ts'
import {
  buildPathId,
  buildQueryId,
  getFirstPlace,
  getForeignPlace,
  getSiblingPlace,
  makeOnce,
  type Sample,
  type SampleOf,
} from './sample.ts'

/** Makes a row of the first edition, with similar rows of organisation B and of edition 2 of A. */
function inEdition(seed: (place: Place) => Promise<string>) {
  const others = makeOnce(async (world) => ({
    foreign: await seed(getForeignPlace(world)),
    sibling: await seed(getSiblingPlace(world)),
  }))
  return async (world: World): Promise<Sample> => {
    const { foreign, sibling } = await others(world)
    return { path: { id: await seed(getFirstPlace(world)) }, references: [buildPathId('id', foreign, sibling)] }
  }
}

/** A list needs rows in the editions that its filters name. */
const listOf = (seed: (place: Place, count: number) => Promise<unknown>): SampleOf => {
  const others = makeOnce(async (world: World) => {
    await seed(getForeignPlace(world), 1)
    await seed(getSiblingPlace(world), 1)
  })
  return {
    make: async (world) => {
      await others(world)
      const { a, b } = world
      return {
        query: { edition_id: a.editions[0].id },
        references: [
          buildQueryId('edition_id', b.editions[0].id, a.editions[1].id),
          buildQueryId('organization_id', b.id),
        ],
      }
    },
    fill: (world, count) => seed(getFirstPlace(world), count),
  }
}

const readOwner = ({ a }: World) => ({ organization_id: a.id, edition_id: a.editions[0].id })

const category = inEdition((place) => seedCategory(place))
const location = inEdition((place) => seedLocation(place))
const passDesign = inEdition((place) => seedPassDesign(place))

const feeRule = async ({ a, b }: World): Promise<Sample> => ({
  path: { id: await seedFeeRule({ id: a.id }) },
  references: [buildPathId('id', await seedFeeRule({ id: b.id }))],
})

export const catalogueSamples: Record<string, SampleOf> = {
  listCategories: listOf(seedCategories),
  createCategory: {
    make: (world) => ({
      body: {
        ...readOwner(world),
        name: `Tickets ${next()}`,
        name_translations: { da: 'Billetter' },
        position: 3,
      },
    }),
  },
  getCategory: { make: category },
  updateCategory: {
    make: async (world) => ({
      ...(await category(world)),
      body: { name: `Day tickets ${next()}`, name_translations: { da: 'Dagsbilletter' }, position: 4 },
    }),
  },
  deleteCategory: { make: category },

  listLocations: listOf(seedLocations),
  createLocation: {
    make: (world) => ({ body: { ...readOwner(world), name: `Main gate ${next()}`, is_draft: true } }),
  },
  getLocation: { make: location },
  updateLocation: {
    make: async (world) => ({ ...(await location(world)), body: { name: `North gate ${next()}`, is_draft: true } }),
  },
  deleteLocation: { make: location },

  listFeeRules: {
    make: async ({ a, b }) => {
      await seedFeeRule({ id: b.id })
      return { query: { organization_id: a.id }, references: [buildQueryId('organization_id', b.id)] }
    },
    fill: ({ a }, count) => seedFeeRules({ id: a.id }, count),
  },
  createFeeRule: {
    make: ({ a }) => ({
      body: {
        organization_id: a.id,
        name: `Standard fee ${next()}`,
        description: 'For tickets',
        currency: 'eur',
        rate: 2.5,
        fixed_amount: 0.55,
        is_active: true,
      },
    }),
  },
  getFeeRule: { make: feeRule },
  updateFeeRule: {
    make: async (world) => ({
      ...(await feeRule(world)),
      body: {
        name: `Low fee ${next()}`,
        description: 'For merchandise',
        currency: 'sek',
        rate: 1.25,
        fixed_amount: 1.1,
        is_active: false,
      },
    }),
  },
  deleteFeeRule: { make: feeRule },

  listPassDesigns: listOf(seedPassDesigns),
  createPassDesign: {
    make: async (world) => ({
      body: {
        ...readOwner(world),
        product_id: await seedProduct(getFirstPlace(world)),
        name: 'Night blue',
        background_color: '#102040',
        foreground_color: '#ffffff',
        label_color: '#c0d0ff',
        logo_text: 'Nordlys',
        description: 'A ticket of Nordlys',
        logo_image_id: await seedFile(getFirstPlace(world)),
      },
    }),
  },
  getPassDesign: { make: passDesign },
  updatePassDesign: {
    make: async (world) => ({
      ...(await passDesign(world)),
      body: {
        product_id: await seedProduct(getFirstPlace(world)),
        name: `Day yellow ${next()}`,
        background_color: '#ffee00',
        foreground_color: '#000000',
        label_color: '#333333',
        logo_text: 'Sydlys',
        description: 'A ticket of Sydlys',
        logo_image_id: await seedFile(getFirstPlace(world)),
      },
    }),
  },
  deletePassDesign: { make: passDesign },
}
