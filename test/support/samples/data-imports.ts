import { sql } from 'drizzle-orm'
import { dataImports } from '../../../src/db/schema/data-imports.ts'
import { update } from '../../../src/db/write.ts'
import type { DataImportStatus } from '../../../src/domain/data-imports/data-imports.ts'
import { seedImport, seedImportColumns, seedImportProducts } from '../seeding/imports/data-imports.ts'
import { next, write } from '../seeding/rows.ts'
import type { World } from '../world.ts'
import {
  makeOnce,
  buildPathId,
  buildQueryId,
  type Reference,
  type SampleOf,
  getFirstPlace,
  getForeignPlace,
  getSiblingPlace,
} from './sample.ts'

const seedOthers = (status?: DataImportStatus) =>
  makeOnce(async (world): Promise<Reference> =>
    buildPathId(
      'id',
      await seedImport(getForeignPlace(world), status),
      await seedImport(getSiblingPlace(world), status),
    ),
  )
const othersByStatus = new Map<DataImportStatus | undefined, ReturnType<typeof seedOthers>>()

function others(world: World, status?: DataImportStatus): Promise<Reference> {
  const otherImports = othersByStatus.get(status) ?? seedOthers(status)
  othersByStatus.set(status, otherImports)
  return otherImports(world)
}

const makeImport = async (world: World, status?: DataImportStatus) => ({
  path: { id: await seedImport(getFirstPlace(world), status) },
  references: [await others(world, status)],
})

/** The lists of a world share one import. */
const listedImport = makeOnce((world) => seedImport(getFirstPlace(world), 'mapping_products'))

/** The changes of a world share one import. */
const changedImport = makeOnce((world) => seedImport(getFirstPlace(world)))

export const importSamples: Record<string, SampleOf> = {
  createDataImport: {
    make: (world) => ({
      body: {
        organization_id: world.a.id,
        edition_id: world.a.editions[0].id,
        name: `Orders ${next()}`,
        options: { delimiter: ';', on_duplicate: 'skip' },
      },
    }),
  },

  updateDataImport: {
    make: async (world) => ({
      path: { id: await changedImport(world) },
      body: { name: `Orders ${next()}`, external_source: `shop-${next()}` },
      references: [await others(world)],
    }),
  },

  cancelDataImport: { make: (world) => makeImport(world) },

  listImportTargetFields: {
    make: ({ a, b }) => ({
      query: { edition_id: a.editions[0].id },
      references: [{ ...buildQueryId('edition_id', b.editions[0].id, a.editions[1].id), refuses: true }],
    }),
  },

  listColumnMappings: {
    make: async (world) => ({ path: { id: await listedImport(world) }, references: [await others(world)] }),
    fill: async (world, count) => seedImportColumns(await listedImport(world), count),
  },

  updateColumnMappings: {
    make: async (world) => ({
      ...(await makeImport(world)),
      body: {
        mappings: [
          {
            source_index: 3,
            target_field: 'item.unit_price',
            default_value: '0',
            transform: { type: 'number', args: { decimal: ',' } },
          },
        ],
        constants: [{ target_field: 'order.currency', value: 'dkk' }],
      },
    }),
  },

  validateColumnMappings: { make: (world) => makeImport(world) },

  processColumnMappings: {
    make: async (world) => {
      // Imports of other requests would reach the limit of the organisation.
      await write(update(dataImports, { phase: null, heartbeat_at: null }, sql`organization_id = ${world.a.id}`))
      return makeImport(world)
    },
  },

  listProductMappings: {
    make: async (world) => ({ path: { id: await listedImport(world) }, references: [await others(world)] }),
    fill: async (world, count) => seedImportProducts(await listedImport(world), count),
  },

  updateProductMappings: {
    make: async (world) => {
      const sample = await makeImport(world, 'mapping_products')
      const [id = ''] = await seedImportProducts(sample.path.id, 1)
      return { ...sample, body: { mappings: [{ id, action: 'create' }] } }
    },
  },
}
