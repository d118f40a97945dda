import type { z } from '@hono/zod-openapi'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import { presentUser } from '../users/index.ts'
import type { Erasure, UserMerge } from './contract.ts'
import type { UserMerge as MergeResult } from './merge/merge.ts'
import type { ErasureRow } from './places.ts'

export { presentUser } from '../users/index.ts'

export const presentUserMerge = (merge: MergeResult): z.input<typeof UserMerge> => ({
  user: presentUser(merge.user),
  merged_user_id: merge.other.id,
  dry_run: merge.dry_run,
  moved: merge.moved,
  earlier_addresses: [...merge.earlierAddresses],
  collisions: [...merge.collisions],
})

export const presentErasure = (row: ErasureRow): z.input<typeof Erasure> => ({
  user_id: row.user_id,
  status: row.completed_at === null ? 'running' : 'completed',
  reason: row.reason,
  erased_at: toIso(row.created_at),
  completed_at: toIsoOrNull(row.completed_at),
})
