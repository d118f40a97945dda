import { seedEntries } from '../seeding/audit-log.ts'
import { buildQueryId, type SampleOf } from './sample.ts'

export const auditLogSamples: Record<string, SampleOf> = {
  listAuditLog: {
    make: ({ a, b, stranger }) => ({
      // Changes of the tests themselves come later than the seeded entries.
      query: { organization_id: a.id, created_before: '2026-03-01T00:00:00Z' },
      references: [
        { ...buildQueryId('organization_id', b.id), narrows: true },
        { ...buildQueryId('actor_id', stranger.account), narrows: true },
        { ...buildQueryId('resource_id', b.editions[0].id, a.editions[1].id), narrows: true },
      ],
    }),
    fill: ({ a }, count) => seedEntries(a.id, count),
  },
}
