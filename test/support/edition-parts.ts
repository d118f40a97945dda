import type { consents } from '../../src/db/schema/consents.ts'
import { freshId, next } from './seed.ts'

interface Tenant {
  organization_id: string
  edition_id: string
  created_at: number
}

/** Rows of what editions own, each with the least that it needs. */

export const aProduct = (tenant: Tenant) => {
  const name = `Product ${next()}`
  return { id: freshId('product'), ...tenant, name, name_folded: name.toLowerCase() }
}

export const aSegment = (tenant: Tenant, columns: object) => ({
  id: freshId('segment'),
  ...tenant,
  name: 'All',
  search: 'all',
  communication_type: 'marketing' as const,
  communication_channel: 'sms' as const,
  expression: 'true',
  is_time_dependent: 0,
  status: 'draft' as const,
  modified_at: 1,
  ...columns,
})

export const aConsent = (
  tenant: Tenant,
  columns: Partial<typeof consents.$inferInsert>,
): typeof consents.$inferInsert => ({
  id: freshId('consent'),
  ...tenant,
  key: `key-${next()}`,
  name: 'Terms',
  type: 'terms',
  text: { en: 'Yes', da: 'Ja' },
  modified_at: 1,
  ...columns,
})
