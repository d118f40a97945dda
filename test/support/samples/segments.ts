import { segmentMembers } from '../../../src/db/schema/segments.ts'
import { insert } from '../../../src/db/write.ts'
import { seedPeople } from '../seeding/customers.ts'
import { type SegmentRow, seedSegment, seedSegments } from '../seeding/messaging/segments.ts'
import { next, write } from '../seeding/rows.ts'
import type { World } from '../world.ts'
import { buildPathId, buildQueryId, type SampleOf, getFirstPlace } from './sample.ts'

const referToSegment = ({ a, b }: World) => buildPathId('id', b.editions[0].segment, a.editions[1].segment)

const makeSegment = async (world: World, columns: Partial<SegmentRow> = {}) => ({
  path: { id: (await seedSegment(getFirstPlace(world), columns)).id },
  references: [referToSegment(world)],
})

const sharedSegments = new WeakMap<World, Promise<SegmentRow>>()

/** A calculated segment of the world's first edition, to which members can be added. */
function findSharedSegment(world: World): Promise<SegmentRow> {
  const columns = { status: 'ready' as const, epoch: 1, members_epoch: 1 }
  const segment = sharedSegments.get(world) ?? seedSegment(getFirstPlace(world), columns)
  sharedSegments.set(world, segment)
  return segment
}

export const segmentSamples: Record<string, SampleOf> = {
  listSegments: {
    make: ({ a, b }) => ({
      query: { edition_id: a.editions[0].id },
      references: [
        buildQueryId('edition_id', b.editions[0].id, a.editions[1].id),
        buildQueryId('organization_id', b.id),
      ],
    }),
    fill: (world, count) => seedSegments(getFirstPlace(world), count),
  },

  createSegment: {
    make: (world) => ({
      body: {
        organization_id: world.a.id,
        edition_id: world.a.editions[0].id,
        name: `Regulars ${next()}`,
        description: 'Came twice',
        communication_type: 'marketing',
        communication_channel: 'email',
        expression: 'stats.order_count >= 2',
      },
    }),
  },

  getSegment: {
    make: (world) => ({ path: { id: world.a.editions[0].segment }, references: [referToSegment(world)] }),
  },

  updateSegment: {
    make: (world) => ({
      path: { id: world.a.editions[0].segment },
      body: {
        name: `Regulars ${next()}`,
        description: `Came ${next()} times`,
        edition_id: world.a.editions[0].id,
        communication_type: 'marketing',
        communication_channel: 'sms',
        expression: `stats.order_count >= ${next()}`,
      },
      references: [referToSegment(world)],
    }),
  },

  deleteSegment: { make: (world) => makeSegment(world) },

  recalculateSegment: { make: (world) => makeSegment(world) },

  resetSegmentToDraft: { make: (world) => makeSegment(world, { status: 'failed', epoch: 1 }) },

  exportSegmentUsers: { make: (world) => makeSegment(world, { status: 'ready', epoch: 1, members_epoch: 1 }) },

  listSegmentUsers: {
    make: async (world) => ({
      path: { id: (await findSharedSegment(world)).id },
      references: [referToSegment(world)],
    }),
    fill: async (world, count) => {
      const people = await seedPeople(
        getFirstPlace(world),
        Array.from({ length: count }, () => ({})),
      )
      const { seq } = await findSharedSegment(world)
      await write(
        ...people.map((person) => insert(segmentMembers, { segment_seq: seq, epoch: 1, user_seq: person.seq })),
      )
    },
  },

  listUserSegments: {
    make: ({ a, b }) => ({
      path: { id: a.editions[0].user },
      references: [
        buildPathId('id', b.editions[0].user, a.editions[1].user),
        buildQueryId('edition_id', b.editions[0].id, a.editions[1].id),
      ],
    }),
    fill: (world, count) => seedSegments(getFirstPlace(world), count),
  },

  getCelContext: {
    make: ({ a, b }) => ({
      query: { edition_id: a.editions[0].id },
      references: [
        { ...buildQueryId('organization_id', b.id), refuses: true },
        { ...buildQueryId('edition_id', b.editions[0].id, a.editions[1].id), refuses: true },
      ],
    }),
  },

  validateCel: {
    make: (world) => ({
      body: {
        expression: 'stats.order_count >= 2',
        organization_id: world.a.id,
        edition_id: world.a.editions[0].id,
        communication_type: 'marketing',
        communication_channel: 'email',
      },
    }),
  },

  explainSegment: {
    make: ({ a, b }) => ({
      path: { id: a.editions[0].segment },
      query: { user_id: a.editions[0].user },
      references: [
        buildPathId('id', b.editions[0].segment, a.editions[1].segment),
        { ...buildQueryId('user_id', b.editions[0].user, a.editions[1].user), refuses: true },
      ],
    }),
  },
}
