import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../../context.ts'
import { buildImageOrNull } from '../../../domain/files/addresses.ts'
import { toIso } from '../../../domain/time/instants.ts'
import { readPassDesign } from '../../../domain/wallet/wallet-pass.ts'
import type { PassDesign } from './contract.ts'
import type { PassDesignRow } from './queries.ts'

export function presentPassDesign(row: PassDesignRow, ctx: Ctx): z.input<typeof PassDesign> {
  const design = readPassDesign(row.design)
  return {
    id: row.id,
    organization_id: row.organization_id,
    edition_id: row.edition_id,
    product_id: row.product_id,
    name: row.name,
    background_color: design.background_color,
    foreground_color: design.foreground_color,
    label_color: design.label_color,
    logo_text: design.logo_text,
    description: design.description,
    logo: buildImageOrNull(ctx.config.files.url, row.logo_image_id, row.logo_key),
    logo_image_id: row.logo_image_id,
    created: toIso(row.created_at),
    modified: toIso(row.modified_at),
  }
}
