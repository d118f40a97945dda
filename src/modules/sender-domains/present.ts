import type { z } from '@hono/zod-openapi'
import { outcomeDetails, buildOwnershipRecord } from '../../domain/messaging/sender-domains.ts'
import { toIso } from '../../domain/time/instants.ts'
import type { SenderDomain } from './contract.ts'
import type { SenderDomainRow } from './queries.ts'

function presentLastCheck({ checked_at, check_outcome }: SenderDomainRow) {
  if (checked_at === null || check_outcome === null) return null
  return { at: toIso(checked_at), outcome: check_outcome, detail: outcomeDetails[check_outcome] }
}

export const presentSenderDomain = (row: SenderDomainRow): z.input<typeof SenderDomain> => ({
  id: row.id,
  organization_id: row.organization_id,
  domain: row.domain,
  status: row.status,
  verified_by: row.verified_by,
  verified_at: row.verified_at === null ? null : toIso(row.verified_at),
  last_check: presentLastCheck(row),
  records: [buildOwnershipRecord(row), ...row.provider_records],
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})
