import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import { referenceOf } from '../../domain/campaign-events.ts'
import type { Told } from '../../domain/campaign-sender.ts'
import { addressQuery, countSoftBounce, suppress } from '../suppressions/index.ts'

interface Home {
  organization_id: string
  channel: string
}

/** Keeps those from whom nothing good can come out of everything that is sent later. */
export async function suppressTold(job: JobCtx, campaignId: string, affected: readonly Told[]): Promise<void> {
  const home = await job.db.first(sql<Home>`select organization_id, channel from campaigns where id = ${campaignId}`)
  if (!home) return
  const statements = affected.flatMap(({ event, address }): Statement[] => {
    const addresses = addressQuery({ ...home, address })
    const cause = { campaign_id: campaignId, at: event.at }
    if (event.type === 'complained') return [suppress(addresses, { ...cause, reason: 'complaint' })]
    if (event.bounce === 'hard') return [suppress(addresses, { ...cause, reason: 'hard_bounce' })]
    if (event.bounce !== 'soft') return []
    return countSoftBounce(addresses, { ...cause, reference: referenceOf(campaignId, event.n) })
  })
  if (statements.length) await job.db.batch(statements)
}
