import { type SQL, sql } from 'drizzle-orm'
import { inEditions } from '../../../db/customers.ts'
import type { ExpressionScope } from '../../../db/cel/index.ts'
import type { Channel } from '../../../domain/messaging/messaging.ts'
import type { CommunicationType } from '../../../domain/segments.ts'
import { decidingAnswer, type MarketingScope, marketingRefusal, marketingStatus } from '../../consents/index.ts'
import { listedSuppressionExclusion } from '../../suppressions/index.ts'

/** The people who may get a message, with its type and channel. */
export interface Audience {
  organization_id: string
  edition_id: string | null
  /** Where no edition is named, those that are seen; all of the organisation without them. */
  editions?: readonly string[]
  communication_type: CommunicationType
  communication_channel: Channel
}

export type SegmentTenant = Pick<Audience, 'organization_id' | 'edition_id' | 'editions'>

export interface PeopleSql {
  from: SQL
  where: SQL
}

/** The editions whose data belongs there; null for all of the organisation. */
export const editionsOf = ({ edition_id, editions }: SegmentTenant): readonly string[] | null =>
  edition_id === null ? (editions ?? null) : [edition_id]

/** The data that expressions read there, for every caller. */
export const scopeOf = (tenant: SegmentTenant, now: number): ExpressionScope => ({
  organizationId: tenant.organization_id,
  editionId: tenant.edition_id,
  editions: editionsOf(tenant),
  now,
})

const knownIn = (editions: readonly string[]): SQL =>
  sql`(select distinct user_seq from edition_customers where ${inEditions(sql`edition_id`, editions)})`

/** The people of an organisation, or those who have bought in some of its editions, as `users u`. */
export function peopleOf({ organization_id, edition_id, editions }: SegmentTenant): PeopleSql {
  const ofOrganization = sql`u.organization_id = ${organization_id}`
  if (edition_id !== null)
    return {
      from: sql`edition_customers e cross join users u on u.seq = e.user_seq`,
      where: sql`e.edition_id = ${edition_id} and ${ofOrganization}`,
    }
  if (editions === undefined) return { from: sql`users u`, where: ofOrganization }
  return {
    from: sql`${knownIn(editions)} e cross join users u on u.seq = e.user_seq`,
    where: ofOrganization,
  }
}

/** Counts the people of a segment's organisation, or of the editions that it is limited to. */
export function countPeople(tenant: SegmentTenant): SQL<number> {
  const editions = editionsOf(tenant)
  return editions
    ? sql`(select count(distinct user_seq) from edition_customers where ${inEditions(sql`edition_id`, editions)})`
    : sql`(select count(*) from users where organization_id = ${tenant.organization_id})`
}

/** Where messages of a channel reach a person `u`. */
export const addressOf = (channel: Channel): SQL => (channel === 'email' ? sql`u.email` : sql`u.phone_number`)

/** The answer of the person `u` to marketing through the channel: the best of all answers, or `none`. */
export const consentStatus = (audience: Audience, now: number): SQL =>
  marketingStatus(sql`u.id`, marketingOf(audience), now)

/** The answer that decides about the person `u`, as JSON; null where there is none. */
export const decidingConsent = (audience: Audience, now: number): SQL =>
  decidingAnswer(sql`u.id`, marketingOf(audience), now)

const marketingOf = ({ communication_channel, ...tenant }: Audience): MarketingScope => ({
  ...tenant,
  channel: communication_channel,
})

/**
 * The reason of each condition of an audience to exclude the person `u`, by precedence; null when it does not.
 * `suppressed` replaces the SQL that finds the person's suppression.
 */
export const audienceConditions = (
  audience: Audience,
  now: number,
  suppressed: SQL = listedSuppressionExclusion(audience, addressOf(audience.communication_channel)),
): { name: string; reason: SQL }[] => [
  {
    name: 'address',
    reason: sql`case when ${addressOf(audience.communication_channel)} is null then 'no_address' end`,
  },
  ...(audience.communication_type === 'marketing'
    ? [{ name: 'consent', reason: marketingRefusal(sql`u.id`, marketingOf(audience), now) }]
    : []),
  { name: 'suppression', reason: suppressed },
  { name: 'active', reason: sql`case when u.is_active = 0 then 'inactive' end` },
]

/** Why the person `u` gets nothing of this kind through this channel: one of `exclusionReasons`; null for a person who gets it. */
export const audienceReason = (audience: Audience, now: number, suppressed?: SQL): SQL =>
  sql`coalesce(${sql.join(
    audienceConditions(audience, now, suppressed).map(({ reason }) => reason),
    sql`, `,
  )})`
