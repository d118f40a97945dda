import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import { referenceOf } from '../../domain/campaign-events.ts'
import type { Told } from '../../domain/campaign-sender.ts'
import { dayMs } from '../../domain/instants.ts'

/** So many messages in so many days that an address did not take make it a dead one. */
const softBouncesUntilDead = 3
const softBounceMemoryMs = 14 * dayMs

interface Suppression {
  organization_id: string
  channel: string
  address: string
  reason: 'unsubscribed' | 'hard_bounce' | 'complaint'
  detail: string
  campaign_id: string
  at: number
}

/** A dead address counts for more than one whose person has had enough, and a complaint, which has no way back, for more than leaving. */
export const suppressionUpdate = sql`on conflict do update set reason = excluded.reason, detail = excluded.detail,
  campaign_id = excluded.campaign_id
  where (excluded.reason = 'hard_bounce' and suppressions.reason not in ('hard_bounce', 'invalid'))
    or (excluded.reason = 'complaint' and suppressions.reason = 'unsubscribed')`

/** From now on nothing goes there. */
export const suppression = ({ organization_id, channel, address, reason, detail, campaign_id, at }: Suppression): SQL =>
  sql`insert into suppressions (organization_id, channel, address, reason, detail, campaign_id, created_at)
    values (${organization_id}, ${channel}, ${address}, ${reason}, ${detail}, ${campaign_id}, ${at})
    ${suppressionUpdate}`

/** Takes an address for dead that has not taken too many messages lately. */
export const softBounceLimit = (bounced: {
  organization_id: string | SQL
  channel: string
  address: string | SQL
  campaign_id: string | null
  at: number
}): SQL =>
  sql`insert into suppressions (organization_id, channel, address, reason, detail, campaign_id, created_at)
    select organization_id, channel, address, 'hard_bounce', 'soft bounces', ${bounced.campaign_id}, ${bounced.at}
    from soft_bounces where organization_id = ${bounced.organization_id} and channel = ${bounced.channel}
      and address = ${bounced.address} and bounced_at > ${bounced.at - softBounceMemoryMs}
    group by organization_id, channel, address having count(*) >= ${softBouncesUntilDead}
    on conflict do nothing`

const softBounce = (home: Home, { event, address }: Told, campaignId: string): SQL[] => [
  sql`insert into soft_bounces (organization_id, channel, address, reference, bounced_at)
    values (${home.organization_id}, ${home.channel}, ${address}, ${referenceOf(campaignId, event.n)}, ${event.at})
    on conflict do nothing`,
  softBounceLimit({ ...home, address, campaign_id: campaignId, at: event.at }),
]

interface Home {
  organization_id: string
  channel: string
}

/** Keeps those from whom nothing good can come out of everything that is sent later. */
export async function suppressTold(job: JobCtx, campaignId: string, told: readonly Told[]): Promise<void> {
  const home = await job.db.first(sql<Home>`select organization_id, channel from campaigns where id = ${campaignId}`)
  if (!home) return
  const statements = told.flatMap((one): Statement[] => {
    const { event, address } = one
    const entry = { ...home, address, campaign_id: campaignId, detail: '', at: event.at }
    if (event.type === 'complained') return [suppression({ ...entry, reason: 'complaint' })]
    if (event.bounce === 'hard') return [suppression({ ...entry, reason: 'hard_bounce' })]
    return event.bounce === 'soft' ? softBounce(home, one, campaignId) : []
  })
  if (statements.length) await job.db.batch(statements)
}
