import type { z } from '@hono/zod-openapi'
import { toIso } from '../../../domain/time/instants.ts'
import type { Location } from './contract.ts'
import type { LocationRow } from './queries.ts'

export const presentLocation = (row: LocationRow): z.input<typeof Location> => ({
  id: row.id,
  organization_id: row.organization_id,
  edition_id: row.edition_id,
  name: row.name,
  is_draft: row.is_draft,
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})
