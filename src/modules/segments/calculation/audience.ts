import { type SQL, sql } from 'drizzle-orm'
import type { ExpressionScope } from '../../../db/cel/index.ts'
import { inEditions } from '../../../db/customers.ts'
import type { AnswerState } from '../../../domain/consents/consents.ts'
import type { Channel } from '../../../domain/messaging/messaging.ts'
import type { CommunicationType } from '../../../domain/segments.ts'
import {
  selectDecidingAnswer,
  type MarketingScope,
  selectMarketingRefusal,
  selectMarketingStatus,
} from '../../consents/index.ts'
import { selectBulkSuppressionExclusion } from '../../suppressions/index.ts'

/** The people that a message may go to, with its type and its channel. */
export interface Audience {
  organization_id: string
  edition_id: string | null
  /** The visible editions when `edition_id` is null. Without them the audience is the whole organisation. */
  editions?: readonly string[]
  communication_type: CommunicationType
  communication_channel: Channel
}

export type SegmentTenant = Pick<Audience, 'organization_id' | 'edition_id' | 'editions'>

/** The facts of its place that an expression needs. */
export type ExpressionPlace = SegmentTenant & { edition_timezone: string | null }

export interface PeopleSql {
  from: SQL
  where: SQL
}

/** Lists the editions of the audience. Returns null for the whole organisation. */
export const listEditionIds = ({ edition_id, editions }: SegmentTenant): readonly string[] | null =>
  edition_id === null ? (editions ?? null) : [edition_id]

export const buildScope = (place: ExpressionPlace, now: number): ExpressionScope => ({
  organizationId: place.organization_id,
  editionId: place.edition_id,
  timezone: place.edition_timezone,
  editions: listEditionIds(place),
  now,
})

const selectPeopleIn = (editions: readonly string[]): SQL =>
  sql`(select distinct user_seq from edition_customers where ${inEditions(sql`edition_id`, editions)})`

/** Selects the people of an organisation or of editions, as `users u`. */
export function buildPeople({ organization_id, edition_id, editions }: SegmentTenant): PeopleSql {
  const isInOrganization = sql`u.organization_id = ${organization_id}`
  if (edition_id !== null)
    return {
      from: sql`edition_customers e cross join users u on u.seq = e.user_seq`,
      where: sql`e.edition_id = ${edition_id} and ${isInOrganization}`,
    }
  if (editions === undefined) return { from: sql`users u`, where: isInOrganization }
  return {
    from: sql`${selectPeopleIn(editions)} e cross join users u on u.seq = e.user_seq`,
    where: isInOrganization,
  }
}

export function countPeople(tenant: SegmentTenant): SQL<number> {
  const editions = listEditionIds(tenant)
  return editions
    ? sql`(select count(distinct user_seq) from edition_customers where ${inEditions(sql`edition_id`, editions)})`
    : sql`(select count(*) from users where organization_id = ${tenant.organization_id})`
}

/** The address of the person `u` for a channel. */
export const selectAddress = (channel: Channel): SQL => (channel === 'email' ? sql`u.email` : sql`u.phone_number`)

/** The best answer of a person to marketing through the channel, or `none`. */
export const selectConsentStatus = (audience: Audience, userId: SQL, now: number): SQL<AnswerState> =>
  sql`${selectMarketingStatus(userId, buildMarketingScope(audience), now)}`

/** The answer that decides about marketing to the person `u`, as JSON. Null without an answer. */
export const selectDecidingConsent = (audience: Audience, now: number): SQL =>
  selectDecidingAnswer(sql`u.id`, buildMarketingScope(audience), now)

const buildMarketingScope = ({ communication_channel, ...tenant }: Audience): MarketingScope => ({
  ...tenant,
  channel: communication_channel,
})

/**
 * Builds the conditions of an audience, in the order in which they count. `reason` is null when the condition does not
 * exclude the person `u`. `suppressionReason` replaces the SQL that finds a suppression of the person.
 */
export const buildConditions = (
  audience: Audience,
  now: number,
  suppressionReason: SQL = selectBulkSuppressionExclusion(audience, selectAddress(audience.communication_channel)),
): { name: string; reason: SQL }[] => [
  {
    name: 'address',
    reason: sql`case when ${selectAddress(audience.communication_channel)} is null then 'no_address' end`,
  },
  ...(audience.communication_type === 'marketing'
    ? [{ name: 'consent', reason: selectMarketingRefusal(sql`u.id`, buildMarketingScope(audience), now) }]
    : []),
  { name: 'suppression', reason: suppressionReason },
  { name: 'active', reason: sql`case when u.is_active = 0 then 'inactive' end` },
]

/** Selects why the person `u` does not receive the message: one of `exclusionReasons`, or null for a recipient. */
export const buildExclusion = (audience: Audience, now: number, suppressionReason?: SQL): SQL =>
  sql`coalesce(${sql.join(
    buildConditions(audience, now, suppressionReason).map(({ reason }) => reason),
    sql`, `,
  )})`
