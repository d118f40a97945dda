import type { z } from '@hono/zod-openapi'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import type { Erasure } from './contract.ts'
import type { ErasureRow } from './places.ts'

export { presentUser } from '../users/index.ts'

export const presentErasure = (row: ErasureRow): z.input<typeof Erasure> => ({
  user_id: row.user_id,
  status: row.completed_at === null ? 'running' : 'completed',
  reason: row.reason,
  erased_at: toIso(row.created_at),
  completed_at: toIsoOrNull(row.completed_at),
})
