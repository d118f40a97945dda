import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import type { ProviderEvent } from '../../domain/messaging.ts'
import { sentAfterAll } from '../transactional-emails/index.ts'
import { softBounceLimit, suppressionUpdate } from './suppress.ts'

const isReceipt = (reference: string | null): reference is string => /^tem_[0-9A-Za-z]{1,40}$/.test(reference ?? '')

/** An event of these proves that the message went out, whatever was thought before. */
const proofs: readonly ProviderEvent['type'][] = ['accepted', 'delivered', 'opened', 'clicked', 'complained']

function statementsOf({ reference, type, bounce, at, providerId }: ProviderEvent): Statement[] {
  if (!isReceipt(reference)) return []
  const source = sql`from transactional_emails where id = ${reference}`
  const suppressed = (reason: 'hard_bounce' | 'complaint') =>
    sql`insert into suppressions (organization_id, channel, address, reason, created_at)
      select organization_id, 'email', recipient, ${reason}, ${at} ${source} ${suppressionUpdate}`
  const found = proofs.includes(type) ? [sentAfterAll(reference, providerId, at)] : []
  if (type === 'complained') return [...found, suppressed('complaint')]
  if (bounce === 'hard') return [suppressed('hard_bounce')]
  if (bounce !== 'soft') return found
  const home = sql`(select organization_id ${source})`
  const address = sql`(select recipient ${source})`
  return [
    sql`insert into soft_bounces (organization_id, channel, address, reference, bounced_at)
      select organization_id, 'email', recipient, id, ${at} ${source} on conflict do nothing`,
    softBounceLimit({ organization_id: home, channel: 'email', address, campaign_id: null, at }),
  ]
}

/** What a provider tells of receipts: dead addresses and complaints count as they do for campaigns. */
export async function takeReceiptEvents(job: JobCtx, events: readonly ProviderEvent[]): Promise<void> {
  const statements = events.flatMap(statementsOf)
  if (statements.length) await job.db.batch(statements)
}
