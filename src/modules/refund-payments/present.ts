import type { z } from '@hono/zod-openapi'
import type { RefundRow } from '../../db/rows.ts'
import { toMajor } from '../../domain/money.ts'
import { toIso } from '../../domain/time/instants.ts'
import type { RefundSettlement } from './contract.ts'

export const presentSettlement = (row: RefundRow): z.input<typeof RefundSettlement> => ({
  id: row.id,
  status: row.status,
  refunded_amount: toMajor(row.refunded_minor),
  currency: row.currency,
  provider_reference: row.provider_reference ?? '',
  completed_at: toIso(row.completed_at ?? row.modified_at),
})
