import type { z } from '@hono/zod-openapi'
import { toIso } from '../../domain/instants.ts'
import {
  type CheckOutcome,
  type DnsRecord,
  outcomeDetails,
  ownershipRecord,
  type SenderDomainStatus,
  type SenderDomainVerifier,
} from '../../domain/sender-domains.ts'
import type { SenderDomain } from './contract.ts'
import type { SenderDomainRow } from './queries.ts'

function lastCheckOf({ checked_at, check_outcome }: SenderDomainRow) {
  if (checked_at === null || check_outcome === null) return null
  const outcome = check_outcome as CheckOutcome
  return { at: toIso(checked_at), outcome, detail: outcomeDetails[outcome] }
}

export const presentSenderDomain = (row: SenderDomainRow): z.input<typeof SenderDomain> => ({
  id: row.id,
  organization_id: row.organization_id,
  domain: row.domain,
  status: row.status as SenderDomainStatus,
  verified_by: row.verified_by as SenderDomainVerifier | null,
  verified_at: row.verified_at === null ? null : toIso(row.verified_at),
  last_check: lastCheckOf(row),
  records: [ownershipRecord(row), ...(JSON.parse(row.provider_records) as DnsRecord[])],
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})
