import { type SQL, sql } from 'drizzle-orm'
import { inEditions } from '../../../db/customer-visibility.ts'
import type { Ctx } from '../../../context.ts'
import { editionsOf, countPeople, type PeopleSql, peopleOf, type SegmentTenant } from '../calculation/audience.ts'

/** How many people the organisation has, and how many of them a segment is about. */
interface Sizes {
  all: number
  people: number
}

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
const spread = sql.raw('((u.seq & 2147483647) * 2654435761) & 4294967295')

async function sizesOf(ctx: Ctx, tenant: SegmentTenant): Promise<Sizes> {
  const { organization_id } = tenant
  const found = await ctx.db.first(
    sql<Sizes>`select ${countPeople({ organization_id, edition_id: null })} as "all", ${countPeople(tenant)} as people`,
  )
  return found ?? { all: 0, people: 0 }
}

/** Sampled customers of the organisation, those of the editions alone where the segment is about them. */
function throughOrganization(tenant: SegmentTenant, share: number, inSample: SQL): PeopleSql {
  const editions = editionsOf(tenant)
  const ofEditions = sql`and exists (select 1 from edition_customers
    where user_seq = u.seq and ${inEditions(sql`edition_id`, editions ?? [])})`
  // The planner uses the index of the sample for a number that is written out alone.
  const index = isIndexed(share)
    ? { name: 'users_sample', where: sql`and ${spread} < ${sql.raw(String(indexedLimit))}` }
    : { name: 'users_by_joining', where: sql`` }
  return {
    from: sql`users u indexed by ${sql.raw(index.name)}`,
    where: sql`u.organization_id = ${tenant.organization_id} ${index.where} ${inSample} ${editions ? ofEditions : sql``}`,
  }
}

/** People of the editions, of whom each is looked up. */
function throughEditions(tenant: SegmentTenant, inSample: SQL): PeopleSql {
  const people = peopleOf(tenant)
  return { ...people, where: sql`${people.where} ${inSample}` }
}

/** Entries of an index, and the rows of those in the sample with their membership of an edition. */
const rowsThroughOrganization = (all: number, share: number): number =>
  all * (isIndexed(share) ? share : 1) + 2 * all * share

/** Memberships, and two rows for each to look up the customer. */
const rowsThroughEditions = (people: number): number => 3 * people

/** As many people as one request can test, of those whom the segment is about; null when all can be tested. */
export async function sampleFor(ctx: Ctx, tenant: SegmentTenant, mostTested: number): Promise<Sample | null> {
  const most = Math.min(allUpTo, mostTested)
  const { all, people } = await sizesOf(ctx, tenant)
  if (people <= most) return null
  const limit = Math.round((2 ** 32 * Math.min(sampled, most)) / people)
  const share = limit / 2 ** 32
  const inSample = sql`and ${spread} < ${limit}`
  const isThroughEditions =
    editionsOf(tenant) !== null && rowsThroughEditions(people) < rowsThroughOrganization(all, share)
  return {
    share,
    people: isThroughEditions ? throughEditions(tenant, inSample) : throughOrganization(tenant, share, inSample),
  }
}
