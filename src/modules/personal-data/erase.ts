import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { erasures, users } from '../../db/schema/customers.ts'
import { insert, updateVersion } from '../../db/write.ts'
import type { LoadedUser } from '../users/index.ts'
import type { EraseUserInput } from './contract.ts'
import { buildErasureStatements, type ErasureRow } from './places.ts'
import { findErasure, listAddresses } from './queries.ts'

/**
 * Erases the personal data of a customer in the database. A sweep erases it in campaign objects, webhook events and
 * import rows. A repeated request returns the existing erasure.
 */
export async function eraseUser(ctx: Ctx, user: LoadedUser, input: EraseUserInput): Promise<ErasureRow> {
  const existingErasure = user.erased_at === null ? undefined : await findErasure(ctx, user.id)
  if (existingErasure) return commit(ctx, existingErasure, [])
  const now = ctx.now()
  const erasedColumns = {
    is_active: false,
    is_verified: false,
    last_seen_at: null,
    erased_at: now,
    modified_at: now,
  }
  const erasure: ErasureRow = {
    id: ctx.newId('erasure'),
    organization_id: user.organization_id,
    user_id: user.id,
    user_seq: user.seq,
    reason: input.reason ?? '',
    caller_id: ctx.caller.id,
    addresses: await listAddresses(ctx, user),
    user_created_at: user.created_at,
    pass: 1,
    place: '',
    cursor: '',
    due_at: now,
    claimed_until: null,
    completed_at: null,
    created_at: now,
  }
  return commit(ctx, erasure, [
    ...updateVersion(users, user, erasedColumns),
    insert(erasures, erasure),
    ...(await buildErasureStatements(ctx.db, erasure, now)),
  ])
}
