import type { z } from '@hono/zod-openapi'
import { toMajor } from '../../../domain/money.ts'
import { toIso } from '../../../domain/time/instants.ts'
import type { FeeRule } from './contract.ts'
import type { FeeRuleRow } from './queries.ts'

export const presentFeeRule = (row: FeeRuleRow): z.input<typeof FeeRule> => ({
  id: row.id,
  organization_id: row.organization_id,
  name: row.name,
  description: row.description,
  currency: row.currency,
  rate: row.rate,
  fixed_amount: toMajor(row.fixed_amount_minor),
  is_active: row.is_active,
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})
