import { toBase64, utf8 } from '../../../src/domain/text/encoding.ts'
import { makeFreshPng } from '../files.ts'
import { seedFile, seedFiles, seedUpload, seedStoredFile } from '../seeding/files.ts'
import { next } from '../seeding/rows.ts'
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

const table = () => utf8(`name,number\r\nÆgir,${next()}\r\n`)

const fileIn = makeOnce(async (world): Promise<Reference> =>
  buildPathId('id', await seedFile(getForeignPlace(world)), await seedFile(getSiblingPlace(world))),
)

const uploadIn = makeOnce(async (world): Promise<Reference> =>
  buildPathId(
    'id',
    await seedUpload(getForeignPlace(world), table()),
    await seedUpload(getSiblingPlace(world), table()),
  ),
)

const freshFile = async (world: World) => ({
  path: { id: (await seedStoredFile({ ...getFirstPlace(world), content: makeFreshPng() })).id },
  references: [await fileIn(world)],
})

/** The changes of a world share one file. */
const changedFile = makeOnce(freshFile)

const buildPart = async (bytes: Uint8Array<ArrayBuffer>) => ({
  bytes,
  headers: {
    'content-type': 'application/octet-stream',
    'content-digest': `sha-256=:${toBase64(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))}:`,
  },
})

const freshUpload = async (world: World) => ({
  path: { id: await seedUpload(getFirstPlace(world), table()) },
  references: [await uploadIn(world)],
})

export const fileSamples: Record<string, SampleOf> = {
  listFiles: {
    make: ({ a, b }) => ({
      query: { edition_id: a.editions[0].id },
      references: [
        buildQueryId('edition_id', b.editions[0].id, a.editions[1].id),
        buildQueryId('organization_id', b.id),
      ],
    }),
    fill: (world, count) => seedFiles(getFirstPlace(world), count),
  },

  uploadFile: {
    make: (world) => ({
      query: { organization_id: world.a.id, edition_id: world.a.editions[0].id },
      file: {
        bytes: makeFreshPng(),
        headers: { 'content-type': 'image/png', 'content-disposition': 'attachment; filename="poster.png"' },
      },
    }),
  },

  getFile: { make: freshFile },

  updateFile: {
    make: async (world) => ({
      path: (await changedFile(world)).path,
      body: {
        name: `poster-${next()}.png`,
        title: 'Poster',
        alt_text: { en: 'The main stage at night' },
        tags: ['poster'],
        metadata: { internal_code: 'A-17' },
        purpose: 'other',
        edition_id: world.a.editions[0].id,
      },
      references: [await fileIn(world)],
    }),
  },

  deleteFile: { make: freshFile },

  startFileUpload: {
    make: (world) => ({
      body: {
        organization_id: world.a.id,
        edition_id: world.a.editions[0].id,
        name: 'orders-2025.csv',
        size: 20_000_000,
        content_type: 'text/csv',
        title: 'Orders of 2025',
        tags: ['orders'],
        metadata: { internal_code: 'A-17' },
      },
    }),
  },

  getFileUpload: { make: freshUpload },

  putFileUploadPart: {
    make: async (world) => {
      const bytes = table()
      return {
        path: { id: await seedUpload(getFirstPlace(world), bytes), number: '1' },
        file: await buildPart(bytes),
        references: [await uploadIn(world), buildPathId('number', '2')],
      }
    },
  },

  completeFileUpload: {
    make: async (world) => ({
      path: { id: await seedUpload(getFirstPlace(world), table(), { hasPart: true }) },
      references: [await uploadIn(world)],
    }),
  },

  abortFileUpload: { make: freshUpload },
}
