import type { z } from '@hono/zod-openapi'
import { toIso } from '../../../domain/time/instants.ts'
import type { Category } from './contract.ts'
import type { CategoryRow } from './queries.ts'

export const presentCategory = (row: CategoryRow): z.input<typeof Category> => ({
  id: row.id,
  organization_id: row.organization_id,
  edition_id: row.edition_id,
  name: row.name,
  name_translations: row.name_translations,
  position: row.position,
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})
