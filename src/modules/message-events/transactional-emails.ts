import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import type { ProviderEvent } from '../../domain/messaging.ts'
import { countSoftBounce, suppress } from '../suppressions/index.ts'
import { sentAfterAll } from '../transactional-emails/index.ts'

const isReceipt = (reference: string | null): reference is string => /^tem_[0-9A-Za-z]{1,40}$/.test(reference ?? '')

/** An event of these proves that the message went out, whatever was thought before. */
const proofs: readonly ProviderEvent['type'][] = ['accepted', 'delivered', 'opened', 'clicked', 'complained']

function statementsOf({ reference, type, bounce, at, providerId }: ProviderEvent): Statement[] {
  if (!isReceipt(reference)) return []
  const recipient = sql`select organization_id, 'email' as channel, recipient as address
    from transactional_emails where id = ${reference}`
  const cause = { campaign_id: null, at }
  const found = proofs.includes(type) ? [sentAfterAll(reference, providerId, at)] : []
  if (type === 'complained') return [...found, suppress(recipient, { ...cause, reason: 'complaint' })]
  if (bounce === 'hard') return [suppress(recipient, { ...cause, reason: 'hard_bounce' })]
  if (bounce === 'soft') return countSoftBounce(recipient, { ...cause, reference })
  return found
}

/** What a provider tells of receipts: dead addresses and complaints count as they do for campaigns. */
export async function takeReceiptEvents(job: JobCtx, events: readonly ProviderEvent[]): Promise<void> {
  const statements = events.flatMap(statementsOf)
  if (statements.length) await job.db.batch(statements)
}
