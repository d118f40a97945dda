import { next, seedAccount, seedEvents, seedMember, seedMembers, seedOrganizations } from '../seed.ts'
import { bodyId, pathId, queryId, type SampleOf } from './sample.ts'

export const organizationSamples: Record<string, SampleOf> = {
  listOrganizations: {
    make: () => ({}),
    fill: ({ people }, count) => seedOrganizations(people.OA.account, count),
  },

  createOrganization: { make: () => ({ body: { name: 'Nordlys Events', slug: `nordlys-${next()}` } }) },

  getOrganization: { make: ({ a, b }) => ({ path: { id: a.id }, references: [pathId('id', b.id)] }) },

  updateOrganization: {
    make: ({ a, b }) => ({
      path: { id: a.id },
      body: { name: `Nordlys Events ${next()}`, slug: `nordlys-${next()}` },
      references: [pathId('id', b.id)],
    }),
  },

  listOrganizationMembers: {
    make: ({ a, b }) => ({
      path: { id: a.id },
      references: [pathId('id', b.id), queryId('edition_id', b.editions[0].id)],
    }),
    fill: ({ a }, count) => seedMembers(a.id, count),
  },

  addOrganizationMember: {
    make: ({ a, b }) => ({
      path: { id: a.id },
      body: {
        email: `new-${next()}@example.test`,
        first_name: 'Ingrid',
        last_name: 'Berg',
        role: 'manager',
        edition_id: a.editions[0].id,
      },
      references: [pathId('id', b.id), bodyId('edition_id', b.editions[0].id)],
    }),
  },

  removeOrganizationMember: {
    make: async ({ a, b }) => ({
      path: {
        id: a.id,
        member_id: await seedMember(await seedAccount(), { organization: a.id, role: 'viewer' }),
      },
      references: [pathId('id', b.id), pathId('member_id', b.member)],
    }),
  },

  listEvents: {
    make: ({ b }) => ({ references: [queryId('organization_id', b.id)] }),
    fill: ({ a }, count) => seedEvents(a.id, count),
  },

  createEvent: {
    make: ({ a, b }) => ({
      body: { organization_id: a.id, name: `Nordlys Festival ${next()}` },
      references: [bodyId('organization_id', b.id)],
    }),
  },
}
