import { type SQL, sql } from 'drizzle-orm'
import { inWords } from '../../db/visibility.ts'
import type { SenderDomainStatus } from '../../domain/messaging/sender-domains.ts'

const verified: SenderDomainStatus = 'verified'

/** Holds for a verified row of `sender_domains`. The status is written out because the index holds these rows only. */
export const isVerified = inWords(sql`sender_domains.status`, [verified])

/**
 * Holds when the domain of the address is a verified one of the organisation: this very domain, none above it. Every
 * sender of e-mails asks by this.
 */
export const isVerifiedSender = (organization: SQL, address: SQL): SQL =>
  sql`exists (select 1 from sender_domains
    where sender_domains.domain = lower(substr(${address}, instr(${address}, '@') + 1))
      and ${isVerified} and sender_domains.organization_id = ${organization})`
