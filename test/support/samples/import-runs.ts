import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { dataImports } from '../../../src/db/schema/data-imports.ts'
import { update } from '../../../src/db/write.ts'
import type { StoredFormat } from '../../../src/domain/data-imports/files/format.ts'
import { utf8 } from '../../../src/domain/text/encoding.ts'
import { addStaged, aBadRow, aRow, seedStaged } from '../seeding/imports/staged-imports.ts'
import { next, write } from '../seeding/rows.ts'
import type { World } from '../world.ts'
import { makeOnce, buildPathId, type Reference, type SampleOf } from './sample.ts'

const tenant = ({ a }: World) => ({ organization_id: a.id, edition_id: a.editions[0].id })
const foreign = ({ b }: World) => ({ organization_id: b.id, edition_id: b.editions[0].id })
const sibling = ({ a }: World) => ({ organization_id: a.id, edition_id: a.editions[1].id })

const others = makeOnce(async (world): Promise<Reference> =>
  buildPathId('id', await seedStaged(foreign(world), [aRow()]), await seedStaged(sibling(world), [aRow()])),
)

const makeImport = async (world: World) => ({
  path: { id: await seedStaged(tenant(world), [aRow()]) },
  references: [await others(world)],
})

/** The lists of a world share one import. */
const listedImport = makeOnce((world) => seedStaged(tenant(world), [aRow()]))

const ofList: SampleOf = {
  make: async (world) => ({ path: { id: await listedImport(world) }, references: [await others(world)] }),
  fill: async (world, count) =>
    addStaged(
      await listedImport(world),
      Array.from({ length: count }, () => aRow()),
    ),
}

/** An import with a row that cannot be read, and its file. */
async function withReport(world: World): Promise<string> {
  const copy = utf8('2,0,4,data,,,A-1,x\r\n')
  const segment = { key: `imports/sample/${next()}`, size: copy.length }
  await env.FILES.put(segment.key, copy)
  const id = await seedStaged(tenant(world), [aBadRow()])
  const format: StoredFormat = {
    kind: 'xlsx',
    sheetName: 'Orders',
    sheetNames: ['Orders'],
    names: ['Order', 'Price'],
    header: null,
    body: { offset: 0, line: 2 },
  }
  const columns = { format: { ...format, segments: [segment] } }
  await write(
    update(dataImports, columns, sql`id = ${id}`),
    sql`update import_rows set byte_length = ${copy.length} where import_id = ${id}`,
  )
  return id
}

export const importRunSamples: Record<string, SampleOf> = {
  previewImportOrders: { ...ofList, sortValue: { row: (item) => (item['row_numbers'] as number[])[0] } },
  startDataImport: {
    make: async (world) => {
      // Imports of other requests would reach the limit of the organisation.
      await write(update(dataImports, { phase: null, heartbeat_at: null }, sql`organization_id = ${world.a.id}`))
      return { ...(await makeImport(world)), body: { skip_invalid_rows: true } }
    },
  },
  listImportRows: ofList,
  downloadErrorReport: {
    make: async (world) => ({ path: { id: await withReport(world) }, references: [await others(world)] }),
  },
  streamImportEvents: { make: makeImport },
}
