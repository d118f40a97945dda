import type { z } from '@hono/zod-openapi'
import { toIso } from '../../domain/time/instants.ts'
import type { Suppression } from './contract.ts'
import type { SuppressionRow } from './queries.ts'

export const presentSuppression = (row: SuppressionRow): z.input<typeof Suppression> => ({
  id: row.id,
  organization_id: row.organization_id,
  channel: row.channel,
  address: row.address,
  reason: row.reason,
  detail: row.detail,
  campaign_id: row.campaign_id,
  created: toIso(row.created_at),
})
