import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import {
  checkOutcomes,
  type DnsRecord,
  senderDomainStatuses,
  senderDomainVerifiers,
} from '../../../domain/messaging/sender-domains.ts'

export const senderDomains = sqliteTable('sender_domains', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  domain: text().notNull(),
  status: text({ enum: senderDomainStatuses }).notNull(),
  token: text().notNull(),
  verified_at: integer(),
  verified_by: text({ enum: senderDomainVerifiers }),
  checked_at: integer(),
  check_outcome: text({ enum: checkOutcomes }),
  provider_domain_id: text(),
  provider_records: text({ mode: 'json' }).$type<readonly DnsRecord[]>().notNull().default([]),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

export const capturedDnsRecords = sqliteTable(
  'captured_dns_records',
  { name: text().notNull(), value: text().notNull() },
  (table) => [primaryKey({ columns: [table.name, table.value] })],
)
