import { sql } from 'drizzle-orm'
import { seedAccount, seedMember, seedMembers, seedToken, seedTokens } from '../seeding/members.ts'
import { dropSenderDomains, seedSenderDomain, seedSenderDomains } from '../seeding/messaging/sender-domains.ts'
import { seedEvents, seedOrganizations } from '../seeding/organizations.ts'
import { db, next } from '../seeding/rows.ts'
import type { World } from '../world.ts'
import { buildPathId, buildQueryId, type Sample, type SampleOf } from './sample.ts'

const oneSenderDomain = async ({ a, b }: World): Promise<Sample> => ({
  path: { id: a.id, domain_id: (await seedSenderDomain(a.id)).id },
  references: [buildPathId('id', b.id), buildPathId('domain_id', (await seedSenderDomain(b.id)).id)],
})

const loadSlug = async (id: string) =>
  (await db.first(sql<{ slug: string }>`select slug from organizations where id = ${id}`))?.slug

export const organizationSamples: Record<string, SampleOf> = {
  listOrganizations: {
    make: () => ({}),
    fill: ({ people }, count) => seedOrganizations(people.OA.account, count),
  },

  createOrganization: { make: () => ({ body: { name: 'Nordlys Events', slug: `nordlys-${next()}` } }) },

  getOrganization: { make: ({ a, b }) => ({ path: { id: a.id }, references: [buildPathId('id', b.id)] }) },

  updateOrganization: {
    make: async ({ a, b }) => ({
      path: { id: a.id },
      // Only the superuser may change a slug.
      body: { name: `Nordlys Events ${next()}`, slug: await loadSlug(a.id) },
      references: [buildPathId('id', b.id)],
    }),
  },

  listOrganizationMembers: {
    make: ({ a, b }) => ({
      path: { id: a.id },
      references: [buildPathId('id', b.id), buildQueryId('edition_id', b.editions[0].id)],
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
      references: [buildPathId('id', b.id)],
    }),
  },

  getOrganizationMember: {
    make: ({ a, b }) => ({
      path: { id: a.id, member_id: a.member },
      references: [buildPathId('id', b.id), buildPathId('member_id', b.member)],
    }),
  },

  updateOrganizationMember: {
    make: async ({ a, b }) => ({
      path: {
        id: a.id,
        member_id: await seedMember(await seedAccount(), { organization: a.id, role: 'viewer' }),
      },
      body: { role: 'manager', first_name: 'Ingrid', last_name: `Berg ${next()}` },
      references: [buildPathId('id', b.id), buildPathId('member_id', b.member)],
    }),
  },

  removeOrganizationMember: {
    make: async ({ a, b }) => ({
      path: {
        id: a.id,
        member_id: await seedMember(await seedAccount(), { organization: a.id, role: 'viewer' }),
      },
      references: [buildPathId('id', b.id), buildPathId('member_id', b.member)],
    }),
  },

  listSenderDomains: {
    make: ({ a, b }) => ({ path: { id: a.id }, references: [buildPathId('id', b.id)] }),
    fill: ({ a }, count) => seedSenderDomains(a.id, count),
  },

  createSenderDomain: {
    make: async ({ a, b }) => {
      await dropSenderDomains(a.id)
      return {
        path: { id: a.id },
        body: { domain: `nordlys-${next()}.example` },
        references: [buildPathId('id', b.id)],
      }
    },
  },

  getSenderDomain: { make: oneSenderDomain },

  verifySenderDomain: { make: async (world) => ({ ...(await oneSenderDomain(world)), body: { by_hand: false } }) },

  deleteSenderDomain: { make: oneSenderDomain },

  listEvents: {
    make: ({ b }) => ({ references: [buildQueryId('organization_id', b.id)] }),
    fill: ({ a }, count) => seedEvents(a.id, count),
  },

  createEvent: {
    make: ({ a }) => ({
      body: { organization_id: a.id, name: `Nordlys Festival ${next()}` },
    }),
  },

  getEvent: {
    make: ({ a, b }) => ({ path: { id: a.event }, references: [buildPathId('id', b.event)] }),
  },

  updateEvent: {
    make: async ({ a, b }) => ({
      path: { id: (await seedEvents(a.id, 1))[0] ?? '' },
      body: { name: `Nordlys Festival ${next()}` },
      references: [buildPathId('id', b.event)],
    }),
  },

  listOrganizationTokens: {
    make: ({ a, b }) => ({ path: { id: a.id }, references: [buildPathId('id', b.id)] }),
    fill: ({ a, people }, count) => seedTokens(people.OA.account, count, { organization: a.id }),
  },

  revokeOrganizationToken: {
    make: async ({ a, b, people }) => ({
      path: { id: a.id, token_id: (await seedToken(people.OA.account, { organization: a.id })).id },
      references: [buildPathId('id', b.id), buildPathId('token_id', b.boundToken)],
    }),
  },
}
