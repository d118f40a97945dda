import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { editionsOf, countPeople, type PeopleSql, peopleOf, type SegmentTenant } from '../calculation/audience.ts'

/** A part of people who are asked in place of all. */
export interface Sample {
  share: number
  people: PeopleSql
}

/** Up to so many people, all are tested, unless the expression takes long. Of more, a sample is tested. */
const allUpTo = 10_000
const sampled = 2000

/** `users_sample` has the customers whose number is below this one. */
const indexedLimit = 2 ** 28

const isIndexed = (share: number): boolean => share * 2 ** 32 <= indexedLimit

/** A number from 0 up to 2^32 for a customer, evenly spread over those of consecutive customers. */
const buildSpread = (seq: string): SQL => sql.raw(`((${seq} & 2147483647) * 2654435761) & 4294967295`)

/** Sampled customers of the organisation. The planner uses the index of the sample for a number that is written out alone. */
function sampleOrganization(organizationId: string, share: number, limit: number): PeopleSql {
  const spread = buildSpread('u.seq')
  const index = isIndexed(share)
    ? { name: 'users_sample', where: sql`and ${spread} < ${sql.raw(String(indexedLimit))}` }
    : { name: 'users_by_joining', where: sql`` }
  return {
    from: sql`users u indexed by ${sql.raw(index.name)}`,
    where: sql`u.organization_id = ${organizationId} ${index.where} and ${spread} < ${limit}`,
  }
}

/** Sampled customers of editions, found among these alone: the time tells nothing about customers of other editions. */
function sampleEditions(tenant: SegmentTenant, limit: number): PeopleSql {
  const people = peopleOf(tenant)
  return { ...people, where: sql`${people.where} and ${buildSpread('e.user_seq')} < ${limit}` }
}

/** As many people as one request can test, of those whom the segment is about; null when all can be tested. */
export async function sampleFor(ctx: Ctx, tenant: SegmentTenant, mostTested: number): Promise<Sample | null> {
  const most = Math.min(allUpTo, mostTested)
  const found = await ctx.db.first(sql<{ people: number }>`select ${countPeople(tenant)} as people`)
  const people = found?.people ?? 0
  if (people <= most) return null
  const limit = Math.round((2 ** 32 * Math.min(sampled, most)) / people)
  const share = limit / 2 ** 32
  return {
    share,
    people:
      editionsOf(tenant) === null
        ? sampleOrganization(tenant.organization_id, share, limit)
        : sampleEditions(tenant, limit),
  }
}
