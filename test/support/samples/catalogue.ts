import { locations, products, variants } from '../../../src/db/schema/sales/catalog.ts'
import { insert } from '../../../src/db/write.ts'
import { freshId, next, type Place, seededAt, write } from '../seeding/rows.ts'
import type { World } from '../world.ts'
import { bodyId, type Reference } from './sample.ts'

/** What an edition sells, and where. */
async function seedCatalogue(place: Place) {
  const [product_id, variant_id, location_id] = [freshId('product'), freshId('variant'), freshId('location')]
  const tenant = { organization_id: place.organization, edition_id: place.edition }
  const named = (name: string) => ({ name, name_folded: name.toLowerCase(), created_at: seededAt })
  await write(
    insert(products, { id: product_id, ...tenant, ...named(`Cabin ${next()}`) }),
    insert(variants, { id: variant_id, product_id, ...named('Four beds') }),
    insert(locations, { id: location_id, ...tenant, ...named(`Lake ${next()}`) }),
  )
  return { product_id, variant_id, location_id }
}

type Catalogue = Awaited<ReturnType<typeof seedCatalogue>>

const hidden = new WeakMap<World, Promise<readonly [foreign: Catalogue, sibling: Catalogue]>>()

/** References to what other editions sell, in an object of the body. */
export async function hiddenCatalogue(
  world: World,
  at: string,
  names: readonly (keyof Catalogue)[],
): Promise<Reference[]> {
  const { a, b } = world
  const seeded =
    hidden.get(world) ??
    Promise.all([
      seedCatalogue({ organization: b.id, edition: b.editions[0].id }),
      seedCatalogue({ organization: a.id, edition: a.editions[1].id }),
    ])
  hidden.set(world, seeded)
  const [foreign, sibling] = await seeded
  return names.map((name) => bodyId(`${at}.${name}`, foreign[name], sibling[name]))
}
