import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import { describeWait, presentWait } from '../../domain/waiting.ts'
import type { IssuedWalletPass, WalletPass, WalletPassSummary } from './contract.ts'
import type { PassRow, PassSummaryRow } from './queries.ts'

export const presentWalletPassSummary = (row: PassSummaryRow): z.input<typeof WalletPassSummary> => ({
  id: row.id,
  provider: row.provider,
  platform: row.platform,
  serial_number: row.serial_number,
  status: row.status,
  added_at: toIsoOrNull(row.added_at),
  removed_at: toIsoOrNull(row.removed_at),
})

export const presentWalletPass = (row: PassRow, ctx: Ctx): z.input<typeof WalletPass> => ({
  ...presentWalletPassSummary(row),
  organization_id: row.organization_id,
  edition_id: row.edition_id,
  purchase_id: row.purchase_id,
  voided_at: toIsoOrNull(row.voided_at),
  ...presentWait(describeWait(row, row.due_at, ctx)),
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})

export const presentIssuedPass = (
  { row, add_url }: { row: PassRow; add_url: string },
  ctx: Ctx,
): z.input<typeof IssuedWalletPass> => ({ ...presentWalletPass(row, ctx), add_url })
